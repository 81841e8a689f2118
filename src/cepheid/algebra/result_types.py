"""The Arrow type of an expression's values, known before any event is read.

In: an expression that typing has settled, and the schema. Out: the type of the column that shows it, the same in every
frame and on Spark. An attribute keeps the type of its column; computed whole numbers have 64 bits, reals are doubles,
decimals have the digits that `number_types` gives them; of times of several units the finest is shown.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from cepheid.algebra.conditions import Attribute, Expression, Literal
from cepheid.algebra.kinds import Kind
from cepheid.algebra.moments import PER_SECOND, Moment, TimeOfDay
from cepheid.algebra.number_types import number_type, sources
from cepheid.schema import Schema


def result_type(expression: Expression, kind: Kind, schema: Schema) -> pa.DataType:
    """The type of the values of an expression of this kind.

    >>> from cepheid.schema import schema_of
    >>> schema = schema_of(pa.schema([("ts", pa.timestamp("ms", "UTC")), ("v", pa.int8())]), time="ts")
    >>> result_type(Attribute("x", "v"), Kind.NUMBER, schema)
    DataType(int8)
    >>> from cepheid.algebra.conditions import Call
    >>> result_type(Call("abs", (Attribute("x", "v"),)), Kind.NUMBER, schema)
    DataType(int64)
    """
    if isinstance(expression, Attribute):
        return schema.arrow.field(expression.name).type
    match kind:
        case Kind.NUMBER:
            return number_type(expression, schema)
        case Kind.STRING:
            return pa.string()
        case Kind.BOOLEAN:
            return pa.bool_()
        case Kind.TIMESTAMP | Kind.DATE | Kind.TIME | Kind.DURATION:
            return _finest(list(_times(expression, schema)))
        case Kind.NULL | Kind.OTHER:
            return pa.null()


def _times(expression: Expression, schema: Schema) -> Iterator[pa.DataType]:
    """The types of the times that an expression chooses from."""
    for source in sources(expression):
        if not isinstance(source, Literal):
            dtype = schema.arrow.field(source.name).type
            yield dtype.value_type if pa.types.is_dictionary(dtype) else dtype
        elif source.value is not None:
            yield _of_literal(source.value)


def _of_literal(value: Any) -> pa.DataType:
    match value:
        case Moment(ns, zone):
            return pa.timestamp("us" if ns % 1000 == 0 else "ns", zone)
        case TimeOfDay(ns):
            return pa.time64("us" if ns % 1000 == 0 else "ns")
        case dt.datetime():
            return pa.timestamp("us")
        case dt.date():
            return pa.date32()
        case other:
            raise AssertionError(other)


def _finest(types: list[pa.DataType]) -> pa.DataType:
    """One type of all of them, with the zone of the first."""
    first = types[0]
    if all(dtype == first for dtype in types):
        return first
    if pa.types.is_date(first):
        return pa.date32()
    unit = max((dtype.unit for dtype in types), key=PER_SECOND.__getitem__)
    if pa.types.is_timestamp(first):
        return pa.timestamp(unit, first.tz)
    if pa.types.is_duration(first):
        return pa.duration(unit)
    return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
