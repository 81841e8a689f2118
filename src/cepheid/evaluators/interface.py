"""The one interface of all evaluators: a state that takes events in order and yields matches.

An evaluator is made from a plan and is fed `Events`; it never sees unsorted rows. Between two calls its state
can be saved as named arrays and restored, and it says which rows later matches may still need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.errors import CepheidError
from cepheid.matches.match_arrays import Found, Ints
from cepheid.memory import memory_limit

State = Mapping[str, npt.NDArray[np.generic]]


def part_of(state: State, prefix: str) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays whose names begin with `prefix`, without it."""
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}


def named(prefix: str, state: State) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays under names that begin with `prefix`."""
    return {f"{prefix}{name}": array for name, array in state.items()}


BYTES_PER_EVENT = 40  # of a match, as the kernels hold it and while its rows are taken
GUARD = max(
    1 << 10, min(1 << 27, memory_limit() // 2 // BYTES_PER_EVENT)
)  # events in the matches of one batch


_FEWER_UNSET = 1 << 62
_FEWER: ContextVar[int] = ContextVar("events in the matches of one batch", default=_FEWER_UNSET)


@contextmanager
def at_most(events: int) -> Iterator[None]:
    """Inside, matches of one batch hold at most so many events, if the guard is not lower."""
    token = _FEWER.set(events)
    try:
        yield
    finally:
        _FEWER.reset(token)


UNLIMITED = np.iinfo(np.int64).max // 2
_SPARE = 1 << 16


def spare_of(limit: int) -> int:
    """How many matches beyond the limit are written before the first by positions are looked for among those that end
    at the event at hand: few enough to be sorted, many enough for that to be rare.

    >>> spare_of(10), spare_of(1_000_000)
    (65536, 1000000)
    """
    return max(_SPARE, min(limit, 1 << 30))


def guard_of(most: int) -> int:
    """The guard where the evaluator itself has this one.

    >>> with at_most(1_000):
    ...     guard_of(GUARD)
    1000
    """
    return min(most, _FEWER.get())


def first_matches() -> int | None:
    """How many matches of a batch to look at first where a few of them may do; None: at all of them."""
    events = _FEWER.get()
    return None if events == _FEWER_UNSET else max(1, events // 64)


def too_many_matches(guard: int, row: int) -> CepheidError:
    """For matches of one batch that hold more than so many events, at this row."""
    return CepheidError(
        "too-many-matches",
        f"the matches of one batch hold more than {guard:,} events (at row {row})",
        hint="add LIMIT, a shorter WITHIN or a strategy such as MAX, push smaller batches, or use count",
    )


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the rest of a saved state says: how many rows were taken, how many partitions there are, the type of
    times."""

    rows: int
    partitions: int
    time: pa.DataType


@dataclass(frozen=True, slots=True)
class Events:
    """A run of the stream in its total order, or some events of it.

    `first` is the global row number of the first; `numbers` are those of all, where rows between them were left out.
    `times` are in microseconds for timestamps and dates, else the numbers themselves. `keyed` are the number of each
    event's partition, from 0, and its position inside that; None without PARTITION BY, where all are in partition 0 and
    positions are row numbers. For an evaluator that does without positions it is instead what numbers the partitions of
    the events it asks for. Matches that end in these events are reported only when `report` is true, also those that
    become known with later events.
    """

    table: pa.Table
    first: int
    times: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    keyed: tuple[Ints, Ints] | Callable[[Ints], Ints] | None = None
    report: bool = True
    numbers: Ints | None = None

    def at(self, places: Ints) -> tuple[Ints, Ints, Ints]:
        """Row numbers, partitions and positions of the events at these places; the others cost nothing."""
        rows = places + self.first if self.numbers is None else self.numbers[places]
        if self.keyed is None:
            return rows, np.zeros(len(rows), np.int64), rows
        if callable(self.keyed):
            return rows, self.keyed(places), rows
        partitions, positions = self.keyed
        return rows, partitions[places], positions[places]

    def part(self, begin: int, end: int, report: bool) -> Events:
        """The events from place `begin` to before `end`, if there are so many."""
        keyed = self.keyed
        if callable(keyed):
            of_whole = keyed  # under a name that is not narrowed

            def keyed(places: Ints) -> Ints:
                return of_whole(places + begin)
        elif keyed is not None:
            keyed = (keyed[0][begin:end], keyed[1][begin:end])
        table = self.table.slice(begin, end - begin)
        times = self.times[begin:end]
        if self.numbers is None:
            return Events(table, self.first + begin, times, keyed, report)
        return Events(table, int(self.numbers[begin]), times, keyed, report, self.numbers[begin:end])

    @property
    def rows(self) -> Ints:
        if self.numbers is not None:
            return self.numbers
        return np.arange(self.first, self.first + len(self.times), dtype=np.int64)

    def places_of(self, rows: Ints) -> Ints:
        """Where events with these row numbers are."""
        return rows - self.first if self.numbers is None else np.searchsorted(self.numbers, rows)

    @property
    def partitions(self) -> Ints:
        return self.at(np.arange(len(self.times)))[1]


class Evaluator(Protocol):
    positional: bool
    """Whether it needs the positions of events in their partitions."""

    relevant: Ints
    """The rows of the last events taken that a match may contain, ascending."""

    @property
    def labels(self) -> tuple[frozenset[str], ...]:
        """What a label number means: the shown variables an event is bound to. Number 0 is the empty set. There may
        be more after each `advance`; a number keeps its meaning."""
        ...

    def advance(self, events: Events) -> Found:
        """Takes the next events and gives the matches that end in them, by end, in stream order. A match that events
        after its last may still forbid comes as soon as none can, in whatever partition time has passed; all that end
        at one event come together. With a limit, of the matches that end where it is reached it gives the first by
        positions at least, in any order."""
        ...

    def pass_time(self, now: int | float) -> Found:
        """No event at or before the time `now`, counted as `Events.times`, will come any more: the matches that are
        known by that, by end, in stream order."""
        ...

    @property
    def waiting_since(self) -> int | float | None:
        """No match whose last event is earlier than this waits to become known; None: none waits at all."""
        ...

    def finish(self) -> Found:
        """The stream has ended: what was waiting for later events."""
        ...

    @property
    def counted(self) -> int:
        """How many matches have ended so far, when made for counting; `advance` then finds nothing."""
        ...

    def live_rows(self) -> Ints:
        """Ascending row numbers that later matches may contain."""
        ...

    def keep_partitions(self, partitions: Ints) -> None:
        """Forgets all partitions but these (ascending), which are numbered from 0 from now on."""
        ...

    def save(self) -> State: ...

    def load(self, state: State, bounds: Bounds) -> None:
        """Takes over what `save` gave, in a new evaluator. What cannot be its own is refused (`state_checks`)."""
        ...

    @property
    def memory(self) -> int:
        """Bytes held between two calls."""
        ...
