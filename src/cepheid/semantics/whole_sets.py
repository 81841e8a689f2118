"""Conditions on whole sets: aggregates and previous events, over plain Python values (None is NULL).

In: a condition and the events that each set has gathered, in stream order. Out: an ordinary condition, with the value
of each aggregate in its place; and for a choice of one event of each set, the value of each `prev` in its place.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from cepheid.algebra.conditions import (
    EVENT,
    Aggregate,
    Attribute,
    Condition,
    Expression,
    Literal,
    Previous,
    children,
    rebuild,
    sets_chosen,
    variables,
)
from cepheid.semantics.decimals import EXACT, fitted
from cepheid.semantics.functions import apply
from cepheid.semantics.numbers import TIMES, instant, int64_or_null
from cepheid.semantics.values import Attributes, holds, value_of

Gathered = Mapping[str, Sequence[Attributes]]


def holds_of_sets(condition: Condition, gathered: Gathered, events: Mapping[str, Attributes]) -> bool:
    """Whether the condition is true for every choice of one event of each set that it reads events of, if `prev` is
    asked of the set of one that has so many before it. `events` are the single ones.

    >>> from cepheid.algebra.conditions import Comparison
    >>> v = Attribute("X", "v", each=True)
    >>> rising = Comparison(">", v, Previous(v))
    >>> [holds_of_sets(rising, {"X": [{"v": v} for v in values]}, {}) for values in ([1, 2, 3], [1, 2, 2], [1], [])]
    [True, False, True, True]
    """
    chosen, steps = sorted(sets_chosen(condition)), most_steps(condition)
    settled = with_aggregates(condition, gathered)
    choices = itertools.product(*(range(steps.get(name, 0), len(gathered[name])) for name in chosen))
    return all(
        _holds_of_choice(settled, dict(zip(chosen, at, strict=True)), gathered, events) for at in choices
    )


def _holds_of_choice(
    condition: Condition, at: Mapping[str, int], gathered: Gathered, events: Mapping[str, Attributes]
) -> bool:
    here: dict[str | None, Attributes] = {name: gathered[name][number] for name, number in at.items()}
    here.update(events)
    return holds(with_previous(condition, at, gathered), here)


def with_aggregates(condition: Condition, gathered: Gathered) -> Condition:
    """The condition with the value of each aggregate in its place.

    >>> total = Aggregate("sum", Attribute("X", "v", each=True))
    >>> with_aggregates(total, {"X": [{"v": 1}, {"v": None}, {"v": 3}]}), with_aggregates(total, {"X": []})
    (Literal(value=4), Literal(value=None))
    """
    if isinstance(condition, Aggregate):
        return Literal(aggregate(condition, values_over(condition.operand, gathered)))
    return rebuild(condition, lambda child: with_aggregates(child, gathered))


def values_over(operand: Expression, gathered: Gathered) -> list[Any]:
    """The operand's value for each event of the set that it reads; of the events themselves, True."""
    (var,) = variables(operand)
    if isinstance(operand, Attribute) and operand.name == EVENT:
        return [True] * len(gathered[var])
    return [value_of(operand, {var: event}) for event in gathered[var]]


def most_steps(condition: Condition) -> dict[str, int]:
    """For each set whose previous events a condition reads: how far back.

    >>> v = Attribute("X", "v", each=True)
    >>> from cepheid.algebra.conditions import Comparison
    >>> most_steps(Comparison("<", Previous(v), Previous(v, 2)))
    {'X': 2}
    """
    if isinstance(condition, Previous):
        return dict.fromkeys(variables(condition), condition.steps)
    found: dict[str, int] = {}
    for child in children(condition):
        for name, steps in most_steps(child).items():
            found[name] = max(steps, found.get(name, 0))
    return found


def with_previous(condition: Condition, at: Mapping[str, int], gathered: Gathered) -> Condition:
    """The condition with the value of each `prev` in its place, where the event of each set is the one with the number
    that `at` says; NULL where none is so far before it."""
    if isinstance(condition, Previous):
        (var,) = variables(condition)
        number = at[var] - condition.steps
        return Literal(None if number < 0 else value_of(condition.operand, {var: gathered[var][number]}))
    return rebuild(condition, lambda child: with_previous(child, at, gathered))


def aggregate(node: Aggregate, values: Sequence[Any]) -> Any:
    """The aggregate of values in stream order.

    >>> ages = Attribute("X", "age", each=True)
    >>> aggregate(Aggregate("avg", ages), [1, 2]), aggregate(Aggregate("count", ages, distinct=True), [1, 1, None])
    (1.5, 1)
    """
    given = [value for value in values if value is not None]
    if node.function == "count":
        return len({_key(value) for value in given}) if node.distinct else len(given)
    if not given:
        return None
    match node.function:
        case "sum":
            total = _sum(given)
            return total if node.result is None else fitted(total, node.result)
        case "avg":
            return _average(node, given)
        case "min":
            return apply("least", given)
        case "max":
            return apply("greatest", given)
        case "first":
            return given[0]
        case "last":
            return given[-1]
        case _:
            raise AssertionError(node.function)


def _key(value: Any) -> Any:
    """Equal for equal values, of which NaN is one."""
    if isinstance(value, TIMES):
        return instant(value)
    return "NaN" if value != value else (type(value) is str, value)


def _sum(given: Sequence[Any]) -> Any:
    """Whole numbers and decimals exactly; doubles one after the other."""
    if any(isinstance(value, Decimal) for value in given):
        return _exact_sum(given)
    total = given[0]
    for value in given[1:]:
        total += value
    return int64_or_null(total)


def _exact_sum(given: Sequence[Decimal | int]) -> Decimal:
    total = Decimal(0)
    for value in given:
        total = EXACT.add(total, Decimal(value))
    return total


def _average(node: Aggregate, given: Sequence[Any]) -> Any:
    """The sum, exact where the values are, divided once."""
    if node.result is not None:
        return fitted(EXACT.divide(_exact_sum(given), Decimal(len(given))), node.result)
    if all(isinstance(value, int) for value in given):
        return sum(given) / len(given)
    return _sum(given) / len(given)
