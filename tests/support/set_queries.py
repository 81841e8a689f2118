"""Random queries of CEL that compare every event of a set, or of all rounds, with events that come before or after.

In: a `Choices` of `generators`. Out: a `Case`: a sequence of sets, rounds, alternatives, options and single events,
whose filters, outside and inside of rounds, read a set, or a round's event, and a single event from anywhere in the
sequence; or two sets; or two events of a round. Rounds lie in rounds, and what is inside reads what all around it bind,
before and after.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from cepheid.algebra.conditions import (
    Arithmetic,
    Attribute,
    Call,
    Comparison,
    Condition,
    Disjunction,
    Expression,
    Like,
    Literal,
    Negation,
)
from cepheid.algebra.nodes import Atom, Bind, Filter, Or, Pattern, Repeat, Seq, Strategy
from support.compared_queries import COMPARED
from support.generators import (
    Case,
    Choices,
    Draw,
    Drawn,
    Limits,
    Seeded,
    chance,
    nary_condition,
    pick,
    unary_condition,
)
from support.random_patterns import Making, case_of

GATHERED = replace(COMPARED, events=12, strategies=(*COMPARED.strategies, *Strategy))
ROUNDS = ((1, None), (1, None), (0, None), (2, None), (1, 2), (0, 3))


@st.composite
def gathered_cases(draw: Draw, limits: Limits = GATHERED) -> Case:
    """A Hypothesis strategy."""
    return gathered_case(Drawn(draw), limits)


def seeded_gathered(seed: int, limits: Limits = GATHERED) -> Case:
    """The case that belongs to a seed."""
    return gathered_case(Seeded(seed), limits)


def gathered_case(choices: Choices, limits: Limits = GATHERED) -> Case:
    case = case_of(choices, limits, Gathering(choices).sequence(), plain=50)
    return replace(case, query=replace(case.query, consume=chance(choices, 25)))


class Gathering(Making):
    """Which events are single ones is settled first, in a sequence and in each round, so that any filter can read
    them."""

    strict = 10

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self._rounds = iter("abcdefghijklmnop")
        self._free_sets = iter(f"{letter}{number}" for number in ("", "1", "2") for letter in "XYZUVW")
        self._sets: list[str] = []
        self._singles: list[str] = []

    def sequence(self) -> Pattern:
        kinds = [chance(self._choices, 40) for _ in range(2 + self._choices.below(2))]
        kinds[self._choices.below(len(kinds))] = True
        self._singles = [f"z{place}" for place, is_single in enumerate(kinds) if is_single]
        names = iter(self._singles)
        parts = [
            self._single(next(names)) if is_single else self._several(1 + self._choices.below(2))
            for is_single in kinds
        ]
        whole = parts[0]
        for part in parts[1:]:
            whole = self._joined(whole, part)
        for _ in range(1 + self._choices.below(2)):
            if self._sets:
                whole = Filter(whole, self._on_sets())
        return whole

    def _single(self, name: str) -> Pattern:
        if chance(self._choices, 10):
            name_of_set = self._set()
            return Bind(self._joined(Atom(self._type(), name), Atom(self._type())), name_of_set)
        return Atom(self._type(), name)

    def _several(self, depth: int) -> Pattern:
        match self._choices.below(8):
            case 0 | 1:
                return Bind(Repeat(self._unnamed(), *pick(self._choices, ROUNDS)), self._set())
            case 2:
                return self._of_rounds()
            case 3:
                one, two = (Bind(self._unnamed(), self._set()) for _ in range(2))
                both = pick(self._choices, (Or((one, two)), Seq(one, two)))
                return Repeat(both, *pick(self._choices, ROUNDS))
            case 4 if depth:
                return Repeat(self._several(depth - 1), *pick(self._choices, (*ROUNDS, (0, 1))))
            case 5 | 6:
                return self._in_rounds(depth, self._singles)
            case _:
                inner = Bind(Repeat(self._unnamed(), 1, None), name := self._set())
                return Filter(inner, self._over(name, pick(self._choices, self._singles)))

    def _of_rounds(self) -> Pattern:
        """Rounds whose events are compared with single ones outside, whether these come before or after."""
        one, two = next(self._rounds), next(self._rounds)
        body: Pattern = Atom(self._type(), one)
        outer = pick(self._choices, self._singles)
        if chance(self._choices, 40):
            body = self._joined(body, Atom(self._type(), two))
            if chance(self._choices, 30):
                total = Arithmetic("+", Attribute(one, "n"), Attribute(two, "n"))
                return Repeat(Filter(body, self._compared(total, Attribute(outer, "n"))), 1, None)
            body = Filter(body, self._over(two, outer))
        body = Filter(body, self._over(one, outer))
        if chance(self._choices, 20):
            body = Or((body, Atom(self._type())))
        return Repeat(body, *pick(self._choices, ROUNDS))

    def _in_rounds(self, depth: int, around: list[str]) -> Pattern:
        """Rounds of sets, single events and rounds, with filters of what they bind and of what is bound `around`."""
        kinds = [chance(self._choices, 50) for _ in range(2 + self._choices.below(2))]
        own = [next(self._rounds) for is_single in kinds if is_single]
        names, before = iter(own), len(self._sets)
        parts = [
            Atom(self._type(), next(names)) if is_single else self._in_round(depth, [*around, *own])
            for is_single in kinds
        ]
        body = parts[0]
        for part in parts[1:]:
            body = self._joined(body, part)
        several = [*own, *self._sets[before:]]
        for _ in range(1 + self._choices.below(2)):
            if several:
                body = Filter(body, self._of_round(several, around))
        if chance(self._choices, 20):
            body = Or((body, Atom(self._type())))
        return Repeat(body, *pick(self._choices, ROUNDS))

    def _in_round(self, depth: int, around: list[str]) -> Pattern:
        if depth and chance(self._choices, 40):
            return self._in_rounds(depth - 1, around)
        gathered = Bind(self._unnamed(), self._set())
        match self._choices.below(4):
            case 0 | 1:
                return Repeat(gathered, *pick(self._choices, ROUNDS))
            case 2:
                return Repeat(gathered, 0, 1)
            case _:
                return Or((gathered, Atom(self._type())))

    def _of_round(self, several: list[str], around: list[str]) -> Condition:
        one = pick(self._choices, several)
        others = [name for name in (*several, *around) if name != one]
        two = pick(self._choices, others)
        if len(others) > 1 and chance(self._choices, 40):
            three = pick(self._choices, [name for name in others if name != two])
            total = Arithmetic("+", Attribute(one, "n"), Attribute(two, "n"))
            return self._compared(total, Attribute(three, "n"))
        return self._over(one, two)

    def _on_sets(self) -> Condition:
        one = pick(self._choices, self._sets)
        others = [name for name in (*self._singles, *self._sets) if name != one]
        return self._over(one, pick(self._choices, others)) if others else unary_condition(self._choices, one)

    def _over(self, one: str, two: str) -> Condition:
        if chance(self._choices, 20):
            return nary_condition(self._choices, one, two)
        name = pick(self._choices, ("n", "n", "id", "v", "s"))
        left, right = Attribute(one, name), Attribute(two, name)
        if name != "s" and chance(self._choices, 15):
            left = Arithmetic("+", Attribute(one, name), Literal(1))
        if name == "s" and chance(self._choices, 20):
            return Like(Call("concat", (left, right)), "%a")
        holds = self._compared(left, right)
        if chance(self._choices, 15):
            holds = Disjunction((holds, unary_condition(self._choices, two, 0)))
        return holds

    def _compared(self, left: Expression, right: Expression) -> Condition:
        operators = ("<=", ">=", "<=", ">=", "<", "=", "=", "<>")
        compared = Comparison(pick(self._choices, operators), left, right)
        if chance(self._choices, 50):
            compared = Comparison(compared.op, right, left)
        return Negation(compared) if chance(self._choices, 15) else compared

    def _unnamed(self) -> Pattern:
        return Atom(self._type())

    def _set(self) -> str:
        if self._sets and chance(self._choices, 10):
            return pick(self._choices, self._sets)  # gathered in two places
        self._sets.append(next(self._free_sets))
        return self._sets[-1]
