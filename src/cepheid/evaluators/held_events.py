"""Events that are held, in order, until what comes later is known.

In: events as they come. Out: the first of them, whenever asked. `HeldRows` has all rows of a run of the stream, as the
tables that they came in; `HeldEvents` numbers about some of these, in one array. Adding and dropping cost constant time
per event, however many are held.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from math import inf
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cepheid.evaluators.interface import Bounds, Events, State
from cepheid.evaluators.window import times
from cepheid.matches.match_arrays import Ints
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
from cepheid.streams.times import Time, Times, recent

_FEW = 1 << 12  # rows, of which tables are put together before they are given on
_NO_TIMES = np.zeros(0, np.int64)


class HeldRun(NamedTuple):
    """Some neighbouring rows: of all of them, or of none, matches that end there are reported."""

    table: pa.Table
    times: Times
    report: bool

    def part(self, begin: int, end: int) -> HeldRun:
        return HeldRun(self.table.slice(begin, end - begin), self.times[begin:end], self.report)


class HeldRows:
    """Rows `begin` … `end` - 1 of the stream, with the columns of these `names`."""

    def __init__(self, schema: pa.Schema, names: Sequence[str]) -> None:
        self._schema = pa.schema([schema.field(name) for name in names])
        self._runs: deque[HeldRun] = deque()
        self.begin = self.end = 0

    def add(self, events: Events) -> None:
        if not self._runs:
            self.begin = self.end = events.first
        self._runs.append(HeldRun(events.table.select(self._schema.names), events.times, events.report))
        self.end += len(events.times)

    @property
    def last_time(self) -> Time | None:
        return self._runs[-1].times[-1] if self._runs else None

    def older(self, now: Time, amount: int | float) -> int:
        """The first row that is no more than `amount` older than the time `now`, which no row is later than."""
        at = self.begin
        for run in self._runs if amount < inf else ():
            is_recent = recent(run.times, now, amount)
            if is_recent[-1]:
                return at + int(np.argmax(is_recent))
            at += len(run.times)
        return at

    def take(self, until: int) -> Iterator[tuple[HeldRun, int]]:
        """The rows before `until` in runs, each with the number of its first; they are held no longer."""
        few: list[HeldRun] = []
        count = 0
        while self.begin < until:
            run = self._runs.popleft()
            taken = min(len(run.times), until - self.begin)
            if taken < len(run.times):
                self._runs.appendleft(run.part(taken, len(run.times)))
            few.append(run.part(0, taken))
            count += taken
            self.begin += taken
            goes_on = bool(self._runs) and self._runs[0].report == run.report and self.begin < until
            if count >= _FEW or not goes_on:
                yield _together(few), self.begin - count
                few, count = [], 0

    @property
    def memory(self) -> int:
        return sum(int(run.table.nbytes) + run.times.nbytes for run in self._runs)

    def save(self) -> State:
        whole = (
            _together(list(self._runs))
            if self._runs
            else HeldRun(self._schema.empty_table(), _NO_TIMES, True)
        )
        lengths = [(len(run.times), int(run.report)) for run in self._runs]
        return {
            "begin": np.array([self.begin]),
            "table": bytes_of(whole.table),
            "times": whole.times,
            "runs": np.array(lengths, np.int64).reshape(-1, 2),
        }

    def load(self, state: State, bounds: Bounds) -> None:
        table = stream_of(letters(state, "table"), "table")
        require_columns(table, self._schema, "table")
        given = times(state, "times", len(table), bounds)
        require_ascending(given, "times")
        lengths = words(state, "runs", None, 2)
        require_indices(lengths[:, 0], 1, len(table) + 1, "runs")
        require(int(lengths[:, 0].sum()) == len(table), "its held rows are not as many as its runs say")
        self.begin = whole_number(state, "begin", 0, bounds.rows)
        self.end = self.begin + len(table)
        require(self.end == bounds.rows or not len(table), "its held rows are not the last")
        self._runs = deque()
        at = 0
        for length, report in lengths.tolist():
            self._runs.append(HeldRun(table, given, bool(report)).part(at, at + length))
            at += length


def _together(runs: list[HeldRun]) -> HeldRun:
    if len(runs) == 1:
        return runs[0]
    table = pa.concat_tables([run.table for run in runs]).combine_chunks()
    return HeldRun(table, np.concatenate([run.times for run in runs]), runs[0].report)


class HeldEvents:
    """Numbers of events, `words[field, event]`. Events have numbers themselves: `first` is the first that is held."""

    def __init__(self, fields: int) -> None:
        self._words = np.zeros((fields, 64), np.int64)
        self._begin = self._end = 0
        self.first = 0

    @property
    def end(self) -> int:
        """The number that the next event will have."""
        return self.first + self._end - self._begin

    @property
    def words(self) -> Ints:
        return self._words[:, self._begin : self._end]

    def add(self, fields: Sequence[Ints]) -> None:
        held, more = self._end - self._begin, len(fields[0])
        if self._end + more > self._words.shape[1]:
            room = np.zeros((len(self._words), 2 * (held + more)), np.int64)
            room[:, :held] = self.words
            self._words, self._begin, self._end = room, 0, held
        for field, values in zip(self._words, fields, strict=True):
            field[self._end : self._end + more] = values
        self._end += more

    def drop(self, count: int) -> None:
        """Holds the first so many no longer."""
        self._begin += count
        self.first += count

    @property
    def memory(self) -> int:
        return self._words.nbytes

    def load(self, state: State, name: str) -> None:
        self._words = words(state, name, len(self._words), None)
        self._begin, self._end, self.first = 0, self._words.shape[1], 0
