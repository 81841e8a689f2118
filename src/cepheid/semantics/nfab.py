"""The meaning of a SASE+ pattern: its NFAᵇ run literally, every run kept (`sase-plus`, sections 3.2 and A.2).

In: an `Nfab`, a window and a list of events. Out: its matches. A run is the state that it is in and the match buffer;
at each event it makes every move that the conditions on the edges of its state allow. The names are the paper's:
θ_begin is `_begins`, θ_select `_selects`, θ_skip `_skips`, θ_forced_stop `_is_forced`, θ_proceed `_proceeds`; θ_take
and θ_ignore are made of these in `_moves`.

What the paper leaves open is decided as follows. A window reaches from the first event of a match to its last, both
included. The end of the input stops every run. A predicate that is NULL does not hold, and so does what it would allow
to be selected. A run that has everything but the end of its last Kleene variable under `skip_till_any_match` would
ignore all events until it stops: so each of its states is a match at once. Negated components are no states: they are
looked for afterwards, each as an NFAᵇ of its own strictly between the events of its neighbours; at the edges of the
pattern, as far as the window reaches around the match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cepheid.algebra.conditions import Condition, conjuncts
from cepheid.algebra.nfab import Component, Form, Nfab, Selection, events_shown, reference
from cepheid.algebra.nfab_edges import edges_of, is_maximal, over_whole
from cepheid.algebra.nodes import Window, WindowUnit
from cepheid.semantics.stream import Event
from cepheid.semantics.values import Attributes
from cepheid.semantics.whole_sets import holds_of_sets

Buffer = tuple[tuple[int, ...], ...]
"""The positions that each positive component has selected so far, in the order of the pattern."""


class Run(NamedTuple):
    """`state` is the number of a positive component, or their number for F. In the select-more state of a Kleene
    component the buffer already has events of it."""

    state: int
    buffer: Buffer

    @property
    def first(self) -> int:
        return self.buffer[0][0]


class Match(NamedTuple):
    """`known` is the time at which the match is known: that of its last event, or of what stopped its run."""

    buffer: Buffer
    known: int | float

    @property
    def positions(self) -> tuple[int, ...]:
        return tuple(place for places in self.buffer for place in places)


class Seen(NamedTuple):
    """What conditions read: single events, and sequences of them."""

    events: dict[str, Attributes]
    gathered: dict[str, list[Attributes]]

    def with_single(self, name: str, event: Attributes) -> Seen:
        return self._replace(events={**self.events, name: event})

    def holds(self, conditions: tuple[Condition, ...]) -> bool:
        return all(holds_of_sets(condition, self.gathered, self.events) for condition in conditions)


class Machine:
    """Runs an NFAᵇ over events that are looked at one after the other; `stream` has them by position, at least those
    that `needed` names."""

    def __init__(self, nfab: Nfab, window: Window | None, stream: Mapping[int, Event]) -> None:
        self._nfab = nfab
        self._components = nfab.positive
        self._edges = edges_of(nfab)
        self._window = window
        self._stream = stream
        # What names a[i-1] is asked of the events that have one before them, and what does not, of all.
        parts = () if nfab.having is None else conjuncts(nfab.having)
        self._having = tuple(over_whole(nfab, part) for part in parts)
        self.runs: list[Run] = []
        self.waiting: list[Run] = []  # matches but for a negated component that may still occur after them
        self._final = len(self._components)

    # Looking at events.

    def look(self, position: int) -> Iterator[Match]:
        """Every move of every run at the event of this position; a run begins at each event."""
        yield from self.pass_time(self._stream[position].time, position)
        going = (*self.runs, Run(0, ()))
        alive = dict.fromkeys(after for run in going for after in self._moves(run, position))
        self.runs = [run for run in alive if run.state < self._final]
        for run in alive:
            if run.state == self._final:
                yield from self._accepted(run, self._stream[position].time)

    def pass_time(self, now: int | float, position: int | None = None) -> Iterator[Match]:
        """It is as late as `now`, or the event at this position: runs whose window is over by then stop."""
        for run in self._taken(lambda run: self._is_over(run, now, position)):
            yield from self._stopped(run, self._closing(run, now))

    def end(self, now: int | float) -> Iterator[Match]:
        """The end of the input stops every run."""
        for run in self._taken(lambda run: True):
            yield from self._stopped(run, self._closing(run, now))

    def _taken(self, choose: Callable[[Run], bool]) -> list[Run]:
        """The runs that stop, taken out of those that go on."""
        stopped = [run for run in (*self.runs, *self.waiting) if choose(run)]
        if stopped:
            self.runs = [run for run in self.runs if not choose(run)]
            self.waiting = [run for run in self.waiting if not choose(run)]
        return stopped

    def needed(self, last: int) -> Iterator[int]:
        """The positions, up to the last one looked at, of events that a later match may depend on."""
        runs = (*self.runs, *self.waiting)
        bound = {place for run in runs for places in run.buffer for place in places}
        since = last + 1
        if any(one.negated for one in self._nfab.components):
            since = min(bound, default=since)
        if self._nfab.components[0].negated:
            earliest = min([last, *(run.buffer[-1][-1] for run in runs)])  # the last event of a match
            since = min([since, *(at for at in self._stream if self._is_inside(at, earliest))])
        return (at for at in self._stream if at in bound or at >= since)

    @property
    def waiting_since(self) -> int | float | None:
        """When the first run began that only has to stop to be a match."""
        whole = [run for run in self.runs if len(run.buffer) == self._final and is_maximal(self._nfab)]
        return min((self._stream[run.first].time for run in (*whole, *self.waiting)), default=None)

    # The moves of A.2.

    def _moves(self, run: Run, position: int) -> Iterator[Run]:
        """What a run about to look at an event can be about to do after it."""
        state, buffer = run
        component = self._components[state]
        if len(buffer) == state:
            begins = self._begins(component, buffer, position)
            if begins:
                yield from self._marked(Run(state, (*buffer, (position,))))
            if state > 0 and self._skips(component, buffer, position, begins):
                yield run
            return
        selects = self._selects(component, buffer, position)
        forced = self._is_forced(run, position)
        take = not forced and selects
        ignore = not forced and self._skips(component, buffer, position, selects)
        if take:
            yield from self._marked(Run(state, (*buffer[:-1], (*buffer[-1], position))))
        if ignore:
            yield run
        if self._proceeds(run, position, stopped=not take and not ignore):
            yield from self._proceeded(run, position)

    def _marked(self, run: Run) -> Iterator[Run]:
        """Where a run is once it has put an event into its buffer."""
        component = self._components[run.state]
        after = Run(run.state + 1, run.buffer)
        if not component.kleene:
            yield after
            return
        yield run
        if after.state == self._final and self._is_complete(run):
            yield after

    def _is_complete(self, run: Run) -> bool:
        """Whether the last Kleene variable of a pattern can proceed whatever comes: no event decides it."""
        component = self._components[run.state]
        ends = self._edges[component].end
        return self._read(run.buffer).holds(ends) if ends else not is_maximal(self._nfab)

    def _proceeds(self, run: Run, position: int, stopped: bool) -> bool:
        component = self._components[run.state]
        if self._edges[component].end:
            return self._read(run.buffer).holds(self._edges[component].end)
        return stopped or self._next_begins(run, position)

    def _proceeded(self, run: Run, position: int) -> Iterator[Run]:
        """An edge that consumes nothing: the next state looks at the same event. A last Kleene variable that has other
        ways to end has taken this one when it was marked."""
        after = Run(run.state + 1, run.buffer)
        if after.state < self._final:
            yield from self._moves(after, position)
        elif is_maximal(self._nfab):
            yield after

    def _is_forced(self, run: Run, position: int) -> bool:
        component = self._components[run.state]
        if not self._is_inside(run.first, position):
            return True
        if not component.cut:
            return False
        if self._edges[component].end:
            return self._read(run.buffer).holds(self._edges[component].end)
        return self._next_begins(run, position)

    def _next_begins(self, run: Run, position: int) -> bool:
        following = run.state + 1
        return following < self._final and self._begins(self._components[following], run.buffer, position)

    def _is_inside(self, first: int, last: int) -> bool:
        """Whether a match from the one position to the other lies within the window."""
        if self._window is not None and self._window.unit is WindowUnit.EVENTS:
            return last - first + 1 <= self._window.amount
        return (
            self._window is None or self._stream[last].time - self._stream[first].time <= self._window.amount
        )

    # The conditions on the edges.

    def _begins(self, component: Component, buffer: Buffer, position: int) -> bool:
        if buffer and not self._is_inside(buffer[0][0], position):
            return False
        return self._is_begun(component, self._read(buffer), position)

    def _is_begun(self, component: Component, read: Seen, position: int) -> bool:
        event = self._stream[position]
        return event.type == component.type and self._as_first(component, read, event).holds(
            self._edges[component].begin
        )

    def _selects(self, component: Component, buffer: Buffer, position: int) -> bool:
        return self._is_selected(component, self._read(buffer[:-1]), buffer[-1], position)

    def _is_selected(self, component: Component, read: Seen, chosen: tuple[int, ...], position: int) -> bool:
        event = self._stream[position]
        more = self._as_next(component, read, chosen, event)
        return event.type == component.type and more.holds(self._edges[component].take)

    def _skips(self, component: Component, buffer: Buffer, position: int, selected: bool) -> bool:
        """θ_skip of table 1; in a select-first state relative to begin."""
        if len(buffer) > self._components.index(component):
            return self._is_skipped(component, self._read(buffer[:-1]), buffer[-1], position, selected)
        return self._is_skipped(component, self._read(buffer), (), position, selected)

    def _is_skipped(
        self, component: Component, read: Seen, chosen: tuple[int, ...], position: int, selected: bool
    ) -> bool:
        edges, event = self._edges[component], self._stream[position]
        match component.selection:
            case Selection.STRICT:
                return False
            case Selection.NEXT:
                return not selected
            case Selection.ANY:
                return True
            case Selection.PARTITION if chosen:
                return not self._as_next(component, read, chosen, event).holds(edges.take_partition)
            case Selection.PARTITION:
                return not self._as_first(component, read, event).holds(edges.begin_partition)

    # What conditions read.

    def _read(self, buffer: Buffer) -> Seen:
        """The events of components that are complete."""
        read = Seen({}, {})
        for component, places in zip(self._components, buffer, strict=False):
            events = [self._stream[place].attributes for place in places]
            if not component.kleene:
                read.events[component.var] = events[0]
                continue
            read.events[reference(component.var, Form.FIRST)] = events[0]
            read.events[reference(component.var, Form.LAST)] = events[-1]
            read.gathered[reference(component.var, Form.ALL)] = events
        return read

    def _as_first(self, component: Component, read: Seen, event: Event) -> Seen:
        """With an event as the first of a component."""
        if not component.kleene:
            return read.with_single(component.var, event.attributes)
        each = read.with_single(reference(component.var, Form.EACH), event.attributes)
        return each.with_single(reference(component.var, Form.FIRST), event.attributes)

    def _as_next(self, component: Component, read: Seen, chosen: tuple[int, ...], event: Event) -> Seen:
        """With an event as `a[i]`, after those that are chosen."""
        before = [self._stream[place].attributes for place in chosen]
        events = {
            reference(component.var, Form.FIRST): before[0],
            reference(component.var, Form.PREVIOUS): before[-1],
            reference(component.var, Form.EACH): event.attributes,
        }
        gathered = {reference(component.var, Form.BEFORE): before}
        return Seen({**read.events, **events}, {**read.gathered, **gathered})

    # Stops and matches.

    def _is_over(self, run: Run, now: int | float, position: int | None) -> bool:
        """Whether the window of a run is over, at an event or at a time after all events."""
        if self._window is None:
            return False
        if self._window.unit is WindowUnit.EVENTS:
            return position is not None and not self._is_inside(run.first, position)
        return now - self._stream[run.first].time > self._window.amount

    def _closing(self, run: Run, now: int | float) -> int | float:
        """When the window of a run closes; `now` where no time says so."""
        if self._window is None or self._window.unit is WindowUnit.EVENTS:
            return now
        return self._stream[run.first].time + self._window.amount

    def _stopped(self, run: Run, known: int | float) -> Iterator[Match]:
        """A run that stops is a match if it only waited for that: to see its last Kleene variable end, or that no
        negated component occurs after it."""
        is_whole = len(run.buffer) == self._final and is_maximal(self._nfab)
        if run.state == self._final or (is_whole and not self._is_preceded(run)):
            occurs = any(self._occurs(component, run) for component in self._negated(last=True))
            yield from () if occurs else self._matched(run, known)

    def _accepted(self, run: Run, known: int | float) -> Iterator[Match]:
        """A run in F, unless a negated component occurs before its last event, or may still occur after it."""
        if self._is_preceded(run):
            return
        if self._negated(last=True):
            self.waiting.append(run)
        else:
            yield from self._matched(run, known)

    def _is_preceded(self, run: Run) -> bool:
        """Whether a negated component occurs before the last event of a run."""
        return any(self._occurs(component, run) for component in self._negated(last=False))

    def _matched(self, run: Run, known: int | float) -> Iterator[Match]:
        if self._read(run.buffer).holds(self._having):
            yield Match(run.buffer, known)

    # Negated components.

    def _negated(self, *, last: bool) -> list[Component]:
        """Those after the last positive component, or the others."""
        end = self._nfab.components.index(self._components[-1])
        after = self._nfab.components[end + 1 :]
        return [one for one in self._nfab.components if one.negated and (one in after) is last]

    def _occurs(self, component: Component, run: Run) -> bool:
        """Whether an NFAᵇ of this component alone accepts somewhere in the events where it is looked for."""
        around, places = self._read(run.buffer), self._places(component, run)
        return any(
            self._is_begun(component, around, place) and self._accepts(component, around, places[at:])
            for at, place in enumerate(places)
        )

    def _accepts(self, component: Component, around: Seen, places: list[int]) -> bool:
        """Whether a run that begins at the first of these places reaches its final state; the end of them stops it."""
        ends = self._edges[component].end
        if not component.kleene or not ends:
            return True
        runs: list[tuple[int, ...]] = [(places[0],)]
        for place in (*places[1:], None):
            going_on = list[tuple[int, ...]]()
            for chosen in runs:
                if self._as_whole(component, around, chosen).holds(ends):
                    return True
                if place is not None:
                    going_on += self._further(component, around, chosen, place)
            runs = list(dict.fromkeys(going_on))
        return False

    def _further(
        self, component: Component, around: Seen, chosen: tuple[int, ...], place: int
    ) -> Iterator[tuple[int, ...]]:
        selects = self._is_selected(component, around, chosen, place)
        if selects:
            yield (*chosen, place)
        if self._is_skipped(component, around, chosen, place, selects):
            yield chosen

    def _as_whole(self, component: Component, around: Seen, chosen: tuple[int, ...]) -> Seen:
        events = [self._stream[place].attributes for place in chosen]
        single = {
            reference(component.var, Form.FIRST): events[0],
            reference(component.var, Form.LAST): events[-1],
        }
        return Seen(
            {**around.events, **single}, {**around.gathered, reference(component.var, Form.ALL): events}
        )

    def _places(self, component: Component, run: Run) -> list[int]:
        """The positions strictly between the neighbours of a negated component; beside the match, those that lie
        in the window together with it."""
        place = self._nfab.components.index(component)
        before = sum(not one.negated for one in self._nfab.components[:place])
        begin = run.buffer[before - 1][-1] if before else None
        end = run.buffer[before][0] if before < self._final else None
        last = run.buffer[-1][-1]
        return [
            at
            for at in self._stream
            if (begin is None or at > begin)
            and (end is None or at < end)
            and (begin is not None or self._is_inside(at, last))
            and (end is not None or self._is_inside(run.first, at))
        ]


def all_matches(nfab: Nfab, window: Window | None, stream: Sequence[Event]) -> list[Match]:
    """The matches of a whole stream, in the order in which they become known.

    >>> stream = [Event(type, time, {}) for time, type in enumerate("ABB")]
    >>> both = Nfab((Component("A", "a"), Component("B", "b", kleene=True)))
    >>> [(match.positions, match.known) for match in all_matches(both, None, stream)]
    [((0, 1, 2), 2)]
    """
    machine = Machine(nfab, window, dict(enumerate(stream)))
    found = [match for position in range(len(stream)) for match in machine.look(position)]
    return [*found, *machine.end(stream[-1].time)] if stream else found


def binding_of(nfab: Nfab, buffer: Buffer, shown: frozenset[str]) -> frozenset[tuple[str, int]]:
    """The shown references of a match, each with its events."""
    pairs = set[tuple[str, int]]()
    for component, places in zip(nfab.positive, buffer, strict=True):
        names = events_shown(component)
        chosen = {Form.FIRST: places[:1], Form.LAST: places[-1:]}
        for name in names:
            form = next(
                (form for form in chosen if component.kleene and name == reference(component.var, form)), None
            )
            pairs |= {(name, place) for place in (places if form is None else chosen[form]) if name in shown}
    return frozenset(pairs)
