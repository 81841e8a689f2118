"""Found matches → a table: one row per match (DESIGN, section 7).

Columns: `match_id`, the partition columns, `start` and `end` (times), one column per shown variable (a struct for one
event, a list of structs for many), `positions` on request. Everything is gathered column by column, and only what is
asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.algebra.variables import Shown
from cepheid.errors import CepheidError, did_you_mean
from cepheid.kernels.hashing import hash_words, match_ids
from cepheid.matches.found import Found, Ints
from cepheid.matches.history import HIGH, LOW, ROW, History, integers
from cepheid.schema import Schema
from cepheid.streams.plain import whole

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


def tabulate(found: Found, labels: Labels, layout: Layout, history: History) -> pa.Table:
    """The matches as a table; `labels` says what the numbers of their labels mean."""
    schema = layout.arrow
    if len(found) == 0:
        return schema.empty_table()
    makers: dict[str, Callable[[], pa.Array]] = {}
    if layout.reads_events:
        events, index = history.find(found.rows)
        first, last = index[found.offsets[:-1]], index[found.offsets[1:] - 1]
        time = layout.schema.time
        makers["match_id"] = lambda: _ids(found, labels, events, index)
        makers |= {name: partial(_take, events[name], last) for name in layout.partition_by}
        makers["start"] = lambda: _take(events[time], first)
        makers["end"] = lambda: _take(events[time], last)
        for variable in layout.shown:
            makers[variable.name] = partial(_variable, variable, found, labels, layout, events, index)
    if layout.positions == ROW:
        makers["positions"] = lambda: _lists(found.offsets, pa.array(found.rows.copy()))
    elif layout.positions is not None:
        numbers = integers(events, layout.positions)
        makers["positions"] = lambda: _lists(found.offsets, pa.array(numbers[index]))
    return pa.Table.from_arrays(
        [_fitting(makers[field.name](), field.type) for field in schema], schema=schema
    )


def _variable(
    variable: Shown, found: Found, labels: Labels, layout: Layout, events: pa.Table, index: Ints
) -> pa.Array:
    has = np.array([variable.name in label for label in labels], np.bool_)[found.labels]
    where = np.flatnonzero(has)
    if not variable.many and len(where) == len(found):
        return _events(layout.schema, events, index[where], None)
    counts = np.concatenate([[0], np.cumsum(has)])[found.offsets]
    if variable.many:
        return _lists(counts, _events(layout.schema, events, index[where], None))
    present = counts[1:] > counts[:-1]
    chosen = np.zeros(len(found), np.int64)
    # The first, where a saved state has labelled several.
    chosen[present] = index[where[counts[:-1][present]]]
    return _events(layout.schema, events, chosen, ~present)


def _events(
    schema: Schema, events: pa.Table, index: Ints, missing: npt.NDArray[np.bool_] | None
) -> pa.StructArray:
    columns = [_take(events[name], index) for name in schema.shown]
    mask = None if missing is None else pa.array(missing)
    return pa.StructArray.from_arrays(columns, fields=list(event_type(schema)), mask=mask)


def _lists(offsets: Ints, values: pa.Array) -> pa.Array:
    if offsets[-1] > np.iinfo(np.int32).max:
        return pa.LargeListArray.from_arrays(pa.array(offsets), values)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values)


def _take(column: pa.ChunkedArray, index: Ints) -> pa.Array:
    return whole(column.take(pa.array(index)))


def _fitting(column: pa.Array, dtype: pa.DataType) -> pa.Array:
    return column if column.type == dtype else column.cast(dtype)


def _ids(found: Found, labels: Labels, events: pa.Table, index: Ints) -> pa.Array:
    digits = np.empty(16 * len(found), np.uint16)
    match_ids(
        found.offsets,
        index,
        integers(events, LOW),
        integers(events, HIGH),
        found.labels,
        *label_hashes(labels),
        digits,
    )
    offsets = 32 * np.arange(len(found) + 1, dtype=np.int64)
    ids = pa.Array.from_buffers(
        pa.large_string(), len(found), [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(digits)]
    )
    return ids.cast(pa.string())


def label_hashes(labels: Labels) -> tuple[Ints, Ints]:
    """Hashes of the variables' names, so that an id depends on the binding but not on how labels are numbered."""
    low, high = np.zeros(len(labels), np.int64), np.zeros(len(labels), np.int64)
    for number, names in enumerate(labels):
        text = "\0".join(sorted(names)).encode()
        words = np.frombuffer(text, np.uint8).astype(np.int64).reshape(1, -1)
        hash_words(words, low[number : number + 1], high[number : number + 1])
    return low, high
