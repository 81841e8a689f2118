"""The oracle: the matches of a whole query over a list of events, straight from the definitions.

In: a query and a stream. Out: its matches, distinct in (complex event, binding of the selected variables), in order of
their last position, also where a NOT at the end makes a match known only later. The clauses apply in this order:
PARTITION BY splits the stream, WITHIN keeps the matches inside the window, the strategy chooses among complex events
with the same last position, CONSUME forgets events, DISTINCT merges matches,
LIMIT cuts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf

from cepheid.algebra.nodes import Nfab, Query
from cepheid.algebra.reach import is_over, looks_everywhere
from cepheid.algebra.unmarked_prefix import lead
from cepheid.algebra.variables import shown
from cepheid.semantics.keys import key_of
from cepheid.semantics.meaning import meaning
from cepheid.semantics.nfab import all_matches, binding_of
from cepheid.semantics.output import first_of_equal
from cepheid.semantics.results import Pairs, Result, kept, stands
from cepheid.semantics.strategies import ComplexEvent, choose
from cepheid.semantics.stream import Stream, inside

LONG = 12  # events from which a windowed query is run window by window


@dataclass(frozen=True, slots=True)
class OracleMatch:
    """`positions` ascend; `binding` holds (name, position) for every selected name."""

    positions: ComplexEvent
    binding: Pairs

    @property
    def last(self) -> int:
        return self.positions[-1]


def evaluate(query: Query, stream: Stream) -> list[OracleMatch]:
    """All matches; their positions are indices of `stream`.

    >>> from cepheid.algebra.nodes import Atom, Seq
    >>> from cepheid.semantics.stream import Event
    >>> stream = [Event(type, time, {}) for time, type in enumerate("AAB")]
    >>> [match.positions for match in evaluate(Query(Seq(Atom("A", "x"), Atom("B", "y"))), stream)]
    [(0, 2), (1, 2)]
    """
    found: list[OracleMatch] = []
    for places in partitions(query, stream):
        matches, _ = partition_matches(query, [stream[place] for place in places])
        found.extend(renumbered(match, places) for match in matches)
    shown = first_of_equal(query, found, stream) if query.distinct else found
    return sorted(shown, key=order)[: query.limit]


def partitions(query: Query, stream: Stream) -> list[list[int]]:
    """The indices of each partition's events, in order. NULL is a key like any other, and so is NaN."""
    by_key: dict[Hashable, list[int]] = {}
    for index, event in enumerate(stream):
        key = tuple(key_of(event.attributes[name]) for name in query.partition_by)
        by_key.setdefault(key, []).append(index)
    return list(by_key.values())


def partition_matches(
    query: Query, partition: Stream, since: int = 0, until: int | None = None
) -> tuple[list[OracleMatch], int]:
    """The matches of one partition that end at index `since` or later, before `until`, and how many events were
    forgotten.

    With CONSUME, as soon as a position ends a match, all events up to it are forgotten.

    >>> from cepheid.algebra.nodes import Atom, Seq
    >>> from cepheid.semantics.stream import Event
    >>> query = Query(Seq(Atom("A", "x"), Atom("B", "y")), consume=True)
    >>> matches, forgotten = partition_matches(query, [Event(type, time, {}) for time, type in enumerate("AABB")])
    >>> [match.positions for match in matches], forgotten
    ([(0, 2), (1, 2)], 3)
    """
    until = len(partition) if until is None else until
    if not query.consume:
        return [match for _, group in by_end(query, partition, since, until) for match in group], 0
    found: list[OracleMatch] = []
    forgotten = 0
    while first := next(
        by_end(query, partition[forgotten:], max(0, since - forgotten), until - forgotten), None
    ):
        end, group = first
        found.extend(renumbered(match, range(forgotten, len(partition))) for match in group)
        forgotten += end + 1
    return found, forgotten


