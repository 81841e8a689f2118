"""Bounds: a filter that only counts the events of a set, where the set is one repetition, bounds its rounds.

In: a filter. Out: its body with fewer rounds allowed, `(T+ IN X) FILTER count(X) >= 3` as `T{3,} IN X`, and the same
matches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import assert_never

from cepheid.algebra.conditions import EVENT, Attribute, Condition
from cepheid.algebra.empty import EMPTY
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Not,
    Or,
    PartBy,
    Pattern,
    Recognise,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Within,
)
from cepheid.algebra.printing import print_condition
from cepheid.algebra.variables import is_iteration, sets
from cepheid.rewrite.set_levels import is_number, question_of
from cepheid.rewrite.unsatisfiable import UnsatisfiableError

MOST_ROUNDS = 64


def with_bounds(pattern: Filter) -> Pattern | None:
    """The body with a repetition bounded, where the filter only counts the events of a set that is one repetition."""
    asked = question_of(pattern.condition)
    if asked is None or asked.constant is None or asked.node.function != "count" or asked.node.distinct:
        return None
    value, operand = asked.constant.value, asked.node.operand
    if not is_number(value) or asked.op == "<>" or not isinstance(operand, Attribute):
        return None
    if operand.name != EVENT or operand.var is None:
        return None
    lowest, highest = _counts(asked.op, value)
    if max(lowest, highest or 0) > MOST_ROUNDS:
        return None

    def bounded(repetition: Repeat) -> Pattern:
        lo = max(repetition.lo, lowest)
        hi = min((bound for bound in (repetition.hi, highest) if bound is not None), default=None)
        if hi is not None and hi < lo:
            raise never_of_sets(pattern.condition)
        return EMPTY if hi == 0 else replace(repetition, lo=lo, hi=hi)

    return _where_gathered(pattern.body, operand.var, bounded)


def _counts(op: str, value: int | float | Decimal) -> tuple[int, int | None]:
    """The least and the greatest whole number from 0 on that compares so; none if the first is above the second."""
    low, high = math.floor(value), math.ceil(value)
    match op:
        case "=":
            return (max(low, 0), high) if low == high else (1, 0)
        case "<":
            return 0, high - 1
        case "<=":
            return 0, low
        case ">":
            return max(low + 1, 0), None
        case _:
            return max(high, 0), None


def _where_gathered(pattern: Pattern, name: str, change: Callable[[Repeat], Pattern]) -> Pattern | None:
    """The pattern with the repetition of single events changed that is all of a set in every match; None if there is
    none."""
    if isinstance(pattern, Bind) and pattern.var == name:
        return None if name in sets(pattern.body) else _around(pattern, _repetition(pattern.body, change))
    match pattern:
        case Repeat(body, 1, 1) | Bind(body) | Filter(body) | PartBy(body) | Within(body):
            return _around(pattern, _where_gathered(body, name, change))
        case Seq(left, right) | StrictSeq(left, right) if not (name in sets(left) and name in sets(right)):
            in_left = name in sets(left)
            changed = _where_gathered(left if in_left else right, name, change)
            if changed is None:
                return None
            return replace(pattern, left=changed) if in_left else replace(pattern, right=changed)
        case Atom() | Seq() | StrictSeq() | Or() | All() | Repeat() | Select() | Not() | Recognise():
            return None
        case _:
            assert_never(pattern)


def _repetition(pattern: Pattern, change: Callable[[Repeat], Pattern]) -> Pattern | None:
    """The same inside the set."""
    match pattern:
        case Repeat(body):
            return change(pattern) if is_iteration(pattern) and _is_one_event(body) else None
        case Bind(body) | Filter(body) | PartBy(body) | Within(body):
            return _around(pattern, _repetition(body, change))
        case Atom() | Seq() | StrictSeq() | Or() | All() | Select() | Not() | Recognise():
            return None
        case _:
            assert_never(pattern)


def _around(
    pattern: Repeat | Bind | Filter | PartBy | Within[Pattern], body: Pattern | None
) -> Pattern | None:
    return None if body is None else replace(pattern, body=body)


def _is_one_event(pattern: Pattern) -> bool:
    match pattern:
        case Atom():
            return True
        case Or(parts):
            return all(map(_is_one_event, parts))
        case Bind(body) | Filter(body) | Repeat(body, 1, 1):
            return _is_one_event(body)
        case Seq() | StrictSeq() | All() | Repeat() | PartBy() | Select() | Not() | Within() | Recognise():
            return False
        case _:
            assert_never(pattern)


def never_of_sets(condition: Condition) -> UnsatisfiableError:
    """The error for a condition on whole sets that no match of its body satisfies."""
    text = condition.span.text if condition.span is not None else print_condition(condition)
    message = f"`{text}` is never true of these sets, so the pattern around it matches nothing"
    return UnsatisfiableError(message, span=condition.span)
