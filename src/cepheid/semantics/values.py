"""The value of a condition for given events, over plain Python values (None is NULL).

In: an expression of `algebra.conditions` and, per variable, the attributes of the event it is bound to; the
key None is the current event. Out: the value, by SQL's three-valued logic; a condition *holds* only when its
value is true. Invariant: nothing here fails on a value of the type the expression was checked for: what has
no value is NULL. Expressions were typed when the query was read, so values travel as `Any`.
"""

from __future__ import annotations

import functools
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, assert_never

import pyarrow as pa
import pyarrow.compute as pc

from cepheid.algebra.conditions import (
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
)
from cepheid.algebra.precision import DecimalType
from cepheid.semantics.casts import cast
from cepheid.semantics.decimals import decimal_arithmetic
from cepheid.semantics.functions import apply
from cepheid.semantics.numbers import TIMES, instant, int64_or_null
from cepheid.semantics.times import arithmetic_of_times

Attributes = Mapping[str, Any]

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(condition: Condition, events: Mapping[str | None, Attributes]) -> bool:
    """Whether the condition is true, not merely not false, of these events.

    >>> warmer = Comparison(">", Attribute("x", "tmp"), Attribute(None, "tmp"))
    >>> [holds(warmer, {"x": {"tmp": tmp}, None: {"tmp": 40}}) for tmp in (41, 39, None)]
    [True, False, False]
    """
    return value_of(condition, events) is True


def value_of(expression: Expression, events: Mapping[str | None, Attributes]) -> Any:
    """The value of any expression.

    >>> value_of(Arithmetic("/", Literal(1), Literal(0)), {}) is None
    True
    """
    match expression:
        case Literal(value):
            return value
        case Attribute(var, name):
            return events[var][name]
        case Arithmetic(op, left, right):
            return _arithmetic(op, value_of(left, events), value_of(right, events), expression.result)
        case Comparison(op, left, right):
            return compare(op, value_of(left, events), value_of(right, events))
        case Conjunction(operands):
            return _all(value_of(operand, events) for operand in operands)
        case Disjunction(operands):
            return _not(_all(_not(value_of(operand, events)) for operand in operands))
        case Negation(operand):
            return _not(value_of(operand, events))
        case IsTrue(operand):
            return value_of(operand, events) is True
        case IsNull(operand):
            return value_of(operand, events) is None
        case In(operand, items):
            value = value_of(operand, events)
            return _not(_all(_not(compare("=", value, value_of(item, events))) for item in items))
        case Like(operand, pattern):
            return _like(value_of(operand, events), pattern)
        case RLike(operand, pattern):
            return _rlike(value_of(operand, events), pattern)
        case Call(function, arguments):
            return apply(function, [value_of(argument, events) for argument in arguments])
        case Element(operand, key):
            return _element(value_of(operand, events), key)
        case Case(conditions, values, otherwise):
            pairs = zip(conditions, values, strict=True)
            return value_of(next((value for when, value in pairs if holds(when, events)), otherwise), events)
        case Cast(operand, target):
            return cast(value_of(operand, events), target, expression.kind)
        case Aggregate() | Previous():
            raise AssertionError(expression)  # literals stand in their place (`whole_sets`)
        case _:
            assert_never(expression)


def _element(value: Any, key: str | int) -> Any:
    """Of a dict, as structs and maps are here, or of a list."""
    if isinstance(value, dict):
        return value.get(key)
    inside = value is not None and isinstance(key, int) and 0 <= key < len(value)
    return value[key] if inside else None


def compare(op: str, left: Any, right: Any) -> bool | None:
    """A comparison of two values: NULL if one is, NaN by IEEE, times as instants, numbers of all types by value.

    >>> compare("<>", float("nan"), float("nan")), compare("=", None, None)
    (True, None)
    """
    if left is None or right is None:
        return None
    if isinstance(left, TIMES) and isinstance(right, TIMES):
        left, right = instant(left), instant(right)
    if left != left or right != right:  # NaN, beside which a decimal cannot be ordered
        return op == "<>"
    return _COMPARE[op](left, right)


def _all(values: Iterable[bool | None]) -> bool | None:
    """AND: false if one is false, else NULL if one is NULL, else true."""
    seen = set(values)
    return False if False in seen else None if None in seen else True


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _arithmetic(op: str, left: Any, right: Any, result: DecimalType | None = None) -> Any:
    if left is None or right is None:
        return None
    if isinstance(left, TIMES) or isinstance(right, TIMES):
        return arithmetic_of_times(op, left, right)
    real = isinstance(left, float) or isinstance(right, float)
    if not real and (result is not None or isinstance(left, Decimal) or isinstance(right, Decimal)):
        return decimal_arithmetic(op, left, right, result)
    if op == "/":
        return None if right == 0 else float(left) / float(right)
    if real:
        left, right = float(left), float(right)
    match op:
        case "+":
            return int64_or_null(left + right)
        case "-":
            return int64_or_null(left - right)
        case "*":
            return int64_or_null(left * right)
        case "%":
            return _remainder(left, right)
        case _:
            raise AssertionError(op)


def _remainder(left: Any, right: Any) -> Any:
    """SQL's remainder has the sign of the dividend, unlike Python's."""
    if right == 0:
        return None
    if isinstance(left, float):
        return math.nan if math.isinf(left) else math.fmod(left, right)
    size = abs(left) % abs(right)
    return -size if left < 0 else size


def _like(value: str | None, pattern: str) -> bool | None:
    """Finds each part between two % at its first possible place: a later one would leave less for the rest. So nothing
    is tried twice."""
    if value is None:
        return None
    (first, _), *others = _like_parts(pattern)
    if not others:
        return first.fullmatch(value) is not None
    found = first.match(value)
    for part, _ in others[:-1]:
        found = found and part.search(value, found.end())
    last, length = others[-1]
    start = len(value) - length
    return found is not None and found.end() <= start and last.match(value, start) is not None


@functools.lru_cache(maxsize=256)
def _like_parts(pattern: str) -> list[tuple[re.Pattern[str], int]]:
    """The parts between the %, each as a regex of fixed length, with that length. A backslash takes the next character
    as it is; one at the very end stands for itself."""
    parts: list[list[str]] = [[]]
    for sign in re.findall(r"\\.|.", pattern, re.DOTALL):
        if sign == "%":
            parts.append([])
        else:
            parts[-1].append("." if sign == "_" else re.escape(sign[-1]))
    return [(re.compile("".join(part), re.DOTALL), len(part)) for part in parts]


def _rlike(value: str | None, pattern: str) -> bool | None:
    return (
        None
        if value is None
        else bool(pc.match_substring_regex(pa.scalar(value, pa.string()), pattern).as_py())
    )
