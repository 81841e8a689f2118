"""Forms: how the value of an expression over one event is kept as a word of 64 bits.

In: a typed expression and the schema. Out: a tag of `kernels.conditions.values`, the same for all values: REAL for
doubles, `DECIMAL + scale` or `WIDE + scale` for decimals, BIG for unsigned numbers, NULL if every value is NULL. ANY
where rows differ, as in `coalesce(whole, real)`: two words, a tag and a value.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal
from typing import assert_never

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
    children,
    type_of_value,
)
from cepheid.algebra.elements import type_of
from cepheid.algebra.functions import FUNCTIONS
from cepheid.algebra.kinds import Kind, kind_of
from cepheid.algebra.moments import Interval, Moment, TimeOfDay
from cepheid.algebra.number_types import decimal_type
from cepheid.algebra.precision import MOST_WIDE_DIGITS, DecimalType
from cepheid.errors import CepheidError
from cepheid.evaluators.configurations.decimal_words import form_of_decimal
from cepheid.kernels.conditions import values as tags
from cepheid.kernels.conditions.decimals import DECIMAL
from cepheid.schema import Schema
from cepheid.semantics.numbers import instant
from cepheid.semantics.rows import ticks_ns

_REAL_RESULT = ("sqrt", "power", "ln", "exp", "sign")
_OF_FIRST_ARGUMENT = ("round", "nullif")
_OF_UNIT = {"s": tags.SECONDS, "ms": tags.MILLIS, "us": tags.MICROS, "ns": tags.NANOS}


class NoTestError(CepheidError):
    """A condition of several events has no compiled form; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__("not-yet", reason)


def form_of(expression: Expression, schema: Schema) -> int:
    """The form of an expression's values.

    >>> from cepheid.schema import schema_of
    >>> schema = schema_of(pa.schema([("ts", pa.int64()), ("price", pa.float32())]), time="ts")
    >>> total = Arithmetic("+", Attribute(None, "ts"), Attribute(None, "price"))
    >>> form_of(Attribute(None, "ts"), schema) == tags.WHOLE, form_of(total, schema) == tags.REAL
    (True, True)
    """
    exact = decimal_type(expression, schema)
    if exact is not None:
        return _of_decimals(expression, exact)
    match expression:
        case Literal(value):
            return _of_literal(value)
        case Attribute(_, name):
            return _of_column(name, schema.arrow.field(name).type)
        case Arithmetic(op, left, right) if expression.kind is not None:
            return _of_times(op, expression.kind, form_of(left, schema), form_of(right, schema))
        case Arithmetic(op, left, right):
            return _of_arithmetic(op, form_of(left, schema), form_of(right, schema))
        case Call(function, arguments):
            forms = [form_of(argument, schema) for argument in arguments]
            if function in ("floor", "ceil") and forms[0] == tags.ANY and reads_decimals(expression, schema):
                return tags.ANY
            return _of_call(function, forms)
        case Comparison() | Conjunction() | Disjunction() | Negation():
            return tags.TRUTH
        case IsTrue() | IsNull() | In() | Like() | RLike():
            return tags.TRUTH
        case Element(_, key):
            return _of_column(str(key), type_of(expression, schema))
        case Case(_, values, otherwise):
            return _shared(form_of(value, schema) for value in (*values, otherwise))
        case Cast(_, target):
            return _of_column(str(target), target.arrow)
        case Aggregate() | Previous():
            raise AssertionError(expression)  # `attach` leaves none on events
        case _:
            assert_never(expression)


def reads_decimals(expression: Expression, schema: Schema) -> bool:
    """Whether some value below may be a decimal."""
    if isinstance(expression, Element) or not children(expression):
        return decimal_type(expression, schema) is not None
    return any(reads_decimals(child, schema) for child in children(expression))


def computes_times(expression: Expression) -> bool:
    """Whether something below is computed of times or durations."""
    if isinstance(expression, Arithmetic) and expression.kind is not None:
        return True
    return any(computes_times(child) for child in children(expression) if not isinstance(child, Literal))


def _of_decimals(expression: Expression, exact: DecimalType) -> int:
    form = form_of_decimal(exact)
    if form is None and isinstance(expression, Attribute):
        raise NoTestError(f"`{expression.name}` has more than {MOST_WIDE_DIGITS} digits around the point")
    return tags.ANY if form is None else form


