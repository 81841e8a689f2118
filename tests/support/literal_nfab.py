"""The runs of an NFAᵇ by the letter of `sase-plus`, appendix A.2, explored one by one.

In: an `Nfab`, a window, a list of events. Out: the buffers of its accepting runs. Nothing is decided early and no run
is given up: a run looks at every event up to the end of the stream, whose end stops it, and takes every edge that is
open. The time this takes is exponential.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cepheid.algebra.conditions import Condition, conjuncts
from cepheid.algebra.nfab import Component, Nfab, Selection
from cepheid.algebra.nfab_edges import Edges, edges_of, over_whole
from cepheid.algebra.nodes import Window
from cepheid.semantics.stream import Event, inside
from cepheid.semantics.whole_sets import holds_of_sets

Buffer = tuple[tuple[int, ...], ...]


def literal_matches(nfab: Nfab, window: Window | None, stream: Sequence[Event]) -> set[Buffer]:
    runs = Runs(nfab, window, stream)
    every = range(len(stream))
    accepted = {buffer for start in every for buffer in runs.accepting(nfab.positive, [], every[start:])}
    stands = {buffer for buffer in accepted if not runs.is_forbidden(buffer)}
    having = [over_whole(nfab, part) for part in conjuncts(nfab.having)] if nfab.having is not None else []
    return {buffer for buffer in stands if runs.hold(having, list(zip(nfab.positive, buffer, strict=True)))}


Filled = list[tuple[Component, tuple[int, ...]]]
"""Components that are complete, with their events."""


class Runs:
    def __init__(self, nfab: Nfab, window: Window | None, stream: Sequence[Event]) -> None:
        self.nfab, self.window, self.stream = nfab, window, stream
        self.edges: dict[Component, Edges] = edges_of(nfab)

    def hold(
        self,
        conditions: Sequence[Condition],
        filled: Filled,
        growing: tuple[Component, tuple[int, ...], int] | None = None,
    ) -> bool:
        """Whether conditions hold where some components are complete, and an event would be the next of another."""
        single, several = dict[str, dict[str, object]](), dict[str, list[dict[str, object]]]()
        for component, places in filled:
            events = [dict(self.stream[place].attributes) for place in places]
            name = component.var
            if component.kleene:
                single |= {f"{name}[1]": events[0], f"{name}[{name}.LEN]": events[-1]}
                several[f"{name}[]"] = events
            else:
                single[name] = events[0]
        if growing is not None:
            component, places, now = growing
            name, event = component.var, dict(self.stream[now].attributes)
            before = [dict(self.stream[place].attributes) for place in places]
            if not component.kleene:
                single[name] = event
            elif not before:
                single |= {f"{name}[1]": event, f"{name}[i]": event}
            else:
                single |= {f"{name}[1]": before[0], f"{name}[i]": event, f"{name}[i-1]": before[-1]}
                several[f"{name}[..i-1]"] = before
        return all(holds_of_sets(condition, several, single) for condition in conditions)

    def is_inside(self, filled: Filled, chosen: tuple[int, ...], now: int) -> bool:
        first = next((places[0] for _, places in filled if places), chosen[0] if chosen else now)
        return inside(self.window, self.stream, first, now)

    def can_begin(self, component: Component, around: Filled, filled: Filled, now: int) -> bool:
        return (
            self.stream[now].type == component.type
            and (bool(around) or self.is_inside(filled, (), now))
            and self.hold(self.edges[component].begin, [*around, *filled], (component, (), now))
        )

    def accepting(
        self, components: Sequence[Component], around: Filled, places: Sequence[int]
    ) -> Iterator[Buffer]:
        """The buffers of accepting runs that begin with the first of these places; `around` are components that are
        complete, and of another automaton."""
        first = components[0]
        if self.can_begin(first, around, [], places[0]):
            yield from self.after(components, around, [], first, (places[0],), places[1:])

    def after(
        self,
        components: Sequence[Component],
        around: Filled,
        filled: Filled,
        component: Component,
        chosen: tuple[int, ...],
        places: Sequence[int],
    ) -> Iterator[Buffer]:
        """A run that has just put an event into its buffer, and looks at the first of these places next."""
        if component.kleene:
            yield from self.select_more(components, around, filled, component, chosen, places)
        else:
            yield from self.select_first(components, around, [*filled, (component, chosen)], places)

    def select_first(
        self, components: Sequence[Component], around: Filled, filled: Filled, places: Sequence[int]
    ) -> Iterator[Buffer]:
        if len(filled) == len(components):
            yield tuple(chosen for _, chosen in filled)
            return
        if not places:
            return
        now, component = places[0], components[len(filled)]
        begins = self.can_begin(component, around, filled, now)
        if begins:
            yield from self.after(components, around, filled, component, (now,), places[1:])
        partition = self.edges[component].begin_partition
        if self.skips(component, around, filled, (), now, partition, begins):
            yield from self.select_first(components, around, filled, places[1:])

    def select_more(
        self,
        components: Sequence[Component],
        around: Filled,
        filled: Filled,
        component: Component,
        chosen: tuple[int, ...],
        places: Sequence[int],
    ) -> Iterator[Buffer]:
        edges, complete = self.edges[component], [*filled, (component, chosen)]
        following = components[len(complete)] if len(complete) < len(components) else None
        ends = self.hold(edges.end, [*around, *complete]) if edges.end else None
        if not places:
            if ends is not False:
                yield from self.select_first(components, around, complete, places)
            return
        now = places[0]
        next_begins = following is not None and self.can_begin(following, around, complete, now)
        forced = not around and not self.is_inside(filled, chosen, now)
        if component.cut:
            forced = forced or (next_begins if ends is None else ends)
        selects = self.stream[now].type == component.type and self.hold(
            edges.take, [*around, *filled], (component, chosen, now)
        )
        take = not forced and selects
        ignore = not forced and self.skips(
            component, around, filled, chosen, now, edges.take_partition, selects
        )
        if take:
            yield from self.select_more(components, around, filled, component, (*chosen, now), places[1:])
        if ignore:
            yield from self.select_more(components, around, filled, component, chosen, places[1:])
        if (next_begins or (not take and not ignore)) if ends is None else ends:
            yield from self.select_first(components, around, complete, places)

    def skips(
        self,
        component: Component,
        around: Filled,
        filled: Filled,
        chosen: tuple[int, ...],
        now: int,
        partition: Sequence[Condition],
        selects: bool,
    ) -> bool:
        match component.selection:
            case Selection.STRICT:
                return False
            case Selection.PARTITION:
                return not self.hold(partition, [*around, *filled], (component, chosen, now))
            case Selection.NEXT:
                return not selects
            case Selection.ANY:
                return True

    def is_forbidden(self, buffer: Buffer) -> bool:
        """Whether some negated component accepts strictly between its neighbours."""
        filled = list(zip(self.nfab.positive, buffer, strict=True))
        events = [place for places in buffer for place in places]
        seen, between = 0, list[tuple[Component, range]]()
        for component in self.nfab.components:
            if not component.negated:
                seen += 1
                continue
            begin = buffer[seen - 1][-1] + 1 if seen else 0
            end = buffer[seen][0] if seen < len(buffer) else len(self.stream)
            between.append((component, range(begin, end)))
        for component, region in between:
            places = [
                place
                for place in region
                if inside(self.window, self.stream, min(place, events[0]), max(place, events[-1]))
            ]
            for at in range(len(places)):
                if any(True for _ in self.accepting([component], filled, places[at:])):
                    return True
        return False
