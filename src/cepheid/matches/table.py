"""Found matches → a table: one row per match (DESIGN, section 7).

Columns: `match_id`, the partition columns, `start` and `end` (times), one column per shown variable (a struct for one
event, a list of structs for many), `positions` on request. Everything is gathered column by column, and only what is
asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.algebra.variables import Shown
from cepheid.errors import CepheidError, did_you_mean
from cepheid.kernels.matches.ids import BLOCK, match_ids, sequence_ids
from cepheid.kernels.memory.hashing import hash_words
from cepheid.matches.event_rows import Identities, RowsOfMatches
from cepheid.matches.history import ROW, integers
from cepheid.matches.match_arrays import Found, Ints
from cepheid.matches.shown_events import Chosen
from cepheid.schema import Schema
from cepheid.streams.gather import Gathered, Rows, new_array

Labels = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """What the output shows."""

    schema: Schema
    partition_by: tuple[str, ...]
    shown: tuple[Shown, ...]
    positions: str | None  # the hidden column that positions are read from, or None
    columns: tuple[str, ...] | None = None  # which of the columns, None for all

    @property
    def arrow(self) -> pa.Schema:
        """The schema of the output."""
        everything = self._everything
        if self.columns is None:
            return everything
        for name in self.columns:
            if name not in everything.names:
                known = [field.name for field in everything]
                listed = "the columns of the output are " + ", ".join(f"`{other}`" for other in known)
                hint = did_you_mean(name, known, listed)
                raise CepheidError("unknown-column", f"the output has no column `{name}`", hint=hint)
        return pa.schema([everything.field(name) for name in self.columns])

    @property
    def reads_events(self) -> bool:
        """Whether the rows of the matches' events are needed, and not only their numbers."""
        return self.positions != ROW or self.columns is None or set(self.columns) != {"positions"}

    @property
    def _everything(self) -> pa.Schema:
        time = self.schema.arrow.field(self.schema.time).type
        event = event_type(self.schema)
        fields = [pa.field("match_id", pa.string(), nullable=False)]
        fields += [pa.field(name, self.schema.arrow.field(name).type) for name in self.partition_by]
        fields += [pa.field("start", time), pa.field("end", time)]
        for variable in self.shown:
            fields.append(pa.field(variable.name, pa.list_(event) if variable.many else event))
        if self.positions is not None:
            fields.append(pa.field("positions", pa.list_(pa.int64())))
        return pa.schema(fields)


def event_type(schema: Schema) -> pa.StructType:
    """An event as the output shows it: all its columns."""
    return pa.struct([pa.field(name, schema.arrow.field(name).type) for name in schema.shown])


def tabulate(
    found: Found, labels: Labels, layout: Layout, rows: RowsOfMatches, given_away: bool = False
) -> pa.Table:
    """The matches as a table; `labels` says what the numbers of their labels mean. Rows that are given away are not
    copied."""
    schema = layout.arrow
    if len(found) == 0:
        return schema.empty_table()
    makers: dict[str, Callable[[], pa.Array]] = {}
    if layout.reads_events:
        at = rows.events(found.rows)
        chosen, gathered, time = Chosen(found, labels, at.places), Gathered(at.table), layout.schema.time
        makers["match_id"] = lambda: _ids(found, labels, chosen, at.identities())
        makers |= {name: partial(gathered.column, name, chosen.last) for name in layout.partition_by}
        makers["start"] = lambda: gathered.column(time, chosen.first)
        makers["end"] = lambda: gathered.column(time, chosen.last)
        for variable in layout.shown:
            makers[variable.name] = partial(_variable, variable, chosen, gathered, layout.schema)
    if layout.positions == ROW:
        copied = pa.array if given_away else partial(_copied, dtype=np.int64)
        makers["positions"] = lambda: _lists(found.offsets, copied(found.rows))
    elif layout.positions is not None:
        numbers = integers(at.table, layout.positions)
        makers["positions"] = lambda: _lists(found.offsets, pa.array(numbers[at.places.numbers]))
    return pa.Table.from_arrays(
        [_fitting(makers[field.name](), field.type) for field in schema], schema=schema
    )


def _variable(variable: Shown, chosen: Chosen, gathered: Gathered, schema: Schema) -> pa.Array:
    if variable.many:
        offsets, index = chosen.all_of(variable.name)
        return _lists(offsets, _events(schema, gathered, index, None))
    return _events(schema, gathered, *chosen.one_of(variable.name))


def _events(
    schema: Schema, gathered: Gathered, index: Rows, missing: npt.NDArray[np.bool_] | None
) -> pa.StructArray:
    columns = [gathered.column(name, index) for name in schema.shown]
    mask = None if missing is None else pa.array(missing)
    return pa.StructArray.from_arrays(columns, fields=list(event_type(schema)), mask=mask)


def _lists(offsets: Ints, values: pa.Array) -> pa.Array:
    if offsets[-1] > np.iinfo(np.int32).max:
        return pa.LargeListArray.from_arrays(_copied(offsets, np.int64), values)
    return pa.ListArray.from_arrays(_copied(offsets, np.int32), values)


def _copied(numbers: Ints, dtype: npt.DTypeLike) -> pa.Array:
    buffer, copy = new_array(len(numbers), dtype)
    copy[:] = numbers
    return pa.Array.from_buffers(pa.from_numpy_dtype(dtype), len(numbers), [None, buffer])


def _fitting(column: pa.Array, dtype: pa.DataType) -> pa.Array:
    return column if column.type == dtype else column.cast(dtype)


def _ids(found: Found, labels: Labels, chosen: Chosen, identities: Identities) -> pa.Array:
    digits, words = new_array(4 * len(found), np.uint64)
    places, *event_hashes = identities
    at, room = chosen.at(places), np.empty((4, BLOCK), np.uint64)
    hashes = (*event_hashes, found.labels, *label_hashes(labels), room, words)
    if chosen.is_sequence:
        sequence_ids(at, *hashes)
    else:
        match_ids(found.offsets, at[0], *hashes)
    if sys.byteorder == "big":
        words.byteswap(inplace=True)
    return pa.Array.from_buffers(pa.string(), len(found), [None, _id_offsets(len(found)), digits])


@lru_cache(maxsize=1)
def _id_offsets(count: int) -> pa.Buffer:
    """Where each of so many ids begins."""
    return pa.py_buffer(np.arange(0, 32 * count + 1, 32, dtype=np.int32))


def label_hashes(labels: Labels) -> tuple[Ints, Ints]:
    """Hashes of the variables' names, so that an id depends on the binding but not on how labels are numbered."""
    low, high = np.zeros(len(labels), np.int64), np.zeros(len(labels), np.int64)
    for number, names in enumerate(labels):
        text = "\0".join(sorted(names)).encode()
        words = np.frombuffer(text, np.uint8).astype(np.int64).reshape(1, -1)
        hash_words(words, low[number : number + 1], high[number : number + 1])
    return low, high
