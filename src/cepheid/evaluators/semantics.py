"""The evaluator `semantics`: the oracle behind the interface of all evaluators.

In: events in order, cut into batches anywhere. Out: the matches that end in each batch; where a NOT at the end of the
pattern makes them known only later, those that became known, still in the order of their ends. It runs every query
that has a meaning, n-ary conditions included, and is slow: it keeps the events that later matches may need
as rows and runs the definitions over them again. With a window that is what the window still holds, and as much
before it as a run may read before its first mark; without one, everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.algebra.nodes import WindowUnit
from cepheid.algebra.reach import waits
from cepheid.algebra.unmarked_prefix import lead
from cepheid.evaluators.interface import Bounds, Events, State
from cepheid.evaluators.window import times
from cepheid.matches.match_arrays import LABEL, Found, Ints, nothing_found
from cepheid.plan.plan import Plan
from cepheid.plan.reads import read_by_conditions
from cepheid.semantics.oracle import (
    OracleMatch,
    first_needed,
    is_known,
    partition_matches,
    renumbered,
    slides,
)
from cepheid.semantics.stream import Event, events_of
from cepheid.state_checks import (
    bytes_of,
    letters,
    require_ascending,
    require_columns,
    require_indices,
    stream_of,
    whole_number,
    words,
)
from cepheid.streams.times import recent

Times = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Kept:
    """Events that later matches may contain, ascending by row; `table` has the columns that conditions read. `ends`
    says of each whether the matches that end there are yet to be known, and whether these are to be reported."""

    table: pa.Table
    rows: Ints
    times: Times
    partitions: Ints
    ends: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, keep: npt.NDArray[np.bool_]) -> Kept:
        return Kept(
            self.table.filter(pa.array(keep)),
            self.rows[keep],
            self.times[keep],
            self.partitions[keep],
            self.ends[keep],
        )


KNOWN, OPEN, SILENT = range(3)
"""Of the matches that end at an event: they are known; are not yet; are not yet and will not be reported."""


class SemanticsEvaluator:
    """Made from a plan; with `counting` it reports numbers and no matches. Where only the first matches are wanted,
    none comes before one that ends earlier and is not known yet, in whatever partition."""

    def __init__(self, plan: Plan, counting: bool = False, limit: int | None = None) -> None:
        self._query = plan.rewritten
        self._schema = plan.schema
        read = {plan.schema.type, *read_by_conditions(plan.query)}
        # A table without columns would forget how many rows it has.
        self._reads = [name for name in plan.schema.names if name in read] or [plan.schema.time]
        self._counting = counting
        self._kept: Kept | None = None
        self._waits = bool(waits(self._query))
        self._first_only = limit is not None or self._query.limit is not None
        self.relevant: Ints = np.zeros(0, np.int64)
        self._counted = 0
        self._number_of_label: dict[frozenset[str], int] = {frozenset(): 0}

    @property
    def labels(self) -> tuple[frozenset[str], ...]:
        """The sets of names that events have had so far."""
        return tuple(self._number_of_label)

    positional = True

    def advance(self, events: Events) -> Found:
        self.relevant = events.rows
        known = 0 if self._kept is None else len(self._kept)
        held = _appended(self._kept, replace(events, table=events.table.select(self._reads)))
        now = held.times[-1].item() if len(held) else -inf
        return self._report(self._evaluated(held, known, now), held.rows)

    def pass_time(self, now: int | float) -> Found:
        held = self._kept
        if not self._waits or held is None or not len(held):
            return nothing_found()
        after = max(_next(now, held.times), held.times[-1].item())
        return self._report(self._evaluated(held, len(held), after), held.rows)

    @property
    def waiting_since(self) -> int | float | None:
        if not self._waits or self._kept is None:
            return None
        waiting = self._kept.times[self._kept.ends == OPEN]
        return waiting[0].item() if len(waiting) else None

    def _evaluated(
        self, held: Kept, known: int, now: int | float, *, ended: bool = False
    ) -> list[OracleMatch]:
        """The matches that became known with the events after the first `known`, or because no event before the time
        `now` will come; keeps what later ones need."""
        stream = events_of(held.table, self._schema, held.times.tolist())
        found: list[OracleMatch] = []
        keep, ends, waiting = (
            np.zeros(len(held), np.bool_),
            held.ends.copy(),
            np.zeros(len(held), np.bool_),
        )
        partitions = _by_partition(held.partitions)
        untils = [len(places) for places in partitions]
        if self._waits and not ended:
            untils = self._known(stream, partitions, ends, now)
        for places, until in zip(partitions, untils, strict=True):
            events = [stream[place] for place in places]
            since = int(np.searchsorted(places, known))
            if self._waits:
                since = len(places) - int((ends[places] != KNOWN).sum())
                waiting[places] = until < len(places)
            ends[places[:until]] = KNOWN
            matches, forgotten = partition_matches(self._query, events, since, until)
            reported = (match for match in matches if held.ends[places[match.last]] == OPEN)
            found.extend(renumbered(match, places.tolist()) for match in reported)
            keep[places[self._first_needed(stream, places, forgotten, until) :]] = True
        matters = self._may_still_matter(held.times, now)
        self._kept = replace(held, ends=ends).take(keep & (waiting | matters))
        return found

    def _known(self, stream: list[Event], partitions: list[Ints], ends: Ints, now: int | float) -> list[int]:
        """How many events of each partition end only matches that are known."""
        untils = []
        for places in partitions:
            since = len(places) - int((ends[places] != KNOWN).sum())
            untils.append(self._until([stream[place] for place in places], since, now))
        if not self._first_only:
            return untils
        both = zip(partitions, untils, strict=True)
        first = min((places[until] for places, until in both if until < len(places)), default=len(stream))
        return [int(np.searchsorted(places, first)) for places in partitions]

    def _until(self, events: list[Event], since: int, now: int | float) -> int:
        """The first event of a partition from `since` on that matches may end at which are not known yet."""
        last = len(events) - 1
        ends = range(since, len(events))
        return next((end for end in ends if not is_known(self._query, events, end, last, now)), len(events))

    def _first_needed(self, stream: list[Event], places: Ints, forgotten: int, until: int) -> int:
        """The first event of a partition that a match with its next event could depend on, or one that ends at `until`
        or later: what is outside the window of an event is outside that of any later one."""
        if not slides(self._query) or forgotten == len(places):
            return forgotten
        partition = [stream[place] for place in places]
        return max(forgotten, first_needed(self._query, partition, min(until, len(partition) - 1)))

    def _may_still_matter(self, times: Times, now: int | float) -> npt.NDArray[np.bool_]:
        """Partitions that fell silent lose events too, once the whole stream's time has moved on; not where what lies
        before a window may matter."""
        window = self._query.window
        by_time = window is not None and window.unit is not WindowUnit.EVENTS and slides(self._query)
        if window is None or not by_time or lead(self._query.pattern) or not len(times):
            return np.ones(len(times), np.bool_)
        return recent(times, _in_range(now, times), window.amount)

    def _report(self, found: list[OracleMatch], rows: Ints) -> Found:
        found.sort(key=lambda match: (match.last, match.positions))
        if self._query.limit is not None and not self._query.distinct:
            found = found[: max(0, self._query.limit - self._counted)]
        self._counted += len(found)
        return nothing_found() if self._counting else self._flat(found, rows)

    def _flat(self, found: list[OracleMatch], rows: Ints) -> Found:
        offsets = np.cumsum([0, *(len(match.positions) for match in found)], dtype=np.int64)
        places = np.array([place for match in found for place in match.positions], np.int64)
        labels = np.array([label for match in found for label in self._labels_of(match)], LABEL)
        return Found(offsets, rows[places], labels)

    def _labels_of(self, match: OracleMatch) -> Iterator[int]:
        """One number per event, 0 for an event that no selected variable is bound to."""
        names_at: dict[int, set[str]] = {position: set() for position in match.positions}
        for name, position in match.binding:
            names_at[position].add(name)
        for names in map(frozenset, names_at.values()):
            yield self._number_of_label.setdefault(names, len(self._number_of_label))

    def finish(self) -> Found:
        """Where nothing can be forbidden after a match, it was known with its last event; else all are known now."""
        if not self._waits or self._kept is None:
            return nothing_found()
        held = self._kept
        now = held.times[-1].item() if len(held) else -inf
        return self._report(self._evaluated(held, len(held), now, ended=True), held.rows)

    @property
    def counted(self) -> int:
        return self._counted

    def live_rows(self) -> Ints:
        return np.zeros(0, np.int64) if self._kept is None else self._kept.rows

    def keep_partitions(self, partitions: Ints) -> None:
        if self._kept is not None:
            kept = self._kept.take(np.isin(self._kept.partitions, partitions))
            self._kept = replace(kept, partitions=np.searchsorted(partitions, kept.partitions))

    def save(self) -> State:
        counted = np.array([self._counted], np.int64)
        if self._kept is None:
            return {"counted": counted}
        kept = self._kept
        return {
            "counted": counted,
            "table": bytes_of(kept.table),
            "rows": kept.rows,
            "times": kept.times,
            "lanes": kept.partitions,
            **({"open": kept.ends} if self._waits else {}),
        }

    def load(self, state: State, bounds: Bounds) -> None:
        self._counted = whole_number(state, "counted", 0, 1 << 62)
        self._kept = None
        if "table" in state:
            table = stream_of(letters(state, "table"), "table")
            require_columns(
                table, pa.schema([self._schema.arrow.field(name) for name in self._reads]), "table"
            )
            rows = words(state, "rows", len(table))
            partitions = words(state, "lanes", len(table))
            require_indices(rows, 0, bounds.rows, "rows")
            require_ascending(rows, "rows", strictly=True)
            require_indices(partitions, 0, bounds.partitions, "lanes")
            given = times(state, "times", len(table), bounds)
            require_ascending(given, "times")
            ends = np.full(len(table), KNOWN, np.int64)
            if self._waits:
                ends = words(state, "open", len(table))
                require_indices(ends, KNOWN, SILENT + 1, "open")
            self._kept = Kept(table, rows, given, partitions, ends)

    @property
    def memory(self) -> int:
        if self._kept is None:
            return 0
        kept = self._kept
        return int(kept.table.nbytes) + kept.rows.nbytes + kept.times.nbytes + kept.partitions.nbytes


def _appended(kept: Kept | None, events: Events) -> Kept:
    new = np.full(len(events.rows), OPEN if events.report else SILENT, np.int64)
    if kept is None:
        return Kept(events.table, events.rows, events.times, events.partitions, new)
    return Kept(
        pa.concat_tables([kept.table, events.table]).combine_chunks(),
        np.concatenate([kept.rows, events.rows]),
        np.concatenate([kept.times, events.times]),
        np.concatenate([kept.partitions, events.partitions]),
        np.concatenate([kept.ends, new]),
    )


def _by_partition(partitions: Ints) -> list[Ints]:
    """The places of each partition's events."""
    order = np.argsort(partitions, kind="stable")
    begins = np.flatnonzero(np.diff(partitions[order])) + 1
    return np.split(order, begins) if len(order) else []


def _next(now: int | float, times: Times) -> int | float:
    """The next time after `now` that there is."""
    return float(np.nextafter(now, inf)) if times.dtype == np.float64 else int(now // 1) + 1


def _in_range(now: int | float, times: Times) -> int | float:
    """A time that may lie after all that there are as the last of them."""
    return now if times.dtype == np.float64 else min(now, np.iinfo(np.int64).max)
