"""The evaluator `semantics` for SASE+: the NFAᵇ of the definition, run event by event.

In: events in order, cut into batches anywhere. Out: the matches that became known with each batch, in the order of
their ends. It keeps every run, and the events that runs have selected or may still look for, as rows: with a window
those inside of it, without one all that some run still holds. It is the definition (`semantics.nfab`), and slow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.algebra.nfab_edges import is_known_later
from cepheid.algebra.nodes import Nfab
from cepheid.evaluators.interface import Bounds, Events, State
from cepheid.evaluators.window import times
from cepheid.matches.match_arrays import LABEL, Found, Ints, nothing_found
from cepheid.plan.plan import Plan
from cepheid.plan.reads import read_by_conditions
from cepheid.semantics.nfab import Buffer, Machine, Match, Run, binding_of
from cepheid.semantics.stream import Event, events_of
from cepheid.state_checks import (
    bytes_of,
    letters,
    require,
    require_ascending,
    require_columns,
    require_indices,
    stream_of,
    whole_number,
    words,
)


@dataclass(frozen=True, slots=True)
class Kept:
    """Events that runs may still need, ascending by row; `positions` are those in their partitions."""

    table: pa.Table
    rows: Ints
    times: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    partitions: Ints
    positions: Ints
    quiet: npt.NDArray[np.bool_]

    def take(self, keep: npt.NDArray[np.bool_]) -> Kept:
        table = self.table.filter(pa.array(keep)).combine_chunks()
        return Kept(
            table,
            self.rows[keep],
            self.times[keep],
            self.partitions[keep],
            self.positions[keep],
            self.quiet[keep],
        )

    def followed_by(self, more: Kept) -> Kept:
        return Kept(
            pa.concat_tables([self.table, more.table]),
            np.concatenate([self.rows, more.rows]),
            np.concatenate([self.times, more.times]),
            np.concatenate([self.partitions, more.partitions]),
            np.concatenate([self.positions, more.positions]),
            np.concatenate([self.quiet, more.quiet]),
        )


@dataclass(slots=True)
class Lane:
    """One partition: its runs, and by position the events that they need with their row numbers. Matches that end at a
    `quiet` one are not reported; those `held` are known, and others that are not yet may end before them."""

    machine: Machine
    stream: dict[int, Event]
    rows: dict[int, int]
    quiet: set[int]
    held: list[Run]
    last: int = -1

    def forget(self) -> set[int]:
        """Keeps only what is needed; gives the positions of it."""
        needed = set(self.machine.needed(self.last))
        needed.update(place for run in self.held for places in run.buffer for place in places)
        for position in [one for one in self.stream if one not in needed]:
            del self.stream[position], self.rows[position]
        self.quiet &= needed
        return needed

    @property
    def first_end(self) -> int | None:
        """No match that is not known yet ends before this row."""
        going = (*self.machine.runs, *self.machine.waiting)
        return min((self.rows[run.buffer[-1][-1]] for run in going), default=None)


@dataclass(slots=True)
class Known:
    """A match as it is reported: its rows, with the references that each is bound to."""

    rows: tuple[int, ...]
    names: list[frozenset[str]] = field(compare=False)

    @property
    def order(self) -> tuple[int, tuple[int, ...]]:
        return self.rows[-1], self.rows


class NfabEvaluator:
    """Made from a plan; with `counting` it reports numbers and no matches. Where only the first matches are wanted,
    none comes before one that ends earlier and is not known yet, in whatever partition."""

    positional = True

    def __init__(self, plan: Plan, counting: bool = False, limit: int | None = None) -> None:
        query = plan.rewritten
        assert isinstance(query.pattern, Nfab)
        self._nfab, self._window = query.pattern, query.window
        self._shown = frozenset(item.name for item in plan.shown)
        self._schema = plan.schema
        read = {plan.schema.type, *read_by_conditions(plan.query)}
        # A table without columns would forget how many rows it has.
        self._reads = [name for name in plan.schema.names if name in read] or [plan.schema.time]
        self._counting = counting
        self._holds = limit is not None and is_known_later(self._nfab)
        self._counted = 0
        self._now: int | float | None = None
        self._lanes: dict[int, Lane] = {}
        self._kept: Kept | None = None
        self._number_of_label: dict[frozenset[str], int] = {frozenset(): 0}
        self.relevant: Ints = np.zeros(0, np.int64)

    @property
    def labels(self) -> tuple[frozenset[str], ...]:
        """The sets of references that events have had so far."""
        return tuple(self._number_of_label)

    def advance(self, events: Events) -> Found:
        self.relevant = events.rows
        rows, partitions, positions = events.at(np.arange(len(events.times)))
        quiet = np.full(len(rows), not events.report)
        new = Kept(events.table.select(self._reads), rows, events.times, partitions, positions, quiet)
        found = list[Known]()
        for lane, position in self._entered(new):
            found += self._known(lane, lane.machine.look(position))
        if len(events.times):
            found += self._passed(events.times[-1].item())
        found += self._released()
        self._keep(new)
        return self._report(found)

    def pass_time(self, now: int | float) -> Found:
        if self._kept is None or self._now is None:
            return nothing_found()
        later = np.nextafter(now, np.inf).item() if isinstance(self._now, float) else int(now) + 1
        found = [*self._passed(max(later, self._now)), *self._released()]
        self._keep(self._kept.take(np.zeros(len(self._kept.rows), np.bool_)))
        return self._report(found)

    def _passed(self, now: int | float) -> list[Known]:
        """It is as late as `now`, for all partitions."""
        self._now = now
        return [
            known for lane in self._lanes.values() for known in self._known(lane, lane.machine.pass_time(now))
        ]

    @property
    def waiting_since(self) -> int | float | None:
        """No match that waits begins earlier."""
        if not is_known_later(self._nfab):
            return None
        begun = (lane.machine.waiting_since for lane in self._lanes.values())
        return min((time for time in begun if time is not None), default=None)

    def _entered(self, events: Kept) -> Iterator[tuple[Lane, int]]:
        """Puts events into the lanes of their partitions, one after the other."""
        stream = events_of(events.table, self._schema, events.times.tolist())
        columns = (events.rows, events.partitions, events.positions, events.quiet)
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        for event, (row, partition, position, quiet) in zip(stream, numbers, strict=True):
            lane = self._lane(partition)
            lane.stream[position], lane.rows[position], lane.last = event, row, position
            if quiet:
                lane.quiet.add(position)
            yield lane, position

    def _lane(self, partition: int) -> Lane:
        if partition not in self._lanes:
            stream: dict[int, Event] = {}
            self._lanes[partition] = Lane(Machine(self._nfab, self._window, stream), stream, {}, set(), [])
        return self._lanes[partition]

    def _known(self, lane: Lane, matches: Iterable[Match]) -> Iterator[Known]:
        for match in matches:
            if match.buffer[-1][-1] in lane.quiet:
                continue
            if self._holds:
                lane.held.append(Run(len(match.buffer), match.buffer))
            else:
                yield self._shown_as(lane, match.buffer)

    def _released(self, ended: bool = False) -> list[Known]:
        """The matches that were held, as far as none that is not known yet ends before them."""
        ends = [end for lane in self._lanes.values() if (end := lane.first_end) is not None]
        before = inf if ended else min(ends, default=inf)
        found = list[Known]()
        for lane in self._lanes.values():
            going = [run for run in lane.held if lane.rows[run.buffer[-1][-1]] < before]
            found += [self._shown_as(lane, run.buffer) for run in going]
            lane.held = [run for run in lane.held if lane.rows[run.buffer[-1][-1]] >= before]
        return found

    def _shown_as(self, lane: Lane, buffer: Buffer) -> Known:
        names: dict[int, set[str]] = {position: set() for places in buffer for position in places}
        for name, position in binding_of(self._nfab, buffer, self._shown):
            names[position].add(name)
        rows = tuple(lane.rows[position] for position in names)
        return Known(rows, [frozenset(given) for given in names.values()])

    def _keep(self, new: Kept) -> None:
        """Keeps the events that some run needs."""
        held = new if self._kept is None else self._kept.followed_by(new)
        needed = {number: lane.forget() for number, lane in self._lanes.items()}
        pairs = zip(held.partitions.tolist(), held.positions.tolist(), strict=True)
        keep = np.fromiter(
            (position in needed[partition] for partition, position in pairs), np.bool_, len(held.rows)
        )
        self._kept = held.take(keep)
        self._lanes = {number: lane for number, lane in self._lanes.items() if lane.stream}

    def _report(self, found: list[Known]) -> Found:
        found.sort(key=lambda known: known.order)
        self._counted += len(found)
        if self._counting:
            return nothing_found()
        offsets = np.cumsum([0, *(len(known.rows) for known in found)], dtype=np.int64)
        rows = np.array([row for known in found for row in known.rows], np.int64)
        numbers = [self._number(names) for known in found for names in known.names]
        return Found(offsets, rows, np.array(numbers, LABEL))

    def _number(self, names: frozenset[str]) -> int:
        return self._number_of_label.setdefault(names, len(self._number_of_label))

    def finish(self) -> Found:
        if self._now is None:
            return nothing_found()
        found = list[Known]()
        for lane in self._lanes.values():
            found += self._known(lane, lane.machine.end(self._now))
        return self._report([*found, *self._released(ended=True)])

    @property
    def counted(self) -> int:
        return self._counted

    def live_rows(self) -> Ints:
        return np.zeros(0, np.int64) if self._kept is None else self._kept.rows

    def keep_partitions(self, partitions: Ints) -> None:
        if self._kept is None:
            return
        kept = self._kept.take(np.isin(self._kept.partitions, partitions))
        numbers = np.searchsorted(partitions, kept.partitions)
        self._kept = Kept(kept.table, kept.rows, kept.times, numbers, kept.positions, kept.quiet)
        places = {number: place for place, number in enumerate(partitions.tolist())}
        self._lanes = {places[number]: lane for number, lane in self._lanes.items() if number in places}

    def save(self) -> State:
        counted = np.array([self._counted], np.int64)
        if self._kept is None or self._now is None:
            return {"counted": counted}
        kept = self._kept
        runs = [
            word
            for number, lane in self._lanes.items()
            for kind, listed in enumerate((lane.machine.runs, lane.machine.waiting, lane.held))
            for run in listed
            for word in (number, kind, run.state, *_words_of(run.buffer))
        ]
        return {
            "counted": counted,
            "now": np.array([self._now]),
            "table": bytes_of(kept.table),
            "rows": kept.rows,
            "times": kept.times,
            "lanes": kept.partitions,
            "positions": kept.positions,
            "quiet": kept.quiet.astype(np.int64),
            "runs": np.array(runs, np.int64),
        }

    def load(self, state: State, bounds: Bounds) -> None:
        self._counted = whole_number(state, "counted", 0, 1 << 62)
        self._kept, self._lanes, self._now = None, {}, None
        if "table" not in state:
            return
        table = stream_of(letters(state, "table"), "table")
        require_columns(table, pa.schema([self._schema.arrow.field(name) for name in self._reads]), "table")
        rows = words(state, "rows", len(table))
        partitions = words(state, "lanes", len(table))
        positions = words(state, "positions", len(table))
        require_indices(rows, 0, bounds.rows, "rows")
        require_ascending(rows, "rows", strictly=True)
        require_indices(partitions, 0, bounds.partitions, "lanes")
        require_indices(positions, 0, bounds.rows, "positions")
        given = times(state, "times", len(table), bounds)
        require_ascending(given, "times")
        self._now = times(state, "now", 1, bounds)[0].item()
        require(not len(given) or given[-1] <= self._now, "its events are later than its time")
        quiet = words(state, "quiet", len(table))
        require_indices(quiet, 0, 2, "quiet")
        self._kept = Kept(table, rows, given, partitions, positions, quiet.astype(np.bool_))
        for lane, position in self._entered(self._kept):
            require(position == max(lane.stream), "its positions do not ascend")
        self._load_runs(words(state, "runs", None).tolist())

    def _load_runs(self, numbers: list[int]) -> None:
        reader = _Reader(numbers)
        while reader.more:
            partition, kind, state = reader.number(), reader.number(), reader.number()
            run = Run(state, reader.buffer())
            require(partition in self._lanes, "a run is of a partition without events")
            require(kind in range(3), "a run neither goes on nor waits")
            lane = self._lanes[partition]
            require(self._is_possible(run, kind > 0, lane), "a run is in no state that it can be in")
            (lane.machine.runs, lane.machine.waiting, lane.held)[kind].append(run)

    def _is_possible(self, run: Run, is_whole: bool, lane: Lane) -> bool:
        components, places = self._nfab.positive, [place for part in run.buffer for place in part]
        if not run.buffer or any(place not in lane.stream for place in places):
            return False
        if any(before >= after for before, after in pairwise(places)):
            return False
        lengths = zip(components, run.buffer, strict=False)
        if not all(part and (component.kleene or len(part) == 1) for component, part in lengths):
            return False
        if is_whole:
            return run.state == len(run.buffer) == len(components)
        more = (
            0 <= run.state < len(components)
            and components[run.state].kleene
            and len(run.buffer) == run.state + 1
        )
        return more or len(run.buffer) == run.state < len(components)

    @property
    def memory(self) -> int:
        if self._kept is None:
            return 0
        runs = sum(
            8 * (4 + sum(map(len, run.buffer)))
            for lane in self._lanes.values()
            for run in (*lane.machine.runs, *lane.machine.waiting)
        )
        return int(self._kept.table.nbytes) + 4 * self._kept.rows.nbytes + runs


def _words_of(buffer: Buffer) -> Iterator[int]:
    yield len(buffer)
    for places in buffer:
        yield len(places)
        yield from places


class _Reader:
    """Reads numbers of a saved state one after the other."""

    def __init__(self, numbers: list[int]) -> None:
        self._numbers = numbers
        self._at = 0

    @property
    def more(self) -> bool:
        return self._at < len(self._numbers)

    def number(self) -> int:
        require(self.more, "its runs end too early")
        self._at += 1
        return self._numbers[self._at - 1]

    def several(self, count: int) -> tuple[int, ...]:
        require(0 <= count <= len(self._numbers) - self._at, "its runs end too early")
        self._at += count
        return tuple(self._numbers[self._at - count : self._at])

    def buffer(self) -> Buffer:
        parts = self.number()
        require(0 <= parts <= len(self._numbers), "its runs end too early")
        return tuple(self.several(self.number()) for _ in range(parts))
