"""CEL conditions become the expressions they stand for."""

import datetime as dt

import pytest

from cepheid.algebra.conditions import (
    Attribute,
    Call,
    Comparison,
    Condition,
    Conjunction,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    RLike,
)
from cepheid.algebra.moments import Moment, TimeOfDay, moment_of
from cepheid.algebra.nodes import Filter
from cepheid.languages import lower, parse

A = Attribute("x", "a")
ONE, TWO = Literal(1), Literal(2)


def condition(text: str) -> Condition:
    pattern = lower(parse(f"SELECT * FROM s WHERE T AS x FILTER {text}")).pattern
    assert isinstance(pattern, Filter)
    return pattern.condition


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-1", -1),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("2.", 2.0),
        ("1e3", 1000.0),
        ("1.5E-3", 0.0015),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("'it''s'", "it's"),
        ("'two\nlines -- no comment'", "two\nlines -- no comment"),
        ("''", ""),
        ("TRUE", True),
        ("false", False),
        ("NULL", None),
        ("TIMESTAMP '2024-01-31 12:30:00.5'", moment_of(dt.datetime(2024, 1, 31, 12, 30, 0, 500_000))),
        ("TIMESTAMP '2024-01-31 12:30:00.123456789'", Moment(1_706_704_200_123_456_789)),
        ("timestamp '2024-01-31T12:30:00+02:00'", Moment(1_706_697_000 * 10**9, "+02:00")),
        ("TIME '12:30:00.000000001'", TimeOfDay(45_000 * 10**9 + 1)),
        ("DATE '2024-01-31'", dt.date(2024, 1, 31)),
    ],
)
def test_literals_have_their_value_and_type(text: str, value: object) -> None:
    found = condition(f"x.a = {text}")
    assert isinstance(found, Comparison)
    assert isinstance(found.right, Literal)
    assert (type(found.right.value), found.right.value) == (type(value), value)


@pytest.mark.parametrize(
    ("text", "op"),
    [
        ("=", "="),
        ("==", "="),
        ("<>", "<>"),
        ("!=", "<>"),
        ("≠", "<>"),
        ("<", "<"),
        ("<=", "<="),
        ("≤", "<="),
        (">", ">"),
        (">=", ">="),
        ("≥", ">="),
    ],
)
def test_comparisons_have_one_spelling_in_the_algebra(text: str, op: str) -> None:
    assert condition(f"x.a {text} 1") == Comparison(op, A, ONE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.a IN (1, 2)", In(A, (ONE, TWO))),
        ("x.a NOT IN (1)", Negation(In(A, (ONE,)))),
        ("x.a LIKE 'a%'", Like(A, "a%")),
        ("x.a NOT LIKE 'a%'", Negation(Like(A, "a%"))),
        ("x.a RLIKE '^a'", RLike(A, "^a")),
        ("x.a NOT RLIKE '^a'", Negation(RLike(A, "^a"))),
        ("x.a IS NULL", IsNull(A)),
        ("x.a IS NOT NULL", Negation(IsNull(A))),
        ("x.a IS TRUE", IsTrue(A)),
        ("x.a IS NOT TRUE", Negation(IsTrue(A))),
        ("x.a BETWEEN 1 AND 2", Conjunction((Comparison(">=", A, ONE), Comparison("<=", A, TWO)))),
        (
            "x.a NOT BETWEEN 1 AND 2",
            Negation(Conjunction((Comparison(">=", A, ONE), Comparison("<=", A, TWO)))),
        ),
        ("Round(x.a, 2) > 1", Comparison(">", Call("round", (A, TWO)), ONE)),
        ("1 < x.a <= 2", Conjunction((Comparison("<", ONE, A), Comparison("<=", A, TWO)))),
        ("NOT NOT x.a", Negation(Negation(A))),
        ("(x.a = 1) = TRUE", Comparison("=", Comparison("=", A, ONE), Literal(True))),
        ("x.a", A),
    ],
)
def test_sugar_is_lowered(text: str, expected: Condition) -> None:
    assert condition(text) == expected


def test_between_binds_its_own_and() -> None:
    both = condition("x.a BETWEEN 1 AND 2 AND x.a = 1")
    assert isinstance(both, Conjunction)
    assert both.operands[1] == Comparison("=", A, ONE)


def test_parentheses_keep_conjunctions_apart() -> None:
    part = Comparison("=", A, ONE)
    assert condition("x.a = 1 AND (x.a = 1 AND x.a = 1)") == Conjunction((part, Conjunction((part, part))))
