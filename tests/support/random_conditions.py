"""Random conditions over columns of every type, and random tables of these columns."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from cepheid.algebra.cast_types import CastType, cast_type
from cepheid.algebra.conditions import (
    Arithmetic,
    Attribute,
    Call,
    Case,
    Cast,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    RLike,
)
from cepheid.algebra.functions import FUNCTIONS
from cepheid.algebra.kinds import Kind, kind_of
from cepheid.algebra.moments import Interval, Moment, TimeOfDay
from cepheid.algebra.number_types import with_number_types
from cepheid.schema import schema_of
from cepheid.semantics.decimals import EXACT
from support.generators import Choices, chance, pick

NAN, INFINITY = float("nan"), float("inf")
INT64 = (-(2**63), 2**63 - 1)

NUMBERS = (0, 1, 2, -1, 3, 7, -7)
LARGE = (*INT64, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 3037000500)
REALS = (
    0.0,
    1.0,
    2.5,
    -1.0,
    -0.5,
    2.675,
    -7.5,
    NAN,
    INFINITY,
    -INFINITY,
    -0.0,
    1e300,
    2.0**53,
    2.0**63,
    1e-9,
)
TEXTS = ("a", "ab", "b", "", "é", "日本", "ß", "A%_", " a ", "a\nb", "\\", "a\\b", "ΑΣ", "x\0y", "aXa")
READABLE = (
    "1",
    " -2.50",
    "+.5",
    "1.",
    "1e3",
    "9223372036854775808",
    "1e400",
    "NaN",
    "-inf",
    "yes",
    "F\n",
    "2024-02-29",
    "٣",
)
PATTERNS = (
    "%",
    "_",
    "a%",
    "%a",
    "%b%",
    "a_",
    "_%_",
    "\\%",
    "A\\%\\_",
    "%\\",
    "a\\\\b",
    "",
    "日_",
    "a%b",
    "%%",
    "a",
)
REGEXES = ("a", "^.$", "[é日]", "", "a.b", "(?s)a.b", "^$", "\\\\")
TIMES = (
    dt.datetime(2024, 2, 29, 23, 59, 59, 999999),
    dt.datetime(1969, 12, 31, 12, 0, 1),
    dt.datetime(1970, 1, 1),
    dt.datetime(2023, 6, 30, 22, 30),
)
PARIS = "Europe/Paris"
MOMENTS = (Moment(1), Moment(1_700_000_000_123_456_789, PARIS), Moment(0, "UTC"), Moment(999))

DECIMALS: dict[str, tuple[pa.DataType, Sequence[Any]]] = {
    name: (dtype, tuple(None if text is None else Decimal(text) for text in texts))
    for name, dtype, texts in (
        ("m", pa.decimal128(25, 3), ("0", "1", "2.5", "0.1", "-7.125", "9007199254740993.001")),
        ("m2", pa.decimal128(10, 2), ("0.10", "0.30", "-7.12", "2.50", "99999999.99", "-99999999.99", "1")),
        ("m4", pa.decimal128(18, 4), ("0.1", "-0.0001", "99999999999999.9999", "2.5", "3", "-7.125")),
        ("m18", pa.decimal128(18, 18), ("0.1", "-0.999999999999999999", "0.000000000000000001", "0.5", "0")),
        (
            "m38",
            pa.decimal128(38, 10),
            ("0.1", "1234567890123456789012345678.0000000001", "-2.5", "0.3", "0"),
        ),
        ("mi", pa.decimal128(38, 0), ("9" * 38, "-" + "9" * 38, "0", "1", "3", "18446744073709551615")),
        ("mw", pa.decimal256(76, 20), ("9" * 56 + "." + "9" * 20, "0.1", "-2.5", "0", "1e-20", "0.3")),
        ("mf", pa.decimal256(76, 0), ("9" * 76, "-" + "9" * 76, "1", "0", "7")),
        ("ms", pa.decimal128(5, 30), ("99999e-30", "-1e-30", "0", "5e-26")),
        ("mn", pa.decimal128(9, -2), ("100", "-300", "0", "99999999900")),
    )
}
COLUMNS: dict[str, tuple[pa.DataType, Sequence[Any]]] = {
    "i": (pa.int64(), (*NUMBERS, *LARGE)),
    "k": (pa.int64(), NUMBERS),
    "i8": (pa.int8(), NUMBERS),
    "u": (pa.uint64(), (0, 1, 5, 2**63, 2**64 - 1)),
    "v": (pa.float64(), REALS),
    "f": (pa.float32(), (0.0, 1.0, 2.5, -1.5, NAN, INFINITY)),
    **DECIMALS,
    "b": (pa.bool_(), (True, False)),
    "s": (pa.string(), TEXTS),
    "r": (pa.large_string(), TEXTS),
    "q": (pa.string_view(), TEXTS),
    "c": (pa.dictionary(pa.int8(), pa.string()), TEXTS),
    "sn": (pa.string(), READABLE),
    "sp": (pa.large_string(), ("1", "-2.50", "+7", " 40 ")),
    "kd": (pa.dictionary(pa.int32(), pa.int64()), NUMBERS),
    "t": (pa.timestamp("us"), TIMES),
    "ts": (pa.timestamp("s"), tuple(time.replace(microsecond=0) for time in TIMES)),
    "tn": (pa.timestamp("ns"), (0, -1, 1_700_000_000_123_456_789, 86_399_999_999_999)),
    "tz": (pa.timestamp("ms", PARIS), (0, -1, 1_700_000_000_123, 1_709_247_599_000)),
    "te": (pa.timestamp("us"), (*INT64, 0, 999, -1, 2_500_000_000_123_456, 253_402_300_799_999_999)),
    "tl": (pa.timestamp("ns", PARIS), (*INT64, 0, -1, 2_500_000_000_000_000_001)),
    "hs": (pa.time32("s"), (0, 1, 86_399)),
    "hn": (pa.time64("ns"), (0, 1, 10**9, 86_400 * 10**9 - 1)),
    "ls": (pa.duration("s"), (0, 1, -1, 2**43)),
    "ln": (pa.duration("ns"), (*INT64, 0, 1, -1, 10**9)),
    "d": (pa.date32(), tuple(time.date() for time in TIMES)),
    "dm": (pa.date64(), tuple(time.date() for time in TIMES)),
    "n": (pa.null(), (None,)),
}
BY_KIND = {kind: [name for name, (dtype, _) in COLUMNS.items() if kind_of(dtype) is kind] for kind in Kind}
MONEY = tuple(
    Decimal(text)
    for text in (
        "2.5",
        "0.10",
        "12345678901234567.89",
        "9007199254740993.5",
        "18446744073709551615.0",
        "-7.1",
    )
)
LITERALS: dict[Kind, Sequence[Any]] = {
    Kind.NUMBER: (1, 0, 2, 2.5, -1, 0.0, *LARGE, *REALS, 0.1, 0.3, *MONEY),
    Kind.STRING: TEXTS,
    Kind.BOOLEAN: (True, False),
    Kind.TIMESTAMP: (
        *TIMES,
        *MOMENTS,
        dt.datetime(2023, 11, 14, 22, 13, 20, 123456),
        TIMES[0].replace(tzinfo=dt.UTC),
    ),
    Kind.DATE: tuple(time.date() for time in TIMES),
    Kind.TIME: (TimeOfDay(0), TimeOfDay(1), TimeOfDay(10**9)),
    Kind.DURATION: (None, Interval(1), Interval(-(10**9)), Interval(86_400 * 10**9)),
}
_DECIMALS = ((10, 2), (18, 18), (5, 0), (38, 10), (76, 20))
CASTS: dict[Kind, Sequence[CastType]] = {
    Kind.NUMBER: (
        *(cast_type(name, (), None) for name in ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE")),
        *(cast_type("DECIMAL", digits, None) for digits in _DECIMALS),
    ),
    Kind.STRING: (CastType("STRING"),),
    Kind.BOOLEAN: (CastType("BOOLEAN"),),
    Kind.DATE: (CastType("DATE"),),
}
ORDERED = (Kind.NUMBER, Kind.STRING, Kind.TIMESTAMP, Kind.DATE, Kind.TIME, Kind.DURATION, Kind.BOOLEAN)


def typed(condition: Condition, table: pa.Table) -> Condition:
    """The condition as typing leaves it: with decimals among its literals, and types of their results."""
    columns = pa.schema([pa.field("__time", pa.int64()), *table.schema])
    return with_number_types(condition, schema_of(columns, time="__time", type=None))


def expression(choices: Choices, kind: Kind, depth: int) -> Expression:
    """An expression of that kind over the columns above."""
    roll = choices.below(10)
    if kind is Kind.BOOLEAN and depth and roll < 8:
        return condition(choices, depth)
    if depth and roll < 3 and kind in (Kind.NUMBER, Kind.STRING):
        return call(choices, depth, kind)
    if depth and roll == 3 and kind is Kind.NUMBER:
        op = pick(choices, ("+", "-", "*", "/", "%"))
        return Arithmetic(op, expression(choices, kind, depth - 1), expression(choices, kind, depth - 1))
    if depth and roll == 4:
        return (
            cast(choices, depth, kind)
            if kind in CASTS and chance(choices, 50)
            else call(choices, depth, kind)
        )
    if roll == 5:
        return Literal(pick(choices, (*LITERALS[kind], *LITERALS[kind], None)))
    if depth and roll == 6:
        return case(choices, kind, depth)
    if depth and roll == 7 and kind in (Kind.DURATION, Kind.TIMESTAMP):
        return of_times(choices, kind, depth)
    return Attribute(None, pick(choices, (*BY_KIND[kind], *BY_KIND[kind], "n")))


def of_times(choices: Choices, kind: Kind, depth: int) -> Arithmetic:
    """A sum, difference, product or quotient of that kind; typing notes the kind."""
    forms: dict[Kind, Sequence[tuple[Kind, str, Kind]]] = {
        Kind.TIMESTAMP: (
            (Kind.TIMESTAMP, "+", Kind.DURATION),
            (Kind.TIMESTAMP, "-", Kind.DURATION),
            (Kind.DURATION, "+", Kind.TIMESTAMP),
        ),
        Kind.DURATION: (
            *((same, "-", same) for same in (Kind.TIMESTAMP, Kind.DATE, Kind.TIME, Kind.DURATION)),
            (Kind.DURATION, "+", Kind.DURATION),
            (Kind.DURATION, "*", Kind.NUMBER),
            (Kind.NUMBER, "*", Kind.DURATION),
            (Kind.DURATION, "/", Kind.NUMBER),
        ),
    }
    left, op, right = pick(choices, forms[kind])
    one, two = (expression(choices, side, depth - 1) for side in (left, right))
    return Arithmetic(op, one, two, kind=kind)


def case(choices: Choices, kind: Kind, depth: int) -> Case:
    """A CASE whose values have that kind."""
    count = 1 + choices.below(2)
    conditions = tuple(condition(choices, 1) for _ in range(count))
    values = tuple(expression(choices, kind, depth - 1) for _ in range(count))
    last = Literal(None) if chance(choices, 30) else expression(choices, kind, depth - 1)
    return Case(conditions, values, last)


def cast(choices: Choices, depth: int, kind: Kind) -> Cast:
    """A CAST to a type of that kind; typing notes the kind of the operand."""
    target = pick(choices, CASTS[kind])
    of = pick(choices, sorted(target.takes, key=str))
    return Cast(expression(choices, of, depth - 1), target, kind=of)


def call(choices: Choices, depth: int, kind: Kind) -> Call:
    """A function with that kind of result."""
    suitable = [
        function
        for function in FUNCTIONS.values()
        if function.result is kind or (function.result is None and kind in function.parameters[0])
    ]
    function = pick(choices, suitable)
    count = function.fewest + choices.below(2 if function.most != function.fewest else 1)
    kinds = [
        kind if function.result is None else pick(choices, sorted(function.parameter(index), key=str))
        for index in range(count)
    ]
    return Call(function.name, tuple(expression(choices, kind, depth - 1) for kind in kinds))


def condition(choices: Choices, depth: int = 3) -> Condition:
    part = functools.partial(condition, choices, depth - 1)
    simple = functools.partial(expression, choices, depth=depth - 1)
    roll = choices.below(14) if depth > 1 else choices.below(8)
    match roll:
        case 0 | 1 | 2:
            kind = pick(choices, (Kind.NUMBER, *ORDERED))
            return Comparison(pick(choices, ("=", "<>", "<", "<=", ">", ">=")), simple(kind), simple(kind))
        case 3:
            kind = pick(choices, ORDERED)
            return In(simple(kind), tuple(member(choices, kind, depth) for _ in range(1 + choices.below(4))))
        case 4:
            return Like(simple(Kind.STRING), pick(choices, PATTERNS))
        case 5:
            return RLike(simple(Kind.STRING), pick(choices, REGEXES))
        case 6:
            return IsNull(simple(pick(choices, ORDERED)))
        case 7:
            make = cast if chance(choices, 20) else call
            return make(choices, depth, Kind.BOOLEAN)
        case 8 | 9:
            return Conjunction((part(), part()))
        case 10 | 11:
            return Disjunction((part(), part()))
        case 12:
            return Negation(part())
        case _:
            return IsTrue(part())


def member(choices: Choices, kind: Kind, depth: int) -> Expression:
    if chance(choices, 80):
        return Literal(pick(choices, LITERALS[kind]))
    return expression(choices, kind, depth - 1)


def table(choices: Choices) -> pa.Table:
    """A table of a few rows, most columns in two chunks."""
    length, cut = choices.below(7), choices.below(4)
    columns = {}
    for name, (dtype, pool) in COLUMNS.items():
        nullable = chance(choices, 50)
        pool = (pick(choices, pool), pick(choices, pool)) if chance(choices, 50) else pool  # few: they repeat
        values = [pick(choices, (*pool, None) if nullable else pool) for _ in range(length)]
        chunks = [array(values[:cut], dtype), array(values[cut:], dtype)] if cut else [array(values, dtype)]
        columns[name] = pa.chunked_array(chunks, dtype)
    return pa.table(columns).slice(choices.below(2))


def array(values: list[Any], dtype: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(dtype):
        return pa.array(values, dtype.value_type).dictionary_encode().cast(dtype)
    return decimals(values, dtype) if pa.types.is_decimal(dtype) else pa.array(values, dtype)


def decimals(values: list[Any], dtype: pa.DataType) -> pa.Array:
    """Arrow reads no decimals whose digits all stand far behind the point, but has them."""
    words = [0 if value is None else int(Decimal(value).scaleb(dtype.scale, EXACT)) for value in values]
    data = b"".join(word.to_bytes(dtype.bit_width // 8, "little", signed=True) for word in words)
    valid = pa.array([value is not None for value in values], pa.bool_()).buffers()[1]
    return pa.Array.from_buffers(dtype, len(values), [valid, pa.py_buffer(data)])
