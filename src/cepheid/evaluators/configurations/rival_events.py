"""Events that may reject a match, kept from when they come until no match can be near them.

In: events that a NOT forbids, in order. Out: for each of many matches the range of those in its partition between two
places of the stream. The order by partition is made anew when it is asked for after events came.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cepheid.evaluators.event_words import FIELDS, PARTITION, ROW
from cepheid.evaluators.interface import Bounds, State
from cepheid.kernels.columns.events import group_by_partition
from cepheid.matches.match_arrays import Ints
from cepheid.state_checks import (
    bytes_of,
    letters,
    require_ascending,
    require_columns,
    require_indices,
    stream_of,
    words,
)

KINDS = FIELDS
"""The field that has a bit for each kind of rival that the event is."""


class RivalEvents:
    """Of the rows there are the columns of `schema`."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._words: list[Ints] = [np.zeros((FIELDS + 1, 0), np.int64)]
        self._tables: list[pa.Table] = [schema.empty_table()]
        self._by_partition: tuple[Ints, Ints] | None = None

    def add(self, events: Ints, kinds: Ints, table: pa.Table) -> None:
        if not len(kinds):
            return
        self._words.append(np.vstack([events, kinds]))
        self._tables.append(table.select(self._schema.names))
        self._by_partition = None

    @property
    def words(self) -> Ints:
        """The numbers of all events, in the order of the stream."""
        if len(self._words) > 1:
            self._words = [np.concatenate(self._words, axis=1)]
        return self._words[0]

    @property
    def table(self) -> pa.Table:
        if len(self._tables) > 1:
            self._tables = [pa.concat_tables(self._tables).combine_chunks()]
        return self._tables[0]

    def drop(self, count: int) -> None:
        """Forgets the first so many."""
        if count:
            self._words, self._tables = [self.words[:, count:].copy()], [self.table.slice(count)]
            self._by_partition = None

    def between(self, partitions: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints, Ints]:
        """For each of these partitions the events from number `low` on, before number `high`: an order of all events,
        and for each where in it they begin and end."""
        count = self.words.shape[1] + 1
        if self._by_partition is None:
            own = self.words[PARTITION]
            order = group_by_partition(np.ascontiguousarray(own), int(own.max(initial=-1)) + 1)
            self._by_partition = order, own[order] * count + order
        order, keys = self._by_partition
        return (
            order,
            np.searchsorted(keys, partitions * count + low),
            np.searchsorted(keys, partitions * count + high),
        )

    def keep_partitions(self, partitions: Ints) -> None:
        words, table = self.words, self.table
        kept = np.isin(words[PARTITION], partitions)
        words = words[:, kept]
        words[PARTITION] = np.searchsorted(partitions, words[PARTITION])
        self._words, self._tables, self._by_partition = [words], [table.filter(pa.array(kept))], None

    @property
    def memory(self) -> int:
        return sum(words.nbytes for words in self._words) + sum(int(table.nbytes) for table in self._tables)

    def save(self) -> State:
        return {"words": self.words, "table": bytes_of(self.table)}

    def load(self, state: State, bounds: Bounds, kinds: int) -> None:
        table = stream_of(letters(state, "table"), "table")
        require_columns(table, self._schema, "table")
        given = words(state, "words", FIELDS + 1, len(table))
        require_indices(given[ROW], 0, bounds.rows, "rivals")
        require_ascending(given[ROW], "rivals", strictly=True)
        require_indices(given[PARTITION], 0, max(1, bounds.partitions), "rivals")
        require_indices(given[KINDS], 0, 1 << kinds, "rivals")
        self._words, self._tables, self._by_partition = [given], [table], None
