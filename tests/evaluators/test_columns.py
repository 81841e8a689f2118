"""Conditions over whole columns: the same rows as the definition gives, one by one."""

from __future__ import annotations

import datetime as dt
import functools
import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepheid.algebra.conditions import (
    FALSE,
    TRUE,
    Arithmetic,
    Attribute,
    Call,
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
from cepheid.evaluators.columns import Columns, choose, functions, holds
from cepheid.evaluators.columns import table as columns_table
from cepheid.evaluators.columns.distinct import distinct
from cepheid.evaluators.columns.kinds import Numbers
from cepheid.evaluators.columns.rounding import rounded
from cepheid.semantics import values as definition
from cepheid.semantics.numbers import round_half_away
from generators import Choices, Drawn, chance, pick

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

COLUMNS: dict[str, tuple[pa.DataType, Sequence[Any]]] = {
    "i": (pa.int64(), (*NUMBERS, *LARGE)),
    "k": (pa.int64(), NUMBERS),
    "i8": (pa.int8(), NUMBERS),
    "u": (pa.uint64(), (0, 1, 5, 2**63, 2**64 - 1)),
    "v": (pa.float64(), REALS),
    "f": (pa.float32(), (0.0, 1.0, 2.5, -1.5, NAN, INFINITY)),
    "m": (
        pa.decimal128(25, 3),
        tuple(Decimal(text) for text in ("0", "1", "2.5", "0.1", "-7.125", "9007199254740993.001")),
    ),
    "b": (pa.bool_(), (True, False)),
    "s": (pa.string(), TEXTS),
    "r": (pa.large_string(), TEXTS),
    "q": (pa.string_view(), TEXTS),
    "c": (pa.dictionary(pa.int8(), pa.string()), TEXTS),
    "kd": (pa.dictionary(pa.int32(), pa.int64()), NUMBERS),
    "t": (pa.timestamp("us"), TIMES),
    "ts": (pa.timestamp("s"), tuple(time.replace(microsecond=0) for time in TIMES)),
    "tn": (pa.timestamp("ns"), (0, -1, 1_700_000_000_123_456_789, 86_399_999_999_999)),
    "tz": (pa.timestamp("ms", PARIS), (0, -1, 1_700_000_000_123, 1_709_247_599_000)),
    "d": (pa.date32(), tuple(time.date() for time in TIMES)),
    "dm": (pa.date64(), tuple(time.date() for time in TIMES)),
    "n": (pa.null(), (None,)),
}
BY_KIND = {kind: [name for name, (dtype, _) in COLUMNS.items() if kind_of(dtype) is kind] for kind in Kind}
LITERALS: dict[Kind, Sequence[Any]] = {
    Kind.NUMBER: (1, 0, 2, 2.5, -1, 0.0, *LARGE, *REALS, Decimal("2.5")),
    Kind.STRING: TEXTS,
    Kind.BOOLEAN: (True, False),
    Kind.TIMESTAMP: (*TIMES, dt.datetime(2023, 11, 14, 22, 13, 20, 123456), TIMES[0].replace(tzinfo=dt.UTC)),
    Kind.DATE: tuple(time.date() for time in TIMES),
}
ORDERED = (Kind.NUMBER, Kind.STRING, Kind.TIMESTAMP, Kind.DATE, Kind.BOOLEAN)


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
        return call(choices, depth, kind)
    if roll == 5:
        return Literal(pick(choices, (*LITERALS[kind], *LITERALS[kind], None)))
    return Attribute(None, pick(choices, (*BY_KIND[kind], *BY_KIND[kind], "n")))


def call(choices: Choices, depth: int, kind: Kind) -> Call:
    """A function with that kind of result."""
    suitable = [
        function
        for function in FUNCTIONS.values()
        if function.result is kind or (function.result is None and kind in function.parameters[0])
    ]
    function = pick(choices, suitable)
    count = function.fewest + choices.below(2 if function.repeated or function.optional else 1)
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
            return call(choices, depth, Kind.BOOLEAN)
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
    return pa.array(values, dtype)


@st.composite
def tables_and_conditions(draw: Callable[[st.SearchStrategy[int]], int]) -> tuple[pa.Table, Condition]:
    choices = Drawn(draw)
    return table(choices), condition(choices)


def expected(condition: Condition, table: pa.Table) -> list[bool]:
    return [definition.holds(condition, {None: row}) for row in table.to_pylist()]


@settings(max_examples=400)
@given(tables_and_conditions())
def test_a_mask_over_columns_is_the_definition_row_by_row(case: tuple[pa.Table, Condition]) -> None:
    table, condition = case
    assert holds(condition, table).tolist() == expected(condition, table)


X = Attribute(None, "x")


def check(condition: Condition, *values: Any, type: pa.DataType | None = None) -> list[bool]:
    """The mask over a table of one column x, after comparing it with the definition."""
    table = pa.table({"x": pa.array(values, type)})
    mask = holds(condition, table).tolist()
    assert mask == expected(condition, table)
    return mask


def test_every_function_is_known_in_both_forms() -> None:
    assert set(FUNCTIONS) <= {*functions._STRICT, *choose.CHOOSERS}


def test_null_does_not_hold_and_neither_does_its_negation() -> None:
    positive = Comparison(">", X, Literal(0))
    assert check(positive, 1, 0, None) == [True, False, False]
    assert check(Negation(positive), 1, 0, None) == [False, True, False]
    assert check(Negation(IsTrue(positive)), 1, 0, None) == [False, True, True]


def test_nan_equals_nothing_and_differs_from_everything() -> None:
    assert check(Comparison("=", X, X), NAN, 1.0) == [False, True]
    assert check(Comparison("<>", X, Literal(NAN)), NAN, 1.0) == [True, True]
    assert check(Comparison(">=", X, Literal(0.0)), NAN, INFINITY) == [False, True]


def test_whole_numbers_and_reals_compare_exactly() -> None:
    large = 2**53 + 1
    assert check(Comparison("=", X, Literal(float(2**53))), large, 2**53) == [False, True]
    assert check(Comparison("<", X, Literal(2.0**63)), INT64[1], 0) == [True, True]
    assert check(Comparison(">", X, Literal(-INFINITY)), INT64[0], 0) == [True, True]
    assert check(In(X, (Literal(1.0), Literal(2.5), Literal(2.0**53))), 1, 2, large) == [True, False, False]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_whole_column_that_doubles_cannot_hold_is_not_made_one(sign: int) -> None:
    table = pa.table({"x": [sign * (2**53 + 1), 0], "v": [sign * 2.0**53, 1.0]})
    assert not holds(Comparison("=", X, Attribute(None, "v")), table).any()
    assert not holds(Comparison("=", Call("coalesce", (X, Literal(0.5))), Attribute(None, "v")), table).any()


@pytest.mark.parametrize("op", ["=", "<>", "<", "<=", ">", ">="])
def test_every_pair_of_numbers_compares_as_in_the_definition(op: str) -> None:
    whole, real = [*NUMBERS, *LARGE], list(REALS)
    pairs = pa.table(
        {
            "i": [one for one in whole for _ in real],
            "v": [two for _ in whole for two in real],
            "u": pa.array([2**63 + abs(one) // 2 for one in whole for _ in real], pa.uint64()),
        }
    )
    for left, right in (("i", "v"), ("v", "i"), ("u", "i"), ("i", "u"), ("u", "v")):
        condition = Comparison(op, Attribute(None, left), Attribute(None, right))
        assert holds(condition, pairs).tolist() == expected(condition, pairs)


def test_powers_outside_the_reals_are_null() -> None:
    pairs = pa.table({"i": [one for one in REALS for _ in REALS], "k": [two for _ in REALS for two in REALS]})
    power = Call("power", (Attribute(None, "i"), Attribute(None, "k")))
    for condition in (IsNull(power), *(Comparison("<=", power, Literal(value)) for value in REALS)):
        assert holds(condition, pairs).tolist() == expected(condition, pairs)


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "%"])
def test_integers_that_leave_64_bits_are_null(op: str) -> None:
    whole = [*NUMBERS, *LARGE]
    pairs = pa.table({"i": [one for one in whole for _ in whole], "k": [two for _ in whole for two in whole]})
    result = Arithmetic(op, Attribute(None, "i"), Attribute(None, "k"))
    for condition in (IsNull(result), *(Comparison("<=", result, Literal(value)) for value in whole)):
        assert holds(condition, pairs).tolist() == expected(condition, pairs)


def test_the_remainder_has_the_sign_of_the_dividend_and_none_by_zero() -> None:
    assert check(Comparison("=", Arithmetic("%", X, Literal(3)), Literal(-1)), -7, 7) == [True, False]
    assert check(IsNull(Arithmetic("%", Literal(1), X)), 0, 2) == [True, False]
    assert check(IsNull(Arithmetic("/", Literal(1.0), X)), 0.0, -0.0, 2.0) == [True, True, False]


def test_in_is_null_when_nothing_equals_and_an_item_is_null() -> None:
    items = (Literal("a"), Literal(None), Literal("b"), Literal("c"))
    assert check(In(X, items), "a", "z", None) == [True, False, False]
    assert check(Negation(In(X, items)), "a", "z", None) == [False, False, False]
    assert check(Negation(In(X, (items[0], *items[2:]))), "a", "z", None) == [False, True, False]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_like_takes_its_wildcards_and_escapes(pattern: str) -> None:
    check(Like(X, pattern), *TEXTS, "%", "_", "a%b", "aab", "A%_x", None)


def test_case_follows_unicode_in_full() -> None:
    assert check(Comparison("=", Call("upper", (X,)), Literal("STRASSE")), "straße", "x") == [True, False]
    assert check(Comparison("=", Call("lower", (X,)), Literal("ας")), "ΑΣ", None) == [True, False]


@pytest.mark.parametrize("function", ["trim", "ltrim", "rtrim"])
def test_trimming_takes_spaces_only(function: str) -> None:
    for text in ("a", "a ", " a", "\t"):
        condition = Comparison("=", Call(function, (X,)), Literal(text))
        check(condition, "a", " a", "  a", "a ", " a ", "\t", " \t ", "a a", "")


def test_case_of_texts_in_a_slice() -> None:
    table = pa.table({"x": ["éé", "\\", "AB", None]}).slice(1)
    for text in ("\\", "ab"):
        condition = In(Call("lower", (X,)), (Literal(text), Literal("y"), Literal("z")))
        assert holds(condition, table).tolist() == expected(condition, table)


def test_times_of_all_units_and_zones_are_points_on_one_line() -> None:
    noon = Literal(dt.datetime(2024, 1, 1, 12))
    paris_noon = dt.datetime(2024, 1, 1, 12, tzinfo=ZoneInfo(PARIS))
    assert check(Comparison("<", X, noon), paris_noon, type=pa.timestamp("ms", PARIS)) == [True]
    assert check(
        Comparison("=", Call("hour", (X,)), Literal(12)), paris_noon, type=pa.timestamp("s", PARIS)
    ) == [True]
    later = Literal(dt.datetime(2030, 1, 1, 12, tzinfo=dt.UTC))
    either_at_twelve = Comparison("=", Call("hour", (Call("coalesce", (X, later)),)), Literal(12))
    assert check(either_at_twelve, paris_noon, None, type=pa.timestamp("s", PARIS)) == [True, True]
    nanoseconds = [1_704_110_400_000_000_001, 1_704_110_400_000_000_000]
    assert check(Comparison("=", X, noon), *nanoseconds, type=pa.timestamp("ns")) == [False, True]
    ancient = Literal(dt.datetime(1, 1, 1))
    assert check(Comparison(">", X, ancient), *nanoseconds, type=pa.timestamp("ns")) == [True, True]
    assert check(Comparison("=", X, Literal(dt.datetime(2024, 1, 1))), dt.date(2024, 1, 1)) == [True]


def test_decimals_are_read_as_the_nearest_double() -> None:
    tenths = [Decimal(number).scaleb(-1) for number in range(-500, 500)]
    for type in (pa.decimal128(15, 1), pa.decimal128(38, 1), pa.decimal256(50, 1)):
        for literal in (0.1, 0.3, 12.7, -49.9):
            equal = Comparison("=", X, Literal(literal))
            assert sum(check(equal, *tenths, type=type)) == 1
            sliced = pa.table({"x": pa.array(tenths, type)}).slice(7)
            assert holds(equal, sliced).tolist() == expected(equal, sliced)


def test_rounding_is_of_the_printed_number() -> None:
    rounded = Call("round", (X, Literal(2)))
    assert check(Comparison("=", rounded, Literal(2.68)), 2.675, 2.674, NAN, None) == [
        True,
        False,
        False,
        False,
    ]
    assert check(IsNull(Call("round", (X, Literal(-19)))), INT64[1], 5) == [True, False]


@pytest.mark.parametrize("digits", [0, 1, 2, 3, 8, 15, 22, 23, 400, -1, -3, -22, -23, -(10**9)])
def test_rounding_in_bulk_is_rounding_one_by_one(digits: int) -> None:
    drawn = random.Random(digits)
    reals = [drawn.choice([1, -1]) * drawn.random() * 10.0 ** drawn.randint(-20, 25) for _ in range(300)]
    halves = (
        [drawn.randint(-(10**6), 10**6) / 2 * 10.0**-digits for _ in range(300)] if abs(digits) < 99 else []
    )
    numbers = Numbers(np.array([*reals, *halves, *REALS]))
    one_by_one = [round_half_away(value, digits) for value in numbers.values.tolist()]
    assert np.array_equal(rounded(numbers, digits).values, one_by_one, equal_nan=True)


def test_places_in_text_may_be_reals() -> None:
    part = Call("substr", (Literal("abc"), X, Literal(1.9)))
    assert check(Comparison("=", part, Literal("b")), 2.5, -2.5, NAN) == [True, True, False]


def test_integers_among_reals_keep_their_overflow() -> None:
    sum_ = Arithmetic("+", Call("coalesce", (X, Literal(INT64[1]))), Literal(1))
    assert check(IsNull(sum_), None, 1.5) == [True, False]
    product = Arithmetic("*", Call("coalesce", (X, Literal(2**40))), Literal(2**40))
    assert check(IsNull(product), None, 1.5) == [True, False]


def test_columns_that_conditions_cannot_read_can_be_tested_for_null() -> None:
    assert check(IsNull(X), {"a": 1}, None) == [False, True]
    assert check(IsNull(X), [1], None) == [False, True]
    assert check(IsNull(X), b"a", None) == [False, True]


@pytest.mark.parametrize("condition", [TRUE, FALSE, Literal(None), Comparison("<", Literal(1), Literal(2))])
def test_a_constant_condition_gives_a_mask_of_every_row(condition: Condition) -> None:
    assert len(set(check(condition, 1, 2, 3))) == 1
    mask = holds(condition, pa.table({"x": [1, 2, 3]}))
    mask[0] = not mask[0]  # the mask is the caller's own


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_tables_without_rows_or_chunks(name: str) -> None:
    type = COLUMNS[name][0]
    condition = Disjunction((Comparison("=", Attribute(None, name), Attribute(None, name)), IsNull(X)))
    for chunks in ([], [array([], type)]):
        column = pa.chunked_array(chunks, type)
        table = pa.table({name: column, "x": pa.chunked_array([], pa.int64())})
        assert holds(condition, table).tolist() == []
        assert written(Columns(table), name) == []


def written(columns: Columns, name: str) -> list[str | None]:
    codes, values = columns.distinct_of(name)
    return [None if item is None else str(item) for item in values.take(pa.array(codes)).to_pylist()]


def test_the_type_of_an_event_is_compared_as_text() -> None:
    for values, type in (
        ([1, 2, None, 1], pa.int32()),
        ([1.0, 2.5, None, 1.0], pa.float64()),
        ([True, False, None, True], pa.bool_()),
        (["T", "H", None, "T"], pa.string()),
        (["T", "H", None, "T"], pa.string_view()),
        (["T", "H", None, "T"], pa.dictionary(pa.int8(), pa.string())),
        ([dt.date(2024, 1, 1), dt.date(2024, 1, 2), None, dt.date(2024, 1, 1)], pa.date32()),
    ):
        columns = Columns(pa.table({"kind": array(values, type)}))
        assert written(columns, "kind") == [None if value is None else str(value) for value in values]


def test_a_text_column_is_encoded_once_for_all_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = []
    monkeypatch.setattr(columns_table, "distinct", lambda column: encoded.append(column) or distinct(column))
    columns = Columns(pa.table({"x": ["a", "b", "a", "a"], "k": [1, 2, 3, 4]}))
    assert columns.holds(Like(X, "%b%")).tolist() == [False, True, False, False]
    assert written(columns, "x") == ["a", "b", "a", "a"]
    small, same = Comparison("<", Attribute(None, "k"), Literal(3)), Comparison("=", X, Literal("a"))
    assert columns.holds(Conjunction((small, same))).tolist() == [True, False, False, False]
    assert len(encoded) == 1
