"""NOT as a check of whole matches: its *rivals* are single events of the stream, each asked beside a whole match.

In: a rewritten pattern, in which some NOT compares what it forbids with any events of the match, or forbids a number of
events. Out: the pattern without it, and a `RivalCheck` that says of a match which events would reject it. Where the NOT
stands is told by names that gather the events before it, after it and of the branch that it is in (`semantics.results`
has the definition: a rival fits into the order, the conditions and the window of the match).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import assert_never

from cepheid.algebra.conditions import (
    Condition,
    attributes,
    conjunction,
    conjuncts,
    is_about_whole_sets,
    sets_read,
    variables,
    with_names,
)
from cepheid.algebra.empty import EMPTY, is_empty
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Nfab,
    Not,
    Or,
    PartBy,
    Pattern,
    Recognise,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Window,
    Within,
    rebuild,
    walk,
)
from cepheid.algebra.printing import print_pattern
from cepheid.algebra.reach import may_be_empty
from cepheid.algebra.variables import bound, is_iteration, names_of
from cepheid.automata.attach_atoms import NotAttachedError


@dataclass(frozen=True, slots=True)
class Rival:
    """An event of the atom, whose conditions are its own, for which the condition is true, if there is one: over its
    own attributes (var None) and those of the match's events, var the name that gathers them."""

    atom: Atom
    condition: Condition | None


@dataclass(frozen=True, slots=True)
class RivalCheck:
    """`least` of these rivals reject a match that has events of every name in `branches`: after all events of the names
    `before` and before all of `after`, inside the query's window together with the match, and `within` so much of
    the event before, or, where there is none, of the one after. `apart`: none of them is an event of the match."""

    absence: str
    rivals: tuple[Rival, ...]
    least: int
    before: frozenset[str]
    after: frozenset[str]
    branches: frozenset[str]
    apart: bool
    within: Window | None
    window: Window | None

    @property
    def windows(self) -> tuple[Window | None, ...]:
        return self.within, self.window

    @property
    def compared(self) -> frozenset[str]:
        """The names of events that conditions compare with, of which a match has one each."""
        read = (variables(rival.condition) for rival in self.rivals if rival.condition is not None)
        return frozenset[str]().union(*read)

    @property
    def names(self) -> frozenset[str]:
        """What the events of a match need be labelled with."""
        return self.before | self.after | self.branches | self.compared

    @property
    def reads(self) -> frozenset[str]:
        """The attributes that conditions compare."""
        conditions = [rival.condition for rival in self.rivals if rival.condition is not None]
        return frozenset(item.name for condition in conditions for item in attributes(condition))


def without_rivals(pattern: Pattern, window: Window | None) -> tuple[Pattern, tuple[RivalCheck, ...]]:
    """The pattern without the NOTs that a check decides, and these checks.

    >>> from cepheid.algebra.conditions import Attribute, Comparison
    >>> late = Filter(Atom("B", "b"), Comparison("<", Attribute("b", "x"), Attribute("c", "x")))
    >>> whole, (check,) = without_rivals(Seq(Seq(Atom("A"), Not(late)), Atom("C", "c")), None)
    >>> print_pattern(whole)
    'A IN "⊣2" ; C AS c IN "=c" IN "⊢1"'
    >>> sorted(check.before), sorted(check.after), sorted(check.compared)
    (['⊣2'], ['⊢1'], ['=c'])
    """
    taking = _Taking(pattern, window)
    left = taking.apart(pattern, _Around())
    read = frozenset[str]().union(*(check.compared for check in taking.checks))
    return _gathered(left, read), tuple(taking.checks)


@dataclass(frozen=True, slots=True)
class _Around:
    """What a part of the pattern has around it."""

    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    branches: frozenset[str] = frozenset()
    beside: frozenset[bool] = frozenset()
    """Whether the sides of each ALL around it stay apart."""


