"""Arrow columns as Python values, one by one, all of them exact.

In: a column of any type. Out: the values that conditions read: numbers, texts, booleans, `Moment`s for timestamps,
dates, times of day and durations; None for NULL; structs, lists and maps as dicts and lists of such values.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cepheid.algebra.moments import DAY, PER_SECOND, SECOND, Moment


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table.

    >>> rows_of(pa.table({"at": pa.array([1, None], pa.timestamp("ns", "UTC"))}))
    [{'at': Moment(ns=1, zone='UTC')}, {'at': None}]
    """
    if table.num_columns == 0:
        return [{} for _ in range(table.num_rows)]
    names = table.column_names
    columns = [values_of(column) for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def values_of(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """The values of a column.

    >>> values_of(pa.array([2**31 - 1], pa.date32()))[0].date
    (5881580, 7, 11)
    """
    dtype = column.type
    if pa.types.is_dictionary(dtype):
        return values_of(column.cast(dtype.value_type))
    if ticks_ns(dtype) is not None:
        return _moments(column)
    if pa.types.is_nested(dtype):
        return _nested(_in_one(column))
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except (OverflowError, ValueError):
        return [True if there else None for there in column.is_valid().to_pylist()]


def _in_one(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return pa.concat_arrays(chunks) if chunks else pa.array([], column.type)


def _nested(array: pa.Array) -> list[Any]:
    """Structs and maps as dicts, of equal keys of a map the first; lists as lists; else True for what is no NULL."""
    dtype = array.type
    if pa.types.is_struct(dtype):
        rows = _structs(array)
    elif pa.types.is_map(dtype) and not pa.types.is_nested(dtype.key_type):
        rows = _maps(array)
    elif pa.types.is_list(dtype) or pa.types.is_large_list(dtype) or pa.types.is_fixed_size_list(dtype):
        values, lengths = iter(values_of(pc.list_flatten(array))), pc.list_value_length(array)
        rows = [list(islice(values, length or 0)) for length in lengths.to_pylist()]
    else:
        rows = [True] * len(array)
    return [row if there else None for there, row in zip(array.is_valid().to_pylist(), rows, strict=True)]


def _structs(array: pa.StructArray) -> list[Any]:
    names = [array.type.field(number).name for number in range(array.type.num_fields)]
    fields = [values_of(child) for child in array.flatten()]
    rows = zip(*fields, strict=True) if fields else [()] * len(array)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _maps(array: pa.MapArray) -> list[Any]:
    offsets = array.offsets.to_pylist()
    first = offsets[0] if offsets else 0
    keys, items = (
        values_of(child.slice(first, offsets[-1] - first if offsets else 0))
        for child in (array.keys, array.items)
    )
    entries = list(zip(keys, items, strict=True))
    return [dict(reversed(entries[begin - first : end - first])) for begin, end in pairwise(offsets)]


def ticks_ns(dtype: pa.DataType) -> int | None:
    """The nanoseconds between two neighbouring values of a type of time; None for other types.

    >>> ticks_ns(pa.timestamp("ms")), ticks_ns(pa.date32()) == DAY, ticks_ns(pa.int64())
    (1000000, True, None)
    """
    if pa.types.is_date32(dtype):
        return DAY
    if pa.types.is_date64(dtype):
        return SECOND // PER_SECOND["ms"]
    if pa.types.is_timestamp(dtype) or pa.types.is_time(dtype) or pa.types.is_duration(dtype):
        return SECOND // PER_SECOND[dtype.unit]
    return None


def _moments(column: pa.ChunkedArray | pa.Array) -> list[Moment | None]:
    dtype = column.type
    ns = ticks_ns(dtype) or 1
    zone = dtype.tz if pa.types.is_timestamp(dtype) else None
    ticks = column.cast(pa.int32() if dtype.bit_width == 32 else pa.int64()).to_pylist()
    return [None if tick is None else Moment(tick * ns, zone) for tick in ticks]
