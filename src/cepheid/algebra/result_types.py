"""The Arrow type of an expression's values, known before any event is read.

In: an expression that typing has settled, and the schema. Out: the type of the column that shows it, the same in every
frame and on Spark. An attribute keeps the type of its column; computed whole numbers have 64 bits, reals are doubles,
decimals have the digits that `number_types` gives them; of times of several units the finest is shown.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, assert_never

import pyarrow as pa

from cepheid.algebra.conditions import (
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Case,
    Cast,
    Comparison,
    Conjunction,
    Disjunction,
    Element,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    Previous,
    RLike,
)
from cepheid.algebra.elements import type_of
from cepheid.algebra.kinds import Kind
from cepheid.algebra.moments import PER_SECOND, Interval, Moment, TimeOfDay
from cepheid.algebra.number_types import number_type, sources
from cepheid.schema import Schema


def result_type(expression: Expression, kind: Kind, schema: Schema) -> pa.DataType:
    """The type of the values of an expression of this kind.

    >>> from cepheid.schema import schema_of
    >>> schema = schema_of(pa.schema([("ts", pa.timestamp("ms", "UTC")), ("v", pa.int8())]), time="ts")
    >>> result_type(Attribute("x", "v"), Kind.NUMBER, schema)
    DataType(int8)
    >>> result_type(Call("abs", (Attribute("x", "v"),)), Kind.NUMBER, schema)
    DataType(int64)
    """
    match expression:
        case Attribute(_, name):
            return schema.arrow.field(name).type
        case Element():
            return type_of(expression, schema)
        case Cast(_, target):
            return target.arrow
        case Literal() | Arithmetic() | Call() | Case() | Aggregate() | Previous():
            return _of_kind(expression, kind, schema)
        case Comparison() | Conjunction() | Disjunction() | Negation():
            return pa.bool_()
        case IsTrue() | IsNull() | In() | Like() | RLike():
            return pa.bool_()
        case _:
            assert_never(expression)


def _of_kind(expression: Expression, kind: Kind, schema: Schema) -> pa.DataType:
    match kind:
        case Kind.NUMBER:
            return number_type(expression, schema)
        case Kind.STRING:
            return pa.string()
        case Kind.BOOLEAN:
            return pa.bool_()
        case Kind.TIMESTAMP | Kind.DATE | Kind.TIME | Kind.DURATION:
            known = [dtype for dtype in _times(expression, schema) if not pa.types.is_null(dtype)]
            return _finest(known) if known else pa.null()
        case Kind.NULL | Kind.OTHER:
            return pa.null()


def _times(expression: Expression, schema: Schema) -> Iterator[pa.DataType]:
    """The types of the times that an expression chooses from."""
    for source in sources(expression):
        match source:
            case Literal(None | int() | float() | Decimal()):
                pass
            case Literal(value):
                yield _of_literal(value)
            case Arithmetic():
                yield from _computed(source, schema)
            case Attribute() | Element():
                yield type_of(source, schema)
            case Cast(_, target):
                yield target.arrow
            case _:
                assert_never(source)


def _computed(expression: Arithmetic, schema: Schema) -> Iterator[pa.DataType]:
    """The type of a sum or difference: of the finest unit of both sides, and of nanoseconds where a duration is
    multiplied or divided, in the zone of the timestamp."""
    sides = (*_times(expression.left, schema), *_times(expression.right, schema))
    operands = [dtype for dtype in sides if pa.types.is_temporal(dtype)]
    if expression.kind is Kind.NUMBER or not operands:
        return
    units = [dtype.unit for dtype in operands if not pa.types.is_date(dtype)]
    finest = "ns" if expression.op in "*/" else max(units, key=PER_SECOND.__getitem__, default="s")
    if expression.kind is Kind.DURATION:
        yield pa.duration(finest)
    else:
        yield pa.timestamp(
            finest, next((dtype.tz for dtype in operands if pa.types.is_timestamp(dtype)), None)
        )


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
        case Interval(ns):
            return pa.duration("us" if ns % 1000 == 0 else "ns")
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
