"""Conditions over whole columns: the same rows as the definition gives, one by one."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
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
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
)
from cepheid.algebra.functions import FUNCTIONS
from cepheid.evaluators.columns import Columns, choose, functions, holds
from cepheid.evaluators.columns import table as columns_table
from cepheid.evaluators.columns.distinct import distinct
from cepheid.evaluators.columns.kinds import Numbers
from cepheid.evaluators.columns.rounding import rounded
from cepheid.semantics import values as definition
from cepheid.semantics.numbers import round_half_away
from cepheid.semantics.rows import rows_of
from support import random_conditions as expressions
from support.generators import Drawn
from support.random_conditions import (
    COLUMNS,
    INFINITY,
    INT64,
    LARGE,
    NAN,
    NUMBERS,
    PARIS,
    PATTERNS,
    REALS,
    TEXTS,
    array,
)


@st.composite
def tables_and_conditions(draw: Callable[[st.SearchStrategy[int]], int]) -> tuple[pa.Table, Condition]:
    choices = Drawn(draw)
    table = expressions.table(choices)
    return table, expressions.typed(expressions.condition(choices), table)


def expected(condition: Condition, table: pa.Table) -> list[bool]:
    return [definition.holds(condition, {None: row}) for row in rows_of(table)]


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


@pytest.mark.parametrize("type", [pa.decimal128(15, 1), pa.decimal128(38, 1), pa.decimal256(50, 1)])
def test_a_decimal_equals_a_double_that_is_the_same_number(type: pa.DataType) -> None:
    tenths = [Decimal(number).scaleb(-1) for number in range(-500, 500)]
    for literal, equals in ((0.1, 0), (12.5, 1), (-49.0, 1), (Decimal("0.1"), 1), (Decimal("12.70"), 1)):
        equal = Comparison("=", X, Literal(literal))
        assert sum(check(equal, *tenths, type=type)) == equals
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


@pytest.mark.parametrize("places", [Call("abs", (Literal(-(2**63)),)), Call("floor", (Literal(1e300),))])
def test_a_constant_number_of_places_that_overflows_is_null(places: Call) -> None:
    table = pa.table({"i": [0, 1], "m": pa.array([Decimal("0.10"), None]), "s": ["abc", ""]})
    for call in (
        Call("round", (Attribute(None, "i"), places)),
        Call("round", (Attribute(None, "m"), places)),
        Call("substr", (Attribute(None, "s"), Literal(1), places)),
    ):
        assert holds(IsNull(call), table).tolist() == [True, True]
