"""The total order of a stream: by time, ties by the order column, else by arrival."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.kernels.columns.events import first_descent
from cepheid.schema import Schema
from cepheid.streams.plain import whole
from cepheid.streams.times import times_of


def sort_stream(table: pa.Table, schema: Schema) -> pa.Table:
    """The rows in stream order; the table itself when they are already.

    >>> from cepheid.schema import schema_of
    >>> rows = pa.table({"ts": [2, 1, 2], "n": [3, 9, 1]})
    >>> sort_stream(rows, schema_of(rows.schema, time="ts", order="n"))["n"].to_pylist()
    [9, 1, 3]
    """
    times = times_of(table[schema.time], schema.time)
    if schema.order is None:
        if first_descent(times) < 0:
            return table
        return table.take(pa.array(np.argsort(times, kind="stable")))
    keys = pa.table({"time": times, "order": _comparable(table[schema.order])})
    # Arrow's sort is stable and puts NULLs last.
    return table.take(pc.sort_indices(keys, [("time", "ascending"), ("order", "ascending")]))


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """In a type that Arrow sorts. Dictionaries sort by value, not by code."""
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return column.cast(pa.int8())
    return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column


def first_unordered(table: pa.Table, schema: Schema) -> int:
    """The first row that comes before the one at its left, or -1. NULL comes last in the order column."""
    times = times_of(table[schema.time], schema.time)
    if schema.order is None or len(table) == 0:
        return int(first_descent(times))
    ranks = pc.rank(whole(_comparable(table[schema.order])), sort_keys="ascending", tiebreaker="min")
    order = ranks.to_numpy(zero_copy_only=False).astype(np.int64)
    back = (times[1:] < times[:-1]) | (times[1:] == times[:-1]) & (order[1:] < order[:-1])
    found = np.flatnonzero(back)
    return int(found[0]) + 1 if len(found) else -1
