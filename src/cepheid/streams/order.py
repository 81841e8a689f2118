"""The total order of a stream: by time, ties by the order column, else by arrival."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.kernels.columns.events import first_descent, first_out_of_order
from cepheid.schema import Schema
from cepheid.streams.gather import Rows, gather
from cepheid.streams.plain import whole
from cepheid.streams.times import Ints, Times, times_of


def sort_stream(table: pa.Table, schema: Schema) -> pa.Table:
    """The rows in stream order; the table itself when they are already.

    >>> from cepheid.schema import schema_of
    >>> rows = pa.table({"ts": [2, 1, 2], "n": [3, 9, 1]})
    >>> sort_stream(rows, schema_of(rows.schema, time="ts", order="n"))["n"].to_pylist()
    [9, 1, 3]
    """
    times, ties = times_of(table[schema.time], schema.time), _ties(table, schema)
    if _first_unordered(times, ties) < 0:
        return table
    # Both are merges of runs, so what is nearly in order takes little time.
    order = np.argsort(times, kind="stable") if ties is None else np.lexsort((ties, times))
    rows: Rows = order.astype(np.uint32 if len(order) <= 1 << 32 else np.uint64)
    return pa.table([gather(whole(column), rows) for column in table.columns], schema=table.schema)


def first_unordered(table: pa.Table, schema: Schema) -> int:
    """The first row that comes before the one at its left, or -1. NULL comes last in the order column."""
    return _first_unordered(times_of(table[schema.time], schema.time), _ties(table, schema))


def _first_unordered(times: Times, ties: Ints | None) -> int:
    return int(first_descent(times) if ties is None else first_out_of_order(times, ties))


def _ties(table: pa.Table, schema: Schema) -> Ints | None:
    """Whole numbers that are in the order of the order column, if there is one: NULL last, dictionaries by value."""
    if schema.order in (None, schema.time):
        return None
    column = whole(table[schema.order])
    dtype = column.type
    if pa.types.is_integer(dtype) and dtype != pa.uint64() and not column.null_count:
        numbers: Ints = column.cast(pa.int64()).to_numpy()
        return numbers
    ranks = np.asarray(pc.rank(_comparable(column), sort_keys="ascending", tiebreaker="min")).astype(np.int64)
    ranks.flags.writeable = False  # as numbers are that the column holds, so that kernels are compiled once
    return ranks


def _comparable(column: pa.Array) -> pa.Array:
    """In a type that Arrow sorts. Dictionaries sort by value, not by code."""
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return column.cast(pa.int8())
    return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column
