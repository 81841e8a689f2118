"""Pattern without filters → its positions and who follows whom.

In: a pattern whose conditions are on its atoms. Out: a `Fragment` over `Positions`. Repetitions `{l,m}` are written
out; the positions of `left ALL right` are pairs of theirs, see `interleave`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from cepheid.algebra.limits import not_too_deep
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
    Within,
    children,
)
from cepheid.algebra.variables import is_iteration, names_of
from cepheid.automata.absence import forbidden_by
from cepheid.automata.interleave import Side, interleaved
from cepheid.automata.positions import (
    EMPTY,
    FREE,
    MOST_POSITIONS,
    Edge,
    Fragment,
    Positions,
    both,
    least,
    too_many,
)
from cepheid.errors import CepheidError, Span


def positions_of(pattern: Pattern) -> Side:
    """The positions of a pattern without filters.

    >>> positions, whole = positions_of(Seq(Atom("T", "x"), Repeat(Atom("H"), 1, None)))
    >>> whole.first, whole.last, positions.loose
    (frozenset({1}), frozenset({2}), [{2}, {2}])
    """
    positions = Positions()
    with not_too_deep():
        check_positions(pattern)
        whole = _fragment(pattern, positions)
    return Side(positions, whole)


def check_positions(pattern: Pattern, most: int = MOST_POSITIONS) -> None:
    """Raises for a pattern that would have too many states."""
    needed = count_positions(pattern)
    if needed > most:
        raise too_many(str(needed), most)


def count_positions(pattern: Pattern) -> int:
    """How many atoms the pattern has once its repetitions are written out; of ALL, at least.

    >>> count_positions(Repeat(Repeat(Atom("A"), 0, 3), 2, None))
    6
    """
    match pattern:
        case Atom():
            return 1
        case Seq() | StrictSeq() | Or() | All() | Filter() | PartBy() | Bind():
            return sum(map(count_positions, children(pattern)))
        case Repeat(body, lo, hi):
            return count_positions(body) * (max(1, lo) if hi is None else hi)
        case Not():
            return 0
        case Select() | Within() | Recognise() | Nfab():
            raise _unsupported(pattern)
        case _:
            assert_never(pattern)


def _unsupported(pattern: Pattern) -> CepheidError:
    span: Span | None = getattr(pattern, "span", None)
    return CepheidError("not-yet", f"no automaton for `{type(pattern).__name__}` yet", span=span)


def _fragment(pattern: Pattern, positions: Positions) -> Fragment:
    match pattern:
        case Atom():
            only = frozenset([positions.add(pattern, frozenset(), names_of(pattern))])
            return Fragment(only, only, False)
        case Seq(left, right):
            return _then(_fragment(left, positions), _fragment(right, positions), positions)
        case StrictSeq(left, right):
            one, two = _fragment(left, positions), _fragment(right, positions)
            return _then(one, two, positions, strict=True)
        case Not() if forbidden := forbidden_by(pattern):
            return replace(EMPTY, instead=frozenset([forbidden]))
        case Or(parts):
            return _choice([_fragment(part, positions) for part in parts])
        case Repeat():
            return _repeated(pattern, positions)
        case Bind(body, var):
            before = len(positions.atoms)
            inside = _fragment(body, positions)
            for gatherers in positions.gatherers[before:]:
                gatherers.add(var)
            return inside
        case All(left, right, apart):
            return interleaved(positions_of(left), positions_of(right), positions, apart)
        case Filter() | PartBy() | Select() | Not() | Within() | Recognise() | Nfab():
            raise _unsupported(pattern)
        case _:
            assert_never(pattern)


def _choice(parts: list[Fragment]) -> Fragment:
    return Fragment(
        first=frozenset[int]().union(*(part.first for part in parts)),
        last=frozenset[int]().union(*(part.last for part in parts)),
        nullable=any(part.nullable for part in parts),
        before=dict(item for part in parts for item in part.before.items()),
        after=dict(item for part in parts for item in part.after.items()),
        instead=least(absence for part in parts if part.nullable for absence in part.instead) or FREE,
    )


def _then(one: Fragment, two: Fragment, positions: Positions, strict: bool = False) -> Fragment:
    """`one` followed by `two`; the empty match is neutral, so a nullable side lets its neighbour through, and with it
    what a NOT forbids there."""
    positions.let_follow(len(one.last) * len(two.first))
    for position in one.last:
        if strict:
            positions.strict[position - 1] |= two.first
        elif one.after or two.before or positions.gaps:
            for following in two.first:
                forbidden = both(one.after.get(position, FREE), two.before.get(following, FREE))
                positions.join(position, following, forbidden)
        else:
            positions.loose[position - 1] |= two.first
    return Fragment(
        first=one.first | two.first if one.nullable else one.first,
        last=one.last | two.last if two.nullable else two.last,
        nullable=one.nullable and two.nullable,
        before={**one.before, **(_beyond(one, two.first, two.before) if one.nullable else {})},
        after={**two.after, **(_beyond(two, one.last, one.after) if two.nullable else {})},
        instead=both(one.instead, two.instead) if one.nullable and two.nullable else FREE,
    )


def _beyond(nothing: Fragment, ends: Iterable[int], edge: Edge) -> Edge:
    """What may not come at an edge where a part in front of it is empty."""
    if nothing.instead == FREE:
        return edge
    return {position: both(edge.get(position, FREE), nothing.instead) for position in ends}


def _repeated(pattern: Repeat, positions: Positions) -> Fragment:
    """`body{lo,hi}` written out: lo copies, then a loop on the last (no hi) or copies one may leave out."""
    before = len(positions.atoms)
    if pattern.hi is None:
        copies = [_fragment(pattern.body, positions) for _ in range(max(1, pattern.lo))]
        _then(copies[-1], copies[-1], positions, pattern.strict)
    else:
        copies = [_fragment(pattern.body, positions) for _ in range(pattern.hi)]
    if is_iteration(pattern):
        positions.names[before:] = [frozenset()] * (len(positions.atoms) - before)
    whole = EMPTY
    # Right to left, so that b{0,3} is (b ; (b ; b?)?)? and only neighbouring copies follow one another.
    for number in range(len(copies), 0, -1):
        whole = _then(copies[number - 1], whole, positions, pattern.strict)
        if number > pattern.lo:
            whole = replace(whole, nullable=True, instead=FREE)
    return whole
