"""Rewritten pattern → complex event automaton (`cel-cea`, theorem 3 and appendix C.2), without ε-transitions.

In: a pattern without filters, each condition on its atom, and the names the output shows, sets among them. Out:
a `CEA` that accepts exactly the pattern's (complex event, binding) pairs.
The paper glues automata together with ε-transitions; removing them gives the *position automaton*: one state
per atom, entered by marking that atom's event, so a pattern is described by which atoms can come first, which
can come last, and which can follow which. An atom follows another *loosely* (`;` and repetition: anything in
between) or *strictly* (`:`: the very next event). Invariant: state 0 is initial and always skips to itself;
every other state is a position or the waiting copy of one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar, assert_never

from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Intersect,
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
from cepheid.algebra.variables import label_of
from cepheid.automata.cea import CEA, Mark, Predicate
from cepheid.errors import CepheidError, Span
from cepheid.rewrite.limits import not_too_deep

MOST_POSITIONS = 20_000

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Fragment:
    """What a sub-pattern offers to its neighbours: the positions it can begin and end with, and whether it
    can be empty."""

    first: frozenset[int]
    last: frozenset[int]
    nullable: bool


EMPTY = Fragment(frozenset(), frozenset(), True)


@dataclass(slots=True)
class Positions:
    """The atoms met so far (position p is `atoms[p - 1]`), the sets that gather them and who follows whom."""

    atoms: list[Atom] = field(default_factory=list)
    gatherers: list[set[str]] = field(default_factory=list)
    loose: list[set[int]] = field(default_factory=list)
    strict: list[set[int]] = field(default_factory=list)

    def add(self, atom: Atom) -> int:
        self.atoms.append(atom)
        self.gatherers.append(set())
        self.loose.append(set())
        self.strict.append(set())
        return len(self.atoms)


def construct(pattern: Pattern, shown: tuple[str, ...]) -> CEA:
    """The automaton of a rewritten pattern; events are labelled with the names in `shown` only.

    >>> automaton = construct(Seq(Atom("T", "x"), Atom("H", "y")), ("x",))
    >>> automaton.states, automaton.skips, sorted(automaton.finals)
    (3, (0, 1, None), [2])
    >>> [(mark.source, automaton.predicates[mark.predicate].type, mark.target) for mark in automaton.marks]
    [(0, 'T', 1), (1, 'H', 2)]
    """
    positions = Positions()
    with not_too_deep():
        check_positions(pattern)
        whole = _fragment(pattern, positions)
    return _automaton(positions, whole, frozenset(shown))


def check_positions(pattern: Pattern) -> None:
    """Raises for a pattern that would have too many states."""
    needed = count_positions(pattern)
    if needed > MOST_POSITIONS:
        raise CepheidError(
            "too-large",
            f"the automaton would have {needed} states; the limit is {MOST_POSITIONS}",
            hint="repetitions `{l,m}` are written out l to m times: lower the bounds, or use `+`",
        )


def count_positions(pattern: Pattern) -> int:
    """How many atoms the pattern has once its repetitions are written out.

    >>> count_positions(Repeat(Repeat(Atom("A"), 0, 3), 2, None))
    6
    """
    match pattern:
        case Atom():
            return 1
        case Seq(left, right) | StrictSeq(left, right) | Or(left, right):
            return count_positions(left) + count_positions(right)
        case Repeat(body, lo, hi):
            return count_positions(body) * (max(1, lo) if hi is None else hi)
        case Filter(body) | PartBy(body) | Bind(body):
            return count_positions(body)
        case All() | Intersect() | Not() | Within() | Select() | Recognise():
            raise _unsupported(pattern)
        case _:
            assert_never(pattern)


def _unsupported(
    pattern: All | Intersect | Not | Filter | PartBy | Within | Select | Recognise | Atom,
) -> CepheidError:
    span: Span | None = getattr(pattern, "span", None)
    return CepheidError("not-yet", f"no automaton for `{type(pattern).__name__}` yet", span=span)


# ── positions and who follows whom ──────────────────────────────────────────────────────────────────────────


def _fragment(pattern: Pattern, positions: Positions) -> Fragment:
    match pattern:
        case Atom(marked=False):
            raise _unsupported(pattern)
        case Atom():
            only = frozenset([positions.add(pattern)])
            return Fragment(only, only, False)
        case Seq(left, right):
            return _then(_fragment(left, positions), _fragment(right, positions), positions.loose)
        case StrictSeq(left, right):
            return _then(_fragment(left, positions), _fragment(right, positions), positions.strict)
        case Or(left, right):
            one, two = _fragment(left, positions), _fragment(right, positions)
            return Fragment(one.first | two.first, one.last | two.last, one.nullable or two.nullable)
        case Repeat():
            return _repeated(pattern, positions)
        case Bind(body, var):
            before = len(positions.atoms)
            inside = _fragment(body, positions)
            for gatherers in positions.gatherers[before:]:
                gatherers.add(var)
            return inside
        case All() | Intersect() | Not() | Filter() | PartBy() | Within() | Select() | Recognise():
            raise _unsupported(pattern)
        case _:
            assert_never(pattern)


def _then(one: Fragment, two: Fragment, follow: list[set[int]]) -> Fragment:
    """`one` followed by `two`; the empty match is neutral, so a nullable side lets its neighbour through."""
    for position in one.last:
        follow[position - 1] |= two.first
    return Fragment(
        first=one.first | two.first if one.nullable else one.first,
        last=one.last | two.last if two.nullable else two.last,
        nullable=one.nullable and two.nullable,
    )


def _repeated(pattern: Repeat, positions: Positions) -> Fragment:
    """`body{lo,hi}` written out: lo copies, then a loop on the last (no hi) or copies one may leave out."""
    if pattern.hi is None:
        copies = [_fragment(pattern.body, positions) for _ in range(max(1, pattern.lo))]
        _then(copies[-1], copies[-1], positions.loose)
    else:
        copies = [_fragment(pattern.body, positions) for _ in range(pattern.hi)]
    whole = EMPTY
    # Right to left, so that b{0,3} is (b ; (b ; b?)?)? and only neighbouring copies follow one another.
    for number in range(len(copies), 0, -1):
        whole = _then(copies[number - 1], whole, positions.loose)
        if number > pattern.lo:
            whole = replace(whole, nullable=True)
    return whole


# ── from positions to states ────────────────────────────────────────────────────────────────────────────────


class Numbering(dict[Item, int]):
    """Gives each distinct item the next number, from 0."""

    def __missing__(self, item: Item) -> int:
        self[item] = len(self)
        return self[item]


def _automaton(positions: Positions, whole: Fragment, shown: frozenset[str]) -> CEA:
    predicates: Numbering[Predicate] = Numbering()
    labels: Numbering[frozenset[str]] = Numbering({frozenset(): 0})
    entering = [
        (predicates[Predicate(atom.type, atom.condition)], labels[label(atom, gatherers, shown)])
        for atom, gatherers in zip(positions.atoms, positions.gatherers, strict=True)
    ]
    marks: list[Mark] = []
    skips: list[int | None] = []
    for state, (followers, skip) in enumerate(_states(positions, whole)):
        skips.append(skip)
        marks.extend(Mark(state, *entering[target - 1], target) for target in sorted(followers))
    return CEA(len(skips), tuple(predicates), tuple(labels), tuple(marks), tuple(skips), whole.last)


def _states(positions: Positions, whole: Fragment) -> Iterator[tuple[set[int], int | None]]:
    """Each state's followers and where it skips to: the initial state, the positions, the waiting copies.

    Strict followers die with the first skip. A position that has both kinds skips to its waiting copy, which
    keeps the loose ones; with loose ones only it waits where it is; with none it has nothing to wait for.
    """
    yield set(whole.first), 0
    waiting: list[set[int]] = []
    count = len(positions.atoms)
    for position, (loose, strict) in enumerate(zip(positions.loose, positions.strict, strict=True), start=1):
        if not loose:
            yield strict, None
        elif strict <= loose:
            yield loose, position
        else:
            waiting.append(loose)
            yield loose | strict, count + len(waiting)
    for number, loose in enumerate(waiting, start=1):
        yield loose, count + number


def label(atom: Atom, gatherers: Iterable[str], shown: frozenset[str]) -> frozenset[str]:
    """The shown names that the atom's event is bound to: its own and those of the sets around it."""
    name = label_of(atom)
    return shown.intersection(gatherers if name is None else (name, *gatherers))
