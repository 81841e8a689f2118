"""Random cases with absence, conjunction, windows of parts and steps, nested strategies, contiguous rounds, any events.

In: a random case of `generators`. Out: the same case, some nodes of its pattern changed or put into new ones. What
`check_scope` refuses is drawn again, so that every case is well-formed. Number 0 changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from hypothesis import strategies as st

from cepheid.algebra.nodes import (
    PREVIOUS,
    All,
    Atom,
    Filter,
    Not,
    Or,
    Pattern,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    Window,
    WindowUnit,
    Within,
    rebuild,
)
from cepheid.algebra.scope import check_scope
from cepheid.algebra.variables import bound, defined_once, is_iteration, with_sets
from cepheid.errors import CepheidError
from support.generators import (
    Case,
    Choices,
    Draw,
    Drawn,
    Limits,
    Seeded,
    case,
    chance,
    event_type,
    nary_condition,
    pick,
    unary_condition,
)

FORBIDDEN = ("f", "g", "h")
ABSENCE, CONJUNCTION, WINDOWS, STRATEGIES, CONTIGUOUS, ANY, BETWEEN = range(7)
EVERYTHING = (ABSENCE, ABSENCE, CONJUNCTION, WINDOWS, STRATEGIES, CONTIGUOUS, ANY)


@st.composite
def varied_cases(draw: Draw, limits: Limits, kinds: Sequence[int] = EVERYTHING) -> Case:
    """A Hypothesis strategy for whole cases."""
    return varied(Drawn(draw), limits, kinds)


def seeded_varied(seed: int, limits: Limits, kinds: Sequence[int] = EVERYTHING) -> Case:
    """The case that belongs to a seed."""
    return varied(Seeded(seed), limits, kinds)


def seeded_waiting(seed: int, limits: Limits) -> Case:
    """The case that belongs to a seed; its matches are known only some time after their last event, if it can be."""
    choices = Seeded(seed)
    plain = varied(choices, limits, (ABSENCE, ABSENCE, CONJUNCTION, WINDOWS, ANY))
    timestamps = pa.types.is_timestamp(plain.table.schema.field("ts").type)
    change = _Change(choices, limits, (ABSENCE,), timestamps)
    for _ in range(4):
        query = replace(plain.query, pattern=with_sets(change.waiting(plain.query.pattern)))
        try:
            check_scope(query)
        except CepheidError:
            continue
        return replace(plain, query=query)
    return plain


def varied(choices: Choices, limits: Limits, kinds: Sequence[int] = EVERYTHING) -> Case:
    plain = case(choices, limits)
    for _ in range(4):
        change = _Change(choices, limits, kinds, pa.types.is_timestamp(plain.table.schema.field("ts").type))
        query = replace(plain.query, pattern=with_sets(change.varied(plain.query.pattern, frozenset())))
        if isinstance(query.pattern, Select) and query.strategy is Strategy.ALL:  # as the language reads it
            query = replace(query, pattern=query.pattern.body, strategy=query.pattern.strategy)
        try:
            check_scope(query)
        except CepheidError:
            continue
        return replace(plain, query=query)
    return plain


@dataclass(slots=True)
class _Change:
    choices: Choices
    limits: Limits
    kinds: Sequence[int]
    timestamps: bool

    def varied(self, pattern: Pattern, around: frozenset[str]) -> Pattern:
        known = around | bound(pattern)
        inner = known
        if isinstance(pattern, Repeat) and is_iteration(pattern):
            inner = known - defined_once(pattern.body)
        changed = rebuild(pattern, lambda child: self.varied(child, inner))
        return (
            self._changed(changed, sorted(known))
            if chance(self.choices, 22 if BETWEEN not in self.kinds else 60)
            else changed
        )

    def waiting(self, pattern: Pattern) -> Pattern:
        """The pattern with absence after its end."""
        choices, name = self.choices, "late"
        known = sorted(bound(pattern))
        window = self._window() if chance(choices, 60) else None
        whole = Seq(pattern, Not(self._forbidden(name, known), window))
        if known and self.limits.nary and chance(choices, 40):
            return Filter(whole, nary_condition(choices, name, pick(choices, known)))
        return whole

    def _changed(self, pattern: Pattern, known: list[str]) -> Pattern:
        choices = self.choices
        match pick(choices, self.kinds):
            case 0:
                return self._with_absence(pattern, known)
            case 1:
                if isinstance(pattern, All):
                    return replace(pattern, apart=not pattern.apart)
                other = Atom(event_type(choices))
                return All(pattern, other, apart=True)
            case 2:
                of = pick(choices, (None, None, PREVIOUS, *known))
                return Within(pattern, self._window(), of=of)
            case 3:
                return Select(
                    pick(choices, (Strategy.MAX, Strategy.LAST, Strategy.NXT, Strategy.STRICT)), pattern
                )
            case 4:
                rounds = pick(choices, ((1, None), (0, None), (2, 2), (1, 3)))
                return Repeat(pattern, *rounds, strict=True)
            case 6:
                return self._with_event_between(pattern, known) if isinstance(pattern, Seq) else pattern
            case _:
                return replace(pattern, type=None) if isinstance(pattern, Atom) and pattern.var else pattern

    def _with_event_between(self, pattern: Seq, known: list[str]) -> Pattern:
        """Absence of an event between two others, which is a matter of waiting."""
        choices = self.choices
        name = pick(choices, FORBIDDEN)
        one: Pattern = Atom(event_type(choices), name)
        if chance(choices, 20):
            one = Or((one, Atom(event_type(choices), name)))
        whole = Seq(Seq(pattern.left, Not(one)), pattern.right)
        if known and self.limits.nary and chance(choices, 60):
            return Filter(whole, nary_condition(choices, name, pick(choices, known)))
        return Filter(whole, unary_condition(choices, name)) if chance(choices, 40) else whole

    def _with_absence(self, pattern: Pattern, known: list[str]) -> Pattern:
        choices = self.choices
        name = pick(choices, FORBIDDEN)
        absence = Not(self._forbidden(name, known), self._window() if chance(choices, 25) else None)
        place = choices.below(6)
        whole: Pattern
        if isinstance(pattern, Seq | StrictSeq) and place < 3:
            whole = Seq(Seq(pattern.left, absence), pattern.right)
        elif place == 5:
            whole = All(pattern, absence, apart=chance(choices, 80))
        elif place % 2:
            whole = Seq(absence, pattern)
        else:
            whole = Seq(pattern, absence)
        if known and self.limits.nary and chance(choices, 40):
            return Filter(whole, nary_condition(choices, name, pick(choices, known)))
        return Filter(whole, unary_condition(choices, name)) if chance(choices, 25) else whole

    def _forbidden(self, name: str, known: list[str]) -> Pattern:
        choices = self.choices
        one = Atom(event_type(choices), name)
        match choices.below(8):
            case 0 | 1 | 2 | 3:
                return one
            case 4:
                return Filter(one, unary_condition(choices, name))
            case 5:
                return Repeat(Atom(event_type(choices)), 2, None)
            case 6:
                other = Atom(event_type(choices))
                return pick(choices, (Seq(one, other), StrictSeq(one, other), Or((one, other))))
            case _:
                if not known or not self.limits.nary:
                    return Seq(one, Not(Atom(event_type(choices))))
                return Filter(one, nary_condition(choices, name, pick(choices, known)))

    def _window(self) -> Window:
        unit = WindowUnit.MICROSECONDS if self.timestamps else WindowUnit.PLAIN
        if chance(self.choices, 30):
            return Window(1 + self.choices.below(5), WindowUnit.EVENTS)
        return Window(pick(self.choices, (2, 0, 1, 3, 5)), unit)
