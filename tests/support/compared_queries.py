"""Random queries of CEL whose filters compare events with earlier ones, and often hold.

In: a `Choices` of `generators`. Out: a `Case`, mostly one that the configurations evaluator takes: a sequence of atoms,
alternatives, optional parts, iterations (of several events, with filters of their own) and sets, with filters over two
and three variables at any depth. Conditions are drawn so that they hold for many pairs of events: a third of the
cases and more have matches that a comparison decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from cepheid.algebra.conditions import Arithmetic, Attribute, Comparison, Condition, Disjunction, Literal
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Or,
    PartBy,
    Pattern,
    Repeat,
    Seq,
    Strategy,
    WindowUnit,
    rebuild,
)
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

COMPARED = Limits(
    events=18,
    atoms=4,
    strategies=(Strategy.ALL, Strategy.ALL, Strategy.ALL, Strategy.STRICT),
    windows=(None, *WindowUnit),
)
ROUNDS = ((1, None), (0, None), (1, 2), (2, None), (0, 1), (2, 3))


@st.composite
def compared_cases(draw: Draw, limits: Limits = COMPARED) -> Case:
    """A Hypothesis strategy."""
    return compared_case(Drawn(draw), limits)


def seeded_compared(seed: int, limits: Limits = COMPARED) -> Case:
    """The case that belongs to a seed."""
    return compared_case(Seeded(seed), limits)


def compared_case(choices: Choices, limits: Limits = COMPARED) -> Case:
    return case_of(choices, limits, _Pattern(choices, limits).sequence(), plain=50)


def seeded_mixed(seed: int, limits: Limits = COMPARED) -> Case:
    """The case that belongs to a seed, with parts in any order and of one key."""
    choices = Seeded(seed)
    case = compared_case(choices, limits)
    mixed = replace(case.query, pattern=_mixed(choices, case.query.pattern))
    return replace(case, query=replace(mixed, strategy=pick(choices, (Strategy.ALL, *Strategy))))


def _mixed(choices: Choices, pattern: Pattern) -> Pattern:
    pattern = rebuild(pattern, lambda child: _mixed(choices, child))
    if isinstance(pattern, Seq) and chance(choices, 30):
        pattern = All(pattern.left, pattern.right)
    if isinstance(pattern, Seq | All | Repeat) and chance(choices, 25):
        return PartBy(pattern, ((None, pick(choices, ("id", "id", "s", "v"))),))
    return pattern


class _Pattern(Making):
    """Names are handed out once, so that every filter can say what it means."""

    strict = 15

    def __init__(self, choices: Choices, limits: Limits) -> None:
        super().__init__(choices)
        self._limits = limits
        self._names = iter(f"{letter}{number}" for number in range(9) for letter in "xyz")
        self._sets = iter("XYZUVW")

    def sequence(self) -> Pattern:
        """At least two events, and a filter over the first and a later one, or at least one filter more."""
        first = self._name()
        whole: Pattern = Atom(self._type(), first)
        known = [first]
        more = self._limits.atoms - 1
        for place in range(1 + min(self._choices.below(more), self._choices.below(more))):
            part, names = self._part(known)
            whole = self._joined(whole, part)
            if names and (place == 0 or chance(self._choices, 40)):
                whole = Filter(whole, self._over(known, names))
            known += names
        if len(known) > 2 and chance(self._choices, 30):
            whole = Filter(whole, self._over(known[:-1], known[-1:]))
        return whole

    def _part(self, known: list[str]) -> tuple[Pattern, list[str]]:
        """What comes next, and the variables that it binds once."""
        match self._choices.below(10):
            case 0 | 1 | 2 | 3:
                name = self._name()
                return self._atom(name), [name]
            case 4 | 5:
                return self._rounds(known), []
            case 6:
                name = self._name()
                return Or((self._atom(name), self._atom(name))), [name]
            case 7:
                return self._optional(known), []
            case 8:
                return self._gathered(known), []
            case _:
                one, two = self._name(), self._name()
                both = self._joined(self._atom(one), self._atom(two))
                return Filter(both, self._over([one, *known], [two])), [one, two]

    def _rounds(self, known: list[str]) -> Pattern:
        """An iteration whose events are compared with each other, or with what came before all rounds."""
        one = self._name()
        body: Pattern = Atom(self._type(), one)
        if chance(self._choices, 50):
            body = Filter(body, self._over(known, [one]))
        if chance(self._choices, 40):
            two = self._name()
            body = Filter(self._joined(body, self._atom(two)), self._over([one, *known], [two]))
        return Repeat(body, *pick(self._choices, ROUNDS))

    def _optional(self, known: list[str]) -> Pattern:
        name = self._name()
        return Repeat(Filter(self._atom(name), self._over(known, [name])), 0, 1)

    def _gathered(self, known: list[str]) -> Pattern:
        name = next(self._sets)
        gathered = Bind(Repeat(Atom(self._type()), 1, None), name)
        return Filter(gathered, self._over(known, [name])) if chance(self._choices, 80) else gathered

    def _atom(self, name: str) -> Pattern:
        atom = Atom(self._type(), name)
        return Filter(atom, unary_condition(self._choices, name)) if chance(self._choices, 10) else atom

    def _name(self) -> str:
        return next(self._names)

    def _over(self, earlier: Sequence[str], later: Sequence[str]) -> Condition:
        one, two = pick(self._choices, earlier), pick(self._choices, later)
        if len(earlier) > 1 and chance(self._choices, 25):
            other = pick(self._choices, [name for name in earlier if name != one])
            return self._of_three(one, other, two)
        if chance(self._choices, 40):
            return nary_condition(self._choices, one, two)
        name, operator = pick(
            self._choices, (("n", "<="), ("id", "="), ("n", ">="), ("s", "="), ("n", "<>"), ("v", "<="))
        )
        holds: Condition = Comparison(operator, Attribute(one, name), Attribute(two, name))
        if chance(self._choices, 20):
            holds = Disjunction((holds, unary_condition(self._choices, two, 0)))
        return holds

    def _of_three(self, one: str, two: str, three: str) -> Condition:
        name = pick(self._choices, ("n", "id"))
        sum = Arithmetic("+", Attribute(one, name), Attribute(two, name))
        bound = Arithmetic("+", Attribute(three, name), Literal(pick(self._choices, (1, 0, 2))))
        return Comparison(pick(self._choices, ("<=", ">=", "<>", "=")), sum, bound)