@dataclass(slots=True)
class _Taking:
    pattern: Pattern
    window: Window | None
    checks: list[RivalCheck] = field(default_factory=list)
    _next: Iterator[int] = field(default_factory=count)

    def apart(self, pattern: Pattern, around: _Around) -> Pattern:
        if not any(_is_for_a_check(node) for node in walk(pattern)):
            return pattern
        match pattern:
            case Not(body, within) if _is_for_a_check(pattern):
                self.checks.append(self._check(body, within, around))
                return EMPTY
            case Seq(left, right) | StrictSeq(left, right):
                return self._sequence(type(pattern), left, right, around)
            case All(left, right, apart):
                beside = replace(around, beside=around.beside | {apart})
                one, two = self.apart(left, beside), self.apart(right, beside)
                if is_empty(one) or is_empty(two):
                    return two if is_empty(one) else one
                return All(one, two, apart)
            case Or(parts):
                return Or(tuple(self._branch(part, around) for part in parts))
            case Bind(body):
                return self._around(pattern, self.apart(body, around))
            case Filter(body, condition):
                if is_about_whole_sets(condition) or sets_read(condition):
                    raise _beyond(pattern)
                return self._around(pattern, self.apart(body, around))
            case Repeat(body, 1, 1):
                return self.apart(body, around)
            case Repeat(body) if not is_iteration(pattern):
                return self._around(pattern, self._branch(body, around))
            case Not() | Repeat() | PartBy() | Select() | Within() | Atom() | Recognise() | Nfab():
                raise _beyond(pattern)
            case _:
                assert_never(pattern)

    def _around(self, node: Bind | Filter | Repeat, body: Pattern) -> Pattern:
        return EMPTY if is_empty(body) else replace(node, body=body)

    def _sequence(
        self, sequence: type[Seq | StrictSeq], left: Pattern, right: Pattern, around: _Around
    ) -> Pattern:
        in_left = any(map(_is_for_a_check, walk(left)))
        in_right = any(map(_is_for_a_check, walk(right)))
        first, second = f"⊣{next(self._next)}", f"⊢{next(self._next)}"
        one = self.apart(left, replace(around, after=around.after | {second}))
        two = self.apart(right, replace(around, before=around.before | {first}))
        one = Bind(one, first) if in_right and not is_empty(one) else one
        two = Bind(two, second) if in_left and not is_empty(two) else two
        if is_empty(one) or is_empty(two):
            return two if is_empty(one) else one
        return sequence(one, two)

    def _branch(self, part: Pattern, around: _Around) -> Pattern:
        if not any(map(_is_for_a_check, walk(part))):
            return part
        if may_be_empty(part):
            raise _beyond(part)
        name = f"⊙{next(self._next)}"
        return Bind(self.apart(part, replace(around, branches=around.branches | {name})), name)

    def _check(self, body: Pattern, within: Window | None, around: _Around) -> RivalCheck:
        written = print_pattern(Not(body, within))
        least, rivals = _counted(body)
        if len(around.beside) > 1 or (least > 1 and (len(rivals) > 1 or around.beside)):
            raise _beyond(Not(body, within))
        read = frozenset[str]().union(
            *(variables(one.condition) for one in rivals if one.condition is not None)
        )
        if not read <= bound(self.pattern):
            raise NotAttachedError(f"{written} compares with an event that not every match has")
        named = {name: f"={name}" for name in read}
        return RivalCheck(
            written,
            tuple(
                one if one.condition is None else replace(one, condition=with_names(one.condition, named))
                for one in rivals
            ),
            least,
            around.before,
            around.after,
            around.branches,
            around.beside == {True},
            within,
            self.window,
        )


def _is_for_a_check(node: Pattern) -> bool:
    """Whether a NOT does more than forbid single events by their own attributes."""
    if not isinstance(node, Not):
        return False
    counts = any(isinstance(part, Repeat) and part.lo > 1 for part in walk(node.body))
    compares = any(isinstance(part, Filter) for part in walk(node.body))
    return counts or compares


def _counted(body: Pattern) -> tuple[int, tuple[Rival, ...]]:
    """How many of which rivals a NOT forbids."""
    if (
        isinstance(body, Repeat)
        and body.lo > 1
        and not body.strict
        and (body.hi is None or body.hi >= body.lo)
    ):
        return body.lo, _rivals(body.body)
    return 1, _rivals(body)


def _rivals(body: Pattern) -> tuple[Rival, ...]:
    match body:
        case Atom():
            return (Rival(replace(body, var=None, also=()), None),)
        case Or(parts):
            return tuple(rival for part in parts for rival in _rivals(part))
        case Bind(inner) | Repeat(inner, 1, None | 1):
            return _rivals(inner)
        case Filter(inner, condition) if not sets_read(condition):
            own = {name for node in walk(inner) if isinstance(node, Atom) for name in names_of(node)}
            return tuple(_filtered(rival, condition, own) for rival in _rivals(inner))
        case (
            Seq()
            | StrictSeq()
            | All()
            | Repeat()
            | Filter()
            | PartBy()
            | Select()
            | Not()
            | Within()
            | Recognise()
            | Nfab()
        ):
            raise _beyond(Not(body))
        case _:
            assert_never(body)


def _filtered(rival: Rival, condition: Condition, own: set[str]) -> Rival:
    asked = conjuncts(with_names(condition, dict.fromkeys(own)))
    unary = [part for part in asked if all(item.var is None for item in attributes(part))]
    others = [part for part in asked if part not in unary]
    kept = [] if rival.atom.condition is None else [rival.atom.condition]
    if unary:
        kept.append(conjunction(tuple(unary)))
    if rival.condition is not None:
        others.insert(0, rival.condition)
    return Rival(
        replace(rival.atom, condition=conjunction(tuple(kept)) if kept else None),
        conjunction(tuple(others)) if others else None,
    )


def _beyond(pattern: Pattern) -> NotAttachedError:
    return NotAttachedError(f"{print_pattern(pattern)} forbids more than events that are asked one by one")


def _gathered(pattern: Pattern, names: frozenset[str]) -> Pattern:
    """The pattern with the events of variables gathered under the names by which conditions of rivals read them."""
    if not isinstance(pattern, Atom):
        return rebuild(pattern, lambda child: _gathered(child, names))
    found: Pattern = pattern
    for name in sorted(names_of(pattern)):
        if f"={name}" in names:
            found = Bind(found, f"={name}")
    return found
