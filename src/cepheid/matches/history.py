"""The rows that later matches may still contain, found again by their number.

Rows come in ascending order of their number and are kept in chunks whose sizes fall at least by half, so that adding
many small batches costs logarithmic copying per row. Beside its columns a row keeps its number, its position in
its partition, and two hashes that it is known by.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cepheid.matches.event_rows import EventRows, Places
from cepheid.matches.match_arrays import Ints
from cepheid.state_checks import require, require_ascending, require_columns, require_indices
from cepheid.streams.plain import whole

# No column of a stream has a name that begins with NUL: `schema_of` sees to it.
ROW, POSITION, LOW, HIGH = "\0row", "\0position", "\0low", "\0high"
HIDDEN = (ROW, POSITION, LOW, HIGH)


class History:
    """`hidden`: the columns beside those of the stream, the number among them."""

    def __init__(self, schema: pa.Schema, hidden: tuple[str, ...] = HIDDEN) -> None:
        self._hidden = hidden
        self._schema = pa.schema([*schema, *(pa.field(name, pa.int64()) for name in hidden)])
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

    def find(self, rows: Ints) -> tuple[pa.Table, Ints]:
        """The table of all rows kept and, for each number asked for, where in it that row is."""
        table = pa.concat_tables(self._chunks) if self._chunks else self._schema.empty_table()
        if len(rows) > len(table):
            table = table.combine_chunks()  # looked up in faster than it is copied
        return table, places_in(integers(table, ROW), rows)

    def events(self, rows: Ints) -> EventRows:
        """The events of matches that have these row numbers."""
        table, index = self.find(rows)
        places = Places(index, 0, len(table))
        return EventRows(table, places, lambda: (places, integers(table, LOW), integers(table, HIGH)))

    def save(self) -> pa.Table:
        return pa.concat_tables(self._chunks).combine_chunks() if self._chunks else self._schema.empty_table()

    def load(self, table: pa.Table, rows: int) -> None:
        """Takes over what `save` gave, after so many rows of the stream."""
        require_columns(table, self._schema, "history")
        for name in self._hidden:
            require(table[name].null_count == 0, "its history has rows without a number")
        numbers = integers(table, ROW)
        require_indices(numbers, 0, rows, "history")
        require_ascending(numbers, "history", strictly=True)
        self._chunks = [table.combine_chunks()] if len(table) else []

    def require(self, rows: Ints) -> None:
        """All rows with these numbers (ascending) are here."""
        known = integers(self.save(), ROW)
        places = np.searchsorted(known, rows)
        inside = len(rows) == 0 or places[-1] < len(known)
        require(
            inside and bool((known[places] == rows).all()),
            "partial matches contain rows that it has not kept",
        )

    @property
    def memory(self) -> int:
        return sum(chunk.nbytes for chunk in self._chunks)


def places_in(known: Ints, rows: Ints) -> Ints:
    """Where each of `rows` is in `known`, which ascends and has them all: by a table, unless searching for them is
    cheaper than its memory (an entry takes about 1 ns, a search 90)."""
    if len(known) and known[-1] - known[0] < 8 * len(known) + 64 * len(rows) + 1024:
        places = np.zeros(known[-1] - known[0] + 1, np.int64)
        places[known - known[0]] = np.arange(len(known))
        found: Ints = places[rows - known[0]]
        return found
    return np.searchsorted(known, rows)


def integers(table: pa.Table, name: str) -> Ints:
    numbers: Ints = whole(table[name]).to_numpy(zero_copy_only=False)
    return numbers
