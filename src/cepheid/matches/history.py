"""The rows that later matches may still contain, found again by their number.

Rows come in ascending order of their number and are kept in chunks whose sizes fall at least by half, so that adding
many small batches costs logarithmic copying per row. Beside its columns a row keeps its number, lane, position in
the lane, and the tie and rank that its identity is made of.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cepheid.matches.found import Ints

# No column of a stream has a name that begins with NUL: `schema_of` sees to it.
ROW, LANE, POSITION, TIE, RANK = "\0row", "\0lane", "\0position", "\0tie", "\0rank"
HIDDEN = (ROW, LANE, POSITION, TIE, RANK)


class History:
    def __init__(self, schema: pa.Schema) -> None:
        fields = [*schema, *(pa.field(name, pa.int64()) for name in HIDDEN)]
        self._schema = pa.schema(fields)
        self._chunks: list[pa.Table] = []

    def __len__(self) -> int:
        return sum(len(chunk) for chunk in self._chunks)

    def add(self, table: pa.Table) -> None:
        """Appends rows with all their hidden columns."""
        if len(table) == 0:
            return
        self._chunks.append(table)
        while len(self._chunks) > 1 and len(self._chunks[-2]) <= 2 * len(self._chunks[-1]):
            last = self._chunks.pop()
            self._chunks[-1] = pa.concat_tables([self._chunks[-1], last]).combine_chunks()

    def keep(self, rows: Ints) -> None:
        """Forgets all rows but those with these numbers (ascending)."""
        if len(rows) == 0:
            self._chunks = []
        elif self._chunks:
            table, index = self.find(rows)
            self._chunks = [table.take(pa.array(index)).combine_chunks()]

    def renumber_lanes(self, lanes: Ints) -> None:
        """The lanes in this list (ascending) are numbered from 0 from now on; rows of others are forgotten."""
        table = self.save()
        old = integers(table, LANE)
        kept = np.isin(old, lanes)
        table = table.filter(pa.array(kept))
        place = table.column_names.index(LANE)
        new = pa.array(np.searchsorted(lanes, old[kept]))
        self.load(table.set_column(place, LANE, new).combine_chunks())

    def find(self, rows: Ints) -> tuple[pa.Table, Ints]:
        """The table of all rows kept and, for each number asked for, where in it that row is."""
        table = pa.concat_tables(self._chunks) if self._chunks else self._schema.empty_table()
        known = integers(table, ROW)
        return table, np.searchsorted(known, rows)

    def save(self) -> pa.Table:
        return pa.concat_tables(self._chunks).combine_chunks() if self._chunks else self._schema.empty_table()

    def load(self, table: pa.Table) -> None:
        self._chunks = [table] if len(table) else []

    @property
    def memory(self) -> int:
        return sum(chunk.nbytes for chunk in self._chunks)


def integers(table: pa.Table, name: str) -> Ints:
    numbers: Ints = table[name].combine_chunks().to_numpy(zero_copy_only=False)
    return numbers
