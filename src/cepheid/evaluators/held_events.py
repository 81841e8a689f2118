"""Events that are held, in order, until what comes later is known.

In: events as they come, numbers about each, and their rows as tables. Out: the first of them, whenever asked. Adding
and dropping cost constant time per event, however many are held.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cepheid.evaluators.interface import State
from cepheid.matches.match_arrays import Ints
from cepheid.state_checks import (
    bytes_of,
    letters,
    require,
    require_columns,
    require_indices,
    stream_of,
    words,
)

_FEW = 1 << 12  # rows, of which tables are put together before they are given on


class Run(NamedTuple):
    """Rows that came together: matches that end there are all reported, or none is."""

    table: pa.Table
    report: bool


class HeldEvents:
    """`words[field, event]` are numbers of the events. Events have a number themselves: `first` is that of the first
    that is held. Of their rows there are the columns of `schema`."""

    def __init__(self, fields: int, schema: pa.Schema) -> None:
        self._words = np.zeros((fields, 64), np.int64)
        self._begin = self._end = 0
        self._schema = schema
        self._runs: deque[Run] = deque()
        self.first = 0

    @property
    def names(self) -> list[str]:
        """The columns of the rows."""
        return list(self._schema.names)

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def end(self) -> int:
        """The number that the next event will have."""
        return self.first + len(self)

    @property
    def words(self) -> Ints:
        return self._words[:, self._begin : self._end]

    def add(self, fields: Sequence[Ints], table: pa.Table, report: bool) -> None:
        held, more = len(self), len(table)
        if self._end + more > self._words.shape[1]:
            room = np.zeros((len(self._words), 2 * (held + more)), np.int64)
            room[:, :held] = self.words
            self._words, self._begin, self._end = room, 0, held
        for field, values in zip(self._words, fields, strict=True):
            field[self._end : self._end + more] = values
        self._end += more
        if more:
            self._runs.append(Run(table, report))

    def take(self, count: int) -> Iterator[tuple[Run, Ints]]:
        """The first so many events, held no longer, in runs with their numbers."""
        few: list[pa.Table] = []
        taken = 0
        while count:
            table, report = self._runs.popleft()
            part = min(len(table), count)
            if part < len(table):
                self._runs.appendleft(Run(table.slice(part), report))
            few.append(table.slice(0, part))
            count, taken = count - part, taken + part
            goes_on = count > 0 and self._runs[0].report == report
            if taken >= _FEW or not goes_on:
                events = self.words[:, :taken]
                self._begin, self.first = self._begin + taken, self.first + taken
                yield Run(_together(few), report), events
                few, taken = [], 0

    @property
    def memory(self) -> int:
        return self._words.nbytes + sum(int(table.nbytes) for table, _ in self._runs)

    def save(self) -> State:
        tables = [table for table, _ in self._runs]
        runs = [(len(table), int(report)) for table, report in self._runs]
        return {
            "events": self.words.copy(),
            "table": bytes_of(_together(tables) if tables else self._schema.empty_table()),
            "runs": np.array(runs, np.int64).reshape(-1, 2),
        }

    def load(self, state: State) -> None:
        table = stream_of(letters(state, "table"), "table")
        require_columns(table, self._schema, "table")
        self._words = words(state, "events", len(self._words), len(table))
        self._begin, self._end, self.first = 0, len(table), 0
        lengths = words(state, "runs", None, 2)
        require_indices(lengths[:, 0], 1, len(table) + 1, "runs")
        require(int(lengths[:, 0].sum()) == len(table), "its held rows are not as many as its runs say")
        self._runs = deque()
        at = 0
        for length, report in lengths.tolist():
            self._runs.append(Run(table.slice(at, length), bool(report)))
            at += length


def _together(tables: list[pa.Table]) -> pa.Table:
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables).combine_chunks()
