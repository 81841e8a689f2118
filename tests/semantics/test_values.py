"""Values of conditions: three-valued logic, NaN, arithmetic, text, times and functions."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest

from cepheid.algebra.conditions import (
    FALSE,
    TRUE,
    Arithmetic,
    Attribute,
    Call,
    Comparison,
    Conjunction,
    Disjunction,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    RLike,
)
from cepheid.semantics.values import compare, holds, value_of

NAN = float("nan")
NULL = Literal(None)


def call(function: str, *arguments: Any) -> Any:
    return value_of(Call(function, tuple(map(Literal, arguments))), {})


def arithmetic(left: Any, op: str, right: Any) -> Any:
    return value_of(Arithmetic(op, Literal(left), Literal(right)), {})


def like(value: str | None, pattern: str) -> Any:
    return value_of(Like(Literal(value), pattern), {})


@pytest.mark.parametrize(
    ("operands", "conjunction", "disjunction"),
    [
        ((TRUE, TRUE), True, True),
        ((TRUE, FALSE), False, True),
        ((TRUE, NULL), None, True),
        ((FALSE, NULL), False, None),
        ((FALSE, FALSE), False, False),
        ((NULL, NULL), None, None),
    ],
)
def test_and_or_are_three_valued(operands: Any, conjunction: Any, disjunction: Any) -> None:
    for order in (operands, operands[::-1]):
        assert value_of(Conjunction(order), {}) is conjunction
        assert value_of(Disjunction(order), {}) is disjunction


def test_not_of_null_is_null_and_does_not_hold() -> None:
    assert value_of(Negation(NULL), {}) is None
    assert not holds(Negation(NULL), {})
    assert holds(Negation(IsTrue(NULL)), {})
    assert holds(IsNull(NULL), {})


@pytest.mark.parametrize("op", ["=", "<>", "<", "<=", ">", ">="])
def test_comparing_with_null_is_null_and_with_nan_only_unequal(op: str) -> None:
    assert compare(op, None, 1) is None
    assert compare(op, 1, None) is None
    assert compare(op, NAN, NAN) is (op == "<>")
    assert compare(op, NAN, 1) is (op == "<>")
    assert value_of(Comparison(op, Literal(Decimal(1)), Literal(NAN)), {}) is (op == "<>")


def test_not_over_a_comparison_with_nan_holds() -> None:
    assert holds(Negation(Comparison("<", Literal(NAN), Literal(1))), {})


def test_numbers_of_all_kinds_compare_by_value() -> None:
    assert compare("=", 1, 1.0)
    assert compare("<", Decimal("0.1"), 0.2)
    assert compare("=", 0.0, -0.0)
    assert compare(">", math.inf, 2**62)


def test_times_compare_as_instants_and_naive_ones_as_utc() -> None:
    noon = dt.datetime(2024, 1, 1, 12)
    in_paris = dt.datetime(2024, 1, 1, 13, tzinfo=dt.timezone(dt.timedelta(hours=1)))
    assert compare("=", noon, in_paris)
    assert compare("<", dt.date(2024, 1, 1), noon)
    assert compare("=", dt.date(2024, 1, 1), dt.datetime(2024, 1, 1))


def test_text_compares_by_code_point() -> None:
    assert compare("<", "Z", "a")
    assert compare("<", "z", "é")


def test_in_is_null_when_nothing_equals_and_a_null_is_about() -> None:
    one, two = Literal(1), Literal(2)
    assert value_of(In(one, (two, one)), {}) is True
    assert value_of(In(one, (two,)), {}) is False
    assert value_of(In(one, (two, NULL)), {}) is None
    assert value_of(In(one, (one, NULL)), {}) is True
    assert value_of(In(NULL, (one,)), {}) is None
    assert value_of(In(Literal(NAN), (Literal(NAN),)), {}) is False


@pytest.mark.parametrize(
    ("value", "pattern", "expected"),
    [
        ("abc", "a%", True),
        ("abc", "a_c", True),
        ("abc", "b", False),
        ("ABC", "abc", False),
        ("", "%", True),
        ("", "_", False),
        ("a%c", "a\\%c", True),
        ("abc", "a\\%c", False),
        ("a\\", "a\\\\", True),
        ("a\\", "a\\", True),
        ("a.c", "a.c", True),
        ("abc", "a.c", False),
        ("line\nbreak", "line%", True),
        ("日本", "日_", True),
        (None, "%", None),
    ],
)
def test_like_is_that_of_sql(value: str | None, pattern: str, expected: bool | None) -> None:
    assert like(value, pattern) is expected


def test_rlike_is_found_anywhere() -> None:
    assert value_of(RLike(Literal("pressure"), "s{2}"), {}) is True
    assert value_of(RLike(Literal("pressure"), "^s"), {}) is False
    assert value_of(RLike(Literal("日本"), "^.本$"), {}) is True
    assert value_of(RLike(NULL, "a"), {}) is None


def test_arithmetic_keeps_integers_and_divides_reals() -> None:
    assert arithmetic(7, "/", 2) == 3.5
    assert arithmetic(7, "*", 2) == 14
    assert arithmetic(1, "-", 2.5) == -1.5
    assert arithmetic(Decimal("0.1"), "+", Decimal("0.2")) == Decimal("0.3")
    assert arithmetic(Decimal("0.5"), "+", 0.5) == 1.0
    assert arithmetic(1e308, "*", 10) == math.inf


@pytest.mark.parametrize(("left", "right", "expected"), [(7, 3, 1), (-7, 3, -1), (7, -3, 1), (-7.5, 2, -1.5)])
def test_the_remainder_has_the_sign_of_the_dividend(left: float, right: float, expected: float) -> None:
    assert arithmetic(left, "%", right) == expected


@pytest.mark.parametrize(
    ("left", "op", "right"),
    [
        (1, "/", 0),
        (1.0, "/", 0.0),
        (1, "%", 0),
        (1.5, "%", 0.0),
        (2**63 - 1, "+", 1),
        (-(2**63), "-", 1),
        (2**32, "*", 2**31),
        (None, "+", 1),
        (1, "/", None),
    ],
)
def test_what_has_no_value_is_null(left: Any, op: str, right: Any) -> None:
    assert arithmetic(left, op, right) is None


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        ("abs", (-3,), 3),
        ("abs", (-(2**63),), None),
        ("round", (2.5,), 3.0),
        ("round", (-2.5,), -3.0),
        ("round", (2.675, 2), 2.68),
        ("round", (1.005, 2), 1.01),
        ("round", (1250, -2), 1300),
        ("round", (7, 2), 7),
        ("round", (math.inf, 1), math.inf),
        ("floor", (-1.5,), -2),
        ("ceil", (-1.5,), -1),
        ("floor", (NAN,), None),
        ("ceil", (1e300,), None),
        ("power", (-1.5, 2**53 + 1), math.inf),  # as a double the exponent is even
        ("sqrt", (9,), 3.0),
        ("sqrt", (-1,), None),
        ("power", (2, 10), 1024.0),
        ("power", (-8, 0.5), None),
        ("power", (10, 400), math.inf),
        ("power", (-10, 401), -math.inf),
        ("power", (0, -1), None),
        ("ln", (1,), 0.0),
        ("ln", (0,), None),
        ("ln", (-1.0,), None),
        ("exp", (0,), 1.0),
        ("exp", (1000,), math.inf),
        ("sign", (-2.5,), -1),
        ("sign", (0,), 0),
        ("least", (3, None, 1.5), 1.5),
        ("least", (None, None), None),
        ("greatest", ("a", "é", None), "é"),
        ("length", ("日本",), 2),
        ("upper", ("é",), "É"),
        ("lower", ("ÀB",), "àb"),
        ("trim", ("  a\t ",), "a\t"),
        ("ltrim", ("  a ",), "a "),
        ("rtrim", ("  a ",), "  a"),
        ("substr", ("abcde", 2), "bcde"),
        ("substr", ("abcde", 2, 3), "bcd"),
        ("substring", ("abcde", 0, 2), "ab"),
        ("substr", ("abcde", -2), "de"),
        ("substr", ("abcde", -3, 2), "cd"),
        ("substr", ("abc", -5, 3), "a"),
        ("substr", ("abc", 9), ""),
        ("substr", ("abc", 1, -1), ""),
        ("concat", ("a", "b", "c"), "abc"),
        ("concat", ("a", None), None),
        ("replace", ("banana", "an", "x"), "bxxa"),
        ("replace", ("banana", "", "x"), "banana"),
        ("startswith", ("abc", "ab"), True),
        ("endswith", ("abc", "bc"), True),
        ("contains", ("abc", "d"), False),
        ("coalesce", (None, 2, 3), 2),
        ("nullif", (1, 1), None),
        ("nullif", (1, 2), 1),
        ("nullif", (1, None), 1),
        ("length", (None,), None),
    ],
)
def test_functions(function: str, arguments: tuple[Any, ...], expected: Any) -> None:
    assert call(function, *arguments) == expected


@pytest.mark.parametrize("function", ["least", "greatest"])
def test_nan_among_the_arguments_is_least_and_greatest(function: str) -> None:
    assert math.isnan(call(function, 1.0, NAN))
    assert math.isnan(call(function, NAN, 1.0, None))


def test_parts_of_a_time_are_those_of_its_own_zone() -> None:
    late = dt.datetime(2024, 2, 29, 23, 30, 15, tzinfo=dt.timezone(dt.timedelta(hours=-1)))  # a Thursday
    names = ("year", "month", "day", "hour", "minute", "second", "dayofweek")
    assert [call(name, late) for name in names] == [2024, 2, 29, 23, 30, 15, 5]
    assert call("hour", dt.date(2024, 2, 29)) == 0
    assert call("dayofweek", dt.date(2024, 3, 3)) == 1


def test_attributes_of_variables_and_of_the_event_at_hand() -> None:
    condition = Comparison("<", Attribute("x", "v"), Attribute(None, "v"))
    assert holds(condition, {"x": {"v": 1}, None: {"v": 2}})
