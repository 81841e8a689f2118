"""A condition on every event of sets → conditions on atoms, where some of its events may come later, for `attach`.

In: a condition over *plurals* (sets) and single variables, and a pattern without filters that gathers the
plurals. Out: the pattern, with tests on atoms such that they all pass exactly if the condition holds for every choice.
The test for a choice stands on its last event. Of a plural's earlier events a run then remembers one, its *extreme*:
all prices are below z.price if the highest is, and all equal z.id if one does and they equal each other. An extreme is
a register, written by the atoms that `Bind` it: at the plural's first event, and at each that is harder to satisfy.

A `Known` is the state of a run: which events have been seen. The pattern gets one alternative for each pair of states
before and after it, so no run guesses. Where the events of a plural can fail in more than one direction, as with `<>`,
there is no extreme: then the condition becomes a `Check` of whole matches (`attach_rounds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import assert_never

from cepheid.algebra.conditions import (
    FALSE,
    MIRRORED,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Expression,
    IsNull,
    IsTrue,
    Negation,
    sets_read,
    variables,
    with_attributes,
    without_negations,
)
from cepheid.algebra.empty import EMPTY, NOTHING, either
from cepheid.algebra.limits import guarded
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
from cepheid.algebra.pattern_alternatives import Alternatives, merged
from cepheid.algebra.variables import defined, names_of, sets
from cepheid.automata.attach_atoms import not_bound, restricted


class NoExtremeError(Exception):
    """No single event of a plural decides for all."""


NONE, SOME, FAILED = range(3)
"""What a run knows of a plural: it has had no event; the extreme is remembered; its events fail whatever comes."""


@dataclass(frozen=True, slots=True)
class Known:
    """The single variables that are bound, and per plural, in the order of their names, what is known of it."""

    singles: frozenset[str]
    levels: tuple[int, ...]

    def having(self, plural: int, level: int) -> Known:
        return replace(self, levels=(*self.levels[:plural], level, *self.levels[plural + 1 :]))


@dataclass(frozen=True, slots=True)
class _Compared:
    """How a plural is compared: `value` op something else, or not so where `negated`."""

    value: Expression
    op: str
    negated: bool
    where: Condition

    @property
    def may_be_nan(self) -> bool:
        """Whether what equals nothing satisfies it."""
        return self.negated and self.op != "<>"

    @property
    def wants_equal(self) -> bool:
        return self.op == ("<>" if self.negated else "=")

    @property
    def wants_more(self) -> bool:
        """Whether the lower one is the harder."""
        return (self.op in (">", ">=")) != self.negated


def on_sets(
    condition: Condition, pattern: Pattern, known: frozenset[str], register: Callable[[str], str]
) -> Pattern:
    """The pattern whose matches satisfy the condition; `NoExtremeError` where there is none. `known`: variables bound
    before it; `register`: a new name.

    >>> from cepheid.algebra.conditions import Attribute
    >>> from cepheid.algebra.nodes import Repeat, Seq
    >>> below = Comparison("<", Attribute("X", "price", each=True), Attribute("z", "price"))
    >>> whole = Seq(Bind(Repeat(Atom("A"), 1, None), "X"), Atom("B", "z"))
    >>> done = on_sets(below, whole, frozenset(), lambda name: f"{name}+")
    >>> done.right.condition == Comparison("<", Attribute("X+", "price"), Attribute(None, "price"))
    True
    """
    return _OnSets(condition, known, register).whole(pattern)


class _OnSets(Alternatives[Known]):
    def __init__(self, condition: Condition, known: frozenset[str], register: Callable[[str], str]) -> None:
        super().__init__()
        self._condition = condition
        self.gathered = sets_read(condition)
        self._plurals = tuple(sorted(self.gathered))
        self._singles = variables(condition) - self.gathered
        self._registers = {name: register(name) for name in self._plurals}
        self._start = Known(known & self._singles, (NONE,) * len(self._plurals))
        self._compared: dict[str, _Compared] | None = None
        """How the plurals whose extremes are remembered are compared; None while that is found out."""
        self._remembered: set[str] = set()

    def whole(self, pattern: Pattern) -> Pattern:
        for known in self.alternatives(pattern, self._start):
            if known.singles != self._singles and any(known.levels):
                raise not_bound(self._condition)
        self._compared = {name: _compared(self._condition, name) for name in sorted(self._remembered)}
        self._found.clear()
        alternatives = self.alternatives(pattern, self._start)
        return guarded(either(alternatives.values()) if alternatives else NOTHING, "attach")

    def _concerns(self, pattern: Pattern, known: Known) -> bool:
        return bool(sets(pattern) & self.gathered or defined(pattern) & self._singles)

    def _atom(self, atom: Atom, known: Known, inside: frozenset[str]) -> dict[Known, Pattern]:
        own = names_of(atom) & self._singles
        tests = self._tests(own, inside, known)
        if FALSE in tests:
            return {}
        tested: Pattern = EMPTY
        if self._compared is not None:
            tested = atom
            for test in tests:
                tested = restricted(tested, test)
        alternatives = {replace(known, singles=known.singles | own): tested}
        for number, plural in enumerate(self._plurals):
            if plural in inside:
                alternatives = merged(self._noted(number, part, then) for then, part in alternatives.items())
        return alternatives

    def _tests(self, own: frozenset[str], inside: frozenset[str], known: Known) -> list[Condition]:
        """One for each choice whose last event this may be: in the roles `own` and some of `inside`."""
        missing = self._singles - known.singles
        if missing != own:
            return []
        tests = []
        for count in range(len(inside) + 1):
            for roles in combinations(sorted(inside), count):
                earlier = [name for name in self._plurals if name not in roles]
                levels = {name: known.levels[self._plurals.index(name)] for name in earlier}
                if (own or roles) and NONE not in levels.values():
                    self._remembered.update(earlier)
                    tests.append(self._test(own.union(roles), levels))
        return list(dict.fromkeys(tests))

    def _test(self, at_hand: frozenset[str], levels: Mapping[str, int]) -> Condition:
        condition = self._condition
        for name, level in levels.items():
            if level == FAILED and self._compared is not None:
                condition = _without(condition, self._compared[name].where)
        names = {**dict.fromkeys(at_hand), **{name: self._registers[name] for name in levels}}
        return about(condition, names)

    def _noted(self, number: int, pattern: Pattern, known: Known) -> dict[Known, Pattern]:
        """What is known of a plural once it has this event, too."""
        plural, level = self._plurals[number], known.levels[number]
        if known.singles == self._singles and len(self._plurals) == 1:
            return {known: pattern}  # nothing comes later that it is compared with
        if self._compared is None:
            levels = (FAILED,) if level == FAILED else (SOME, FAILED)
            return {known.having(number, one): pattern for one in levels}
        if plural not in self._compared or level == FAILED:
            return {known: pattern}
        compared = self._compared[plural]
        if not variables(compared.value) <= known.singles | {plural}:
            raise NoExtremeError
        value = about(compared.value, {plural: None})
        kept = about(compared.value, {plural: self._registers[plural]})
        fits: Condition = Comparison("=", value, value)
        if compared.may_be_nan:
            fits = Negation(IsNull(value))
        if compared.wants_equal and level == SOME:
            fits = Comparison("=", value, kept)
        fitting = _restricted(pattern, fits)
        noted = Bind(fitting, self._registers[plural])
        alternatives: dict[Known, Pattern] = {known.having(number, SOME): noted}
        if level == SOME and compared.wants_equal:
            alternatives = {known: fitting}
        elif level == SOME:
            harder = _harder(compared, value, kept)
            easier = _restricted(fitting, Negation(IsTrue(harder)))
            alternatives = {known: Or((_restricted(noted, harder), easier))}
        if len(self._plurals) > 1 or _without(self._condition, compared.where) != FALSE:
            failing = _restricted(pattern, Negation(IsTrue(fits)))
            alternatives = merged([alternatives, {known.having(number, FAILED): failing}])
        return alternatives


def _harder(compared: _Compared, value: Expression, kept: Expression) -> Condition:
    """Whether a value satisfies less than the one that is kept, both being no NULL."""
    harder: Condition = Comparison("<" if compared.wants_more else ">", value, kept)
    if compared.may_be_nan:  # what equals nothing, itself included, is the easiest
        a_number = Conjunction((Comparison("<>", kept, kept), Comparison("=", value, value)))
        harder = Disjunction((harder, a_number))
    return harder


def _compared(condition: Condition, plural: str) -> _Compared:
    """The one comparison that the condition, which holds if it does, asks of a plural."""
    operands = condition.operands if isinstance(condition, Disjunction) else (condition,)
    concerned = [operand for operand in operands if plural in variables(operand)]
    inner, negated = without_negations(concerned[0])
    if len(concerned) == 1 and isinstance(inner, Comparison):
        sides = [plural in variables(side) for side in (inner.left, inner.right)]
        wants_other = inner.op == ("=" if negated else "<>")
        if sum(sides) == 1 and not wants_other:
            value = inner.left if sides[0] else inner.right
            others = sets_read(value) - {plural}
            if not others:
                op = inner.op if sides[0] else MIRRORED[inner.op]
                return _Compared(value, op, negated, concerned[0])
    raise NoExtremeError


def _without(condition: Condition, part: Condition) -> Condition:
    """What is left of a condition where a part of it is known not to hold."""
    if condition == part:
        return FALSE
    if not isinstance(condition, Disjunction):
        return condition
    operands = tuple(operand for operand in condition.operands if operand != part)
    return operands[0] if len(operands) == 1 else Disjunction(operands)


def about(expression: Expression, names: Mapping[str, str | None]) -> Expression:
    """The expression with these variables read from registers, or from the event at hand (None)."""
    return with_attributes(
        expression,
        lambda one: (
            one if one.var is None or one.var not in names else replace(one, var=names[one.var], each=False)
        ),
    )


def _restricted(pattern: Pattern, condition: Condition) -> Pattern:
    """A condition on an atom, or on each of several, that writes registers."""
    match pattern:
        case Atom():
            return restricted(pattern, condition)
        case Bind(body):
            return replace(pattern, body=_restricted(body, condition))
        case Or(parts):
            return Or(tuple(_restricted(part, condition) for part in parts))
        case Seq() | StrictSeq() | All() | Repeat() | Filter():
            raise AssertionError(pattern)
        case PartBy() | Select() | Not() | Within() | Recognise():
            raise AssertionError(pattern)
        case _:
            assert_never(pattern)
