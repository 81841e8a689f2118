"""Fold: a condition made smaller without changing when it holds.

In: a condition. Out: one that holds for the same events. Two invariants: `_value` keeps the value in SQL's
three-valued logic, so that it may be used below NOT; `fold` keeps only "is true", so that at the top NULL
and false are one. Comparisons are not turned around under NOT: with NaN, NOT (a < b) is not a >= b.
"""

from __future__ import annotations

from typing import assert_never

from cepheid.algebra.conditions import (
    FALSE,
    TRUE,
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Case,
    Cast,
    Comparison,
    Condition,
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
    conjunction,
    mentioned,
    rebuild,
)
from cepheid.semantics.values import value_of

NULL = Literal(None)


def fold(condition: Condition) -> Condition:
    """The condition with constants folded and AND/OR flattened; TRUE or FALSE where that is certain.

    >>> hot = Attribute("x", "hot")
    >>> fold(Conjunction((hot, Conjunction((TRUE, hot))))) == hot
    True
    >>> fold(Disjunction((NULL, Negation(Negation(hot))))) == hot
    True
    >>> fold(Conjunction((hot, Negation(IsTrue(hot))))) == FALSE
    True
    """
    return _when_true(_value(condition))


def _when_true(condition: Condition) -> Condition:
    """A condition that is true for the same events; NULL and false are not distinguished."""
    match condition:
        case Literal(None):
            return FALSE
        case IsTrue(operand):
            return _when_true(operand)
        case Conjunction(operands):
            parts = conjunction(tuple(_when_true(operand) for operand in operands))
            return FALSE if isinstance(parts, Conjunction) and _contradicts(parts.operands) else parts
        case Disjunction(operands):
            return _any(_flat(tuple(_when_true(operand) for operand in operands)))
        case Literal() | Attribute() | Arithmetic() | Comparison() | Negation() | IsNull():
            return condition
        case In() | Like() | RLike() | Call() | Element() | Case() | Cast() | Aggregate() | Previous():
            return condition
        case _:
            assert_never(condition)


def _contradicts(parts: tuple[Condition, ...]) -> bool:
    """Whether one part cannot be true when another is."""
    known = set(parts)
    return any(Negation(part) in known or Negation(IsTrue(part)) in known for part in parts)


def _any(parts: tuple[Condition, ...]) -> Condition:
    known = set(parts)
    # P OR NOT P is NULL where P is; P OR P is not true is always true.
    return TRUE if any(Negation(IsTrue(part)) in known for part in parts) else _any_value(parts)


def _flat(parts: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """The distinct operands of nested disjunctions."""
    flat = (
        inner for part in parts for inner in (part.operands if isinstance(part, Disjunction) else (part,))
    )
    return tuple(dict.fromkeys(flat))


def _value(expression: Expression) -> Expression:
    """The same value for every event, NULL included."""
    if isinstance(expression, Literal | Attribute):
        return expression
    if next(mentioned(expression), None) is None:
        return _constant(expression)
    expression = rebuild(expression, _value)
    match expression:
        case Negation(Negation(operand)):
            return operand
        case Conjunction(operands):
            return conjunction(operands)
        case Disjunction(operands):
            return _any_value(_flat(operands))
        case IsTrue(operand) if _is_two_valued(operand):
            return operand
        case IsNull(operand) if _is_two_valued(operand):
            return FALSE
        case Comparison(_, left, right) | Arithmetic(_, left, right) if NULL in (left, right):
            return NULL
        case Like(operand) | RLike(operand) | In(operand, _) if operand == NULL:
            return NULL
        case Literal() | Attribute() | Arithmetic() | Comparison() | Negation() | IsTrue() | IsNull():
            return expression
        case In() | Like() | RLike() | Call() | Element() | Case() | Cast() | Aggregate() | Previous():
            return expression
        case _:
            assert_never(expression)


def _any_value(parts: tuple[Condition, ...]) -> Condition:
    if TRUE in parts:
        return TRUE
    possible = tuple(part for part in parts if part != FALSE)
    return FALSE if not possible else possible[0] if len(possible) == 1 else Disjunction(possible)


def _constant(expression: Expression) -> Expression:
    """The truth value of an expression that reads no event; other constants keep their text."""
    value = value_of(expression, {})
    return Literal(value) if value is None or isinstance(value, bool) else expression


def _is_two_valued(condition: Condition) -> bool:
    """Whether the value is never NULL."""
    match condition:
        case IsTrue() | IsNull():
            return True
        case Negation(operand):
            return _is_two_valued(operand)
        case Conjunction(operands) | Disjunction(operands):
            return all(_is_two_valued(operand) for operand in operands)
        case Literal(value):
            return value is not None
        case Attribute() | Arithmetic() | Comparison() | In() | Like() | RLike() | Call():
            return False
        case Element() | Case() | Cast() | Aggregate() | Previous():
            return False
        case _:
            assert_never(condition)