def is_masked(expression: Expression, form: int, schema: Schema) -> bool:
    """Whether values use all words, so that NULL needs a mask.

    >>> from cepheid.schema import schema_of
    >>> schema = schema_of(pa.schema([("ts", pa.int64()), ("tmp", pa.int16())]), time="ts")
    >>> [is_masked(Attribute(None, name), tags.WHOLE, schema) for name in ("ts", "tmp")]
    [True, False]
    """
    if form == tags.BIG:
        return True
    if form != tags.WHOLE or not isinstance(expression, Attribute):
        return form == tags.WHOLE
    dtype = schema.arrow.field(expression.name).type
    return bool((dtype.value_type if pa.types.is_dictionary(dtype) else dtype).bit_width == 64)


def _of_literal(value: type_of_value) -> int:
    match value:
        case None:
            return tags.NULL
        case bool():
            return tags.TRUTH
        case int():
            if not -(2**63) <= value < 2**64:
                raise NoTestError(f"{value} is no number of 64 bits")
            return tags.WHOLE if value < 2**63 else tags.BIG
        case float():
            return tags.REAL
        case Decimal():
            return tags.ANY  # with more digits than any column
        case str():
            return tags.TEXT
        case dt.date() | Moment() | TimeOfDay() | Interval():
            return tags.MICROS if instant(value) % 1000 == 0 else tags.NANOS
        case _:
            assert_never(value)


def _of_column(name: str, dtype: pa.DataType) -> int:
    if pa.types.is_dictionary(dtype):
        return _of_column(name, dtype.value_type)
    match kind_of(dtype):
        case Kind.NUMBER if dtype == pa.uint64():
            return tags.BIG
        case Kind.NUMBER:
            return tags.WHOLE if pa.types.is_integer(dtype) else tags.REAL
        case Kind.STRING:
            return tags.TEXT
        case Kind.BOOLEAN:
            return tags.TRUTH
        case Kind.DURATION:
            return _OF_UNIT[dtype.unit]
        case Kind.TIMESTAMP | Kind.DATE | Kind.TIME:
            return tags.NANOS if ticks_ns(dtype) == 1 else tags.MICROS
        case Kind.NULL:
            return tags.NULL
        case Kind.OTHER:
            raise NoTestError(f"`{name}` has type {dtype}, whose values cannot be compared")


def _of_arithmetic(op: str, left: int, right: int) -> int:
    if tags.NULL in (left, right):
        return tags.NULL
    if max(left, right) >= DECIMAL and tags.REAL not in (left, right):
        return tags.ANY  # decimals whose result has no type yet
    if op == "/" or tags.REAL in (left, right):
        return tags.REAL
    if tags.ANY in (left, right):
        return tags.ANY
    # Sums that leave 64 bits are NULL; a remainder of unsigned numbers is unsigned.
    return left if op == "%" else tags.WHOLE


def _of_times(op: str, kind: Kind, left: int, right: int) -> int:
    """Sums and differences are in the finer unit, products and quotients by numbers in nanoseconds."""
    if tags.NULL in (left, right):
        return tags.NULL
    if kind is Kind.NUMBER:
        return tags.REAL
    return tags.NANOS if op in "*/" else max(left, right, key=lambda form: tags.TIMES[form])


def _of_call(function: str, arguments: list[int]) -> int:
    result = FUNCTIONS[function].result
    if function in _OF_FIRST_ARGUMENT:
        return arguments[0]
    if result is None:
        return _shared(arguments)
    if tags.NULL in arguments:
        return tags.NULL
    if result is Kind.STRING:
        return tags.TEXT
    if result is Kind.BOOLEAN:
        return tags.TRUTH
    if function in _REAL_RESULT:
        return tags.REAL
    return tags.WHOLE if function != "abs" or arguments[0] == tags.BIG else arguments[0]


def _shared(forms: Iterable[int]) -> int:
    """The form of a value chosen among several."""
    distinct = {form for form in forms if form != tags.NULL}
    return tags.NULL if not distinct else distinct.pop() if len(distinct) == 1 else tags.ANY
