"""fold: smaller conditions that hold for the same events, NULL and NaN included."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepheid.algebra.conditions import (
    FALSE,
    TRUE,
    Arithmetic,
    Attribute,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    In,
    IsNull,
    IsTrue,
    Literal,
    Negation,
)
from cepheid.rewrite.fold import fold
from cepheid.semantics.values import holds
from support import generators

P, Q = Comparison("<", Attribute("x", "v"), Literal(1)), Comparison("=", Attribute("x", "n"), Literal(0))
NULL = Literal(None)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Conjunction((TRUE, P)), P),
        (Conjunction((P, FALSE)), FALSE),
        (Conjunction((P, NULL)), FALSE),
        (Disjunction((P, NULL)), P),
        (Disjunction((P, TRUE)), TRUE),
        (Negation(NULL), FALSE),
        (Negation(Negation(P)), P),
        (IsTrue(IsTrue(P)), P),
        (IsTrue(Conjunction((P, NULL))), FALSE),
        (Conjunction((P, Conjunction((Q, P)))), Conjunction((P, Q))),
        (Disjunction((P, Disjunction((Q, P)))), Disjunction((P, Q))),
        (Conjunction((P, Negation(P))), FALSE),
        (Conjunction((P, Negation(IsTrue(P)))), FALSE),
        (Disjunction((P, Negation(IsTrue(P)))), TRUE),
        (Comparison("=", Attribute("x", "n"), NULL), FALSE),
        (Comparison("=", Attribute("x", "n"), Arithmetic("/", Literal(1), Literal(0))), FALSE),
        (Comparison("<", Literal(1), Literal(2)), TRUE),
        (IsNull(NULL), TRUE),
        (IsNull(IsTrue(P)), FALSE),
        (In(NULL, (Attribute("x", "n"),)), FALSE),
    ],
)
def test_folds(before: Condition, after: Condition) -> None:
    assert fold(before) == after


@pytest.mark.parametrize(
    "condition",
    [
        Disjunction((P, Negation(P))),  # NULL where P is
        Negation(P),  # with NaN not the same as >=
        Negation(Conjunction((P, NULL))),  # true where P is false
        IsNull(Conjunction((P, NULL))),
    ],
)
def test_leaves_alone_what_only_looks_certain(condition: Condition) -> None:
    assert fold(condition) == condition


@st.composite
def conditions(draw: generators.Draw) -> Condition:
    choices = generators.Drawn(draw)

    def part(depth: int) -> Condition:
        match choices.below(8) if depth else 0:
            case 1:
                return Negation(part(depth - 1))
            case 2:
                return IsTrue(part(depth - 1))
            case 3:
                return IsNull(part(depth - 1))
            case 4:
                return Conjunction((part(depth - 1), part(depth - 1)))
            case 5:
                return Disjunction((part(depth - 1), part(depth - 1)))
            case 6:
                return Literal(generators.pick(choices, (True, False, None)))
            case _:
                return generators.pick(choices, (P, Q, generators.unary_condition(choices, "x", 0)))

    return part(4)


@settings(max_examples=500)
@given(conditions(), generators.streams(generators.Limits(events=6)))
def test_holds_for_the_same_events(condition: Condition, stream: object) -> None:
    for row in stream.to_pylist():  # type: ignore[attr-defined]
        assert holds(fold(condition), {"x": row}) == holds(condition, {"x": row})
