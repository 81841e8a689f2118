"""Kinds: the types that conditions tell apart, coarser than the columns' own."""

from __future__ import annotations

from enum import Enum

import pyarrow as pa


class Kind(Enum):
    """The value is how an error names it."""

    NUMBER = "a number"
    STRING = "a string"
    BOOLEAN = "a boolean"
    TIMESTAMP = "a timestamp"
    DATE = "a date"
    TIME = "a time of day"
    DURATION = "a duration"
    NULL = "NULL"  # the literal; it goes with every kind
    OTHER = "of another type"  # lists, structs, binary, …: only IS NULL takes them


def kind_of(dtype: pa.DataType) -> Kind:
    """The kind of a column.

    >>> kind_of(pa.dictionary(pa.int32(), pa.string())), kind_of(pa.decimal128(10, 2))
    (<Kind.STRING: 'a string'>, <Kind.NUMBER: 'a number'>)
    """
    if pa.types.is_dictionary(dtype):
        return kind_of(dtype.value_type)
    for holds, kind in _TESTS:
        if holds(dtype):
            return kind
    return Kind.OTHER


_TESTS = (
    (pa.types.is_integer, Kind.NUMBER),
    (pa.types.is_floating, Kind.NUMBER),
    (pa.types.is_decimal, Kind.NUMBER),
    (pa.types.is_string, Kind.STRING),
    (pa.types.is_large_string, Kind.STRING),
    (pa.types.is_string_view, Kind.STRING),
    (pa.types.is_boolean, Kind.BOOLEAN),
    (pa.types.is_timestamp, Kind.TIMESTAMP),
    (pa.types.is_date, Kind.DATE),
    (pa.types.is_time, Kind.TIME),
    (pa.types.is_duration, Kind.DURATION),
    (pa.types.is_null, Kind.NULL),
)
