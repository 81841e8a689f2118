"""Random queries of CEL with aggregates of sets and with previous events.

In: a `Choices` of `generators`. Out: a `Case` as of `set_queries`, in which most filters that could read a set are
about the whole of it: aggregates compared with constants, with single events from anywhere, with each event of the set
or with another set; events compared with those before them. They stand at any depth, in rounds and around them.
"""

from __future__ import annotations

from dataclasses import replace

from cepheid.algebra.conditions import (
    AGGREGATES,
    EVENT,
    Aggregate,
    Arithmetic,
    Attribute,
    Comparison,
    Condition,
    Disjunction,
    Expression,
    Literal,
    Negation,
    Previous,
)
from support.generators import Case, Choices, Limits, Seeded, chance, pick, unary_condition
from support.random_patterns import case_of
from support.set_queries import GATHERED, Gathering

NUMBERS = ("n", "n", "id", "v")
OPERATORS = ("<=", ">=", "<", ">", "=", "<>")


def seeded_whole(seed: int, limits: Limits = GATHERED) -> Case:
    """The case that belongs to a seed."""
    choices = Seeded(seed)
    case = case_of(choices, limits, _Pattern(choices).sequence(), plain=50)
    return replace(case, query=replace(case.query, consume=chance(choices, 25)))


class _Pattern(Gathering):
    def _over(self, one: str, two: str) -> Condition:
        gathered = [name for name in (one, two) if name in self._sets]
        if not gathered or chance(self._choices, 25):
            return super()._over(one, two)
        name = pick(self._choices, gathered)
        other = two if name == one else one
        return whole_condition(self._choices, name, other, other in self._sets)


def whole_condition(choices: Choices, name: str, other: str, is_set: bool) -> Condition:
    """A condition on the whole of the set `name`, and often on `other`."""
    if chance(choices, 40):
        condition: Condition = _with_previous(choices, name, other)
    else:
        condition = Comparison(
            pick(choices, OPERATORS), _aggregate(choices, name), _beside(choices, name, other, is_set)
        )
    if chance(choices, 15):
        condition = Disjunction((condition, unary_condition(choices, other, 0)))
    return Negation(condition) if chance(choices, 10) else condition


def _with_previous(choices: Choices, name: str, other: str) -> Condition:
    column = pick(choices, (*NUMBERS, "s"))
    before: Expression = Previous(Attribute(name, column), pick(choices, (1, 1, 2, 3)))
    if column != "s" and chance(choices, 15):
        before = Arithmetic("-", before, Previous(Attribute(name, column), pick(choices, (1, 2))))
    if column != "s" and chance(choices, 20):
        before = Arithmetic("+", before, Attribute(other, column))
    return Comparison(pick(choices, OPERATORS), Attribute(name, column), before)


def _aggregate(choices: Choices, name: str) -> Aggregate:
    function = pick(choices, AGGREGATES)
    if function == "count" and chance(choices, 50):
        return Aggregate(function, Attribute(name, EVENT))
    operand: Expression = Attribute(name, pick(choices, NUMBERS))
    if chance(choices, 15):
        operand = Arithmetic("*", operand, Attribute(name, pick(choices, NUMBERS)))
    return Aggregate(function, operand, function == "count" and chance(choices, 50))


def _beside(choices: Choices, name: str, other: str, is_set: bool) -> Expression:
    match choices.below(4):
        case 0 | 1:
            return Literal(pick(choices, (1, 2, 3, 4, 2.5)))
        case 2:
            return Attribute(pick(choices, (name, other)), pick(choices, NUMBERS))
        case _:
            return _aggregate(choices, other if is_set else name)