def by_end(
    query: Query, partition: Stream, since: int, until: int
) -> Iterator[tuple[int, list[OracleMatch]]]:
    """For each position from `since` on, before `until`, that ends a match: it and its matches. CONSUME and LIMIT
    aside."""
    if not slides(query) or len(partition) <= LONG:
        later = (match for match in answers(query, partition) if since <= match.last < until)
        yield from ((end, list(same_end)) for end, same_end in groupby(later, key=lambda match: match.last))
        return
    # A match that ends here lies within the window that ends here, and so does all it competes with; what its NOTs
    # forbid comes at most a window later.
    for end in range(since, until):
        first, last = first_needed(query, partition, end), end
        while last + 1 < len(partition) and not is_known(query, partition, end, last):
            last += 1
        found = answers(query, partition[first : last + 1])
        group = [renumbered(match, range(first, last + 1)) for match in found if match.last == end - first]
        if group:
            yield end, group


def answers(query: Query, partition: Stream) -> list[OracleMatch]:
    """The matches of one partition by the definitions: meaning, window, strategy, selected variables."""
    names = frozenset(item.name for item in shown(query))
    if isinstance(query.pattern, Nfab):
        runs = all_matches(query.pattern, query.window, partition)
        chosen_events = [
            OracleMatch(run.positions, binding_of(query.pattern, run.buffer, names)) for run in runs
        ]
        return sorted(chosen_events, key=order)

    def fits(result: Result) -> bool:
        return inside(query.window, partition, result.events[0], result.events[-1])

    found = (kept(result, fits) for result in meaning(query.pattern, partition, names) if result.events)
    candidates = [result for result in found if result is not None and stands(result)]
    chosen = choose(query.strategy, (result.events for result in candidates))
    matches = {OracleMatch(result.events, result.binding) for result in candidates if result.events in chosen}
    return sorted(matches, key=order)


def is_known(query: Query, partition: Stream, end: int, last: int, now: int | float = -inf) -> bool:
    """Whether no event after index `last`, nor one at the time `now` or later, bears on the matches that end at `end`.

    >>> from cepheid.algebra.nodes import Atom, Not, Seq, Window, WindowUnit
    >>> from cepheid.semantics.stream import Event
    >>> query = Query(Seq(Atom("A"), Not(Atom("B"))), window=Window(5, WindowUnit.PLAIN))
    >>> stream = [Event("A", 0, {}), Event("C", 5, {}), Event("C", 6, {})]
    >>> [is_known(query, stream, 0, last) for last in range(3)]
    [False, False, True]
    """
    now = max(now, partition[last].time)
    return is_over(query, last - end + 1, now - partition[end].time)


def slides(query: Query) -> bool:
    """Whether the matches that end at a position depend only on the events of its window and a bounded number before
    it: not if a strategy inside the formula compares complex events that no window bounds, nor if a SREMO may read any
    number of events before it marks one."""
    if query.window is None or looks_everywhere(query.pattern) or isinstance(query.pattern, Nfab):
        return False
    return lead(query.pattern) < inf


def first_needed(query: Query, partition: Stream, end: int) -> int:
    """The first index on which matches that end at `end` may depend, in a query that slides."""
    return max(0, window_start(query, partition, end) - int(lead(query.pattern)))


def window_start(query: Query, partition: Stream, end: int) -> int:
    """The first index inside the window that ends at `end`. Times never decrease, so it lies in one piece."""
    first = end
    while first > 0 and inside(query.window, partition, first - 1, end):
        first -= 1
    return first


def renumbered(match: OracleMatch, places: Sequence[int]) -> OracleMatch:
    """The same match with each index replaced by its place in a longer stream."""
    positions = tuple(places[index] for index in match.positions)
    return OracleMatch(positions, frozenset((name, places[index]) for name, index in match.binding))


def order(match: OracleMatch) -> tuple[int, ComplexEvent, list[list[str]]]:
    """By end, then by positions, then event by event by the names that it is bound to: the first are those that LIMIT
    keeps."""
    names: dict[int, list[str]] = {position: [] for position in match.positions}
    for name, position in sorted(match.binding):
        names[position].append(name)
    return match.last, match.positions, list(names.values())
