"""`left ALL right`: the positions of both at once (`partition-by-chain-cea`, section 2).

In: the positions of two patterns. Out: the positions of their union: each is the last event, of one side or of both
(they may share events), together with the place that each side has reached. A side that does not read an event loses
its strict followers. A variable that both sides bind is one event, so no position binds it a second time. What a NOT of
one side forbids may come neither between the events of the union nor, where these may be shared, among those of the
other side.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from cepheid.algebra.conditions import conjunction
from cepheid.algebra.nodes import Atom
from cepheid.algebra.variables import label_of, names_of
from cepheid.automata.positions import FREE, PRESENT, Absence, Fragment, Positions, least
from cepheid.errors import CepheidError


class Side(NamedTuple):
    positions: Positions
    whole: Fragment


class _Entry(NamedTuple):
    """An atom, the sets that gather it and the variables that it binds in this scope."""

    atom: Atom
    gatherers: frozenset[str]
    names: frozenset[str]


class _Place(NamedTuple):
    """The last event; for each side the last position that it has read (0: none) and whether strict followers of that
    are still possible; which of the variables that both sides may bind are bound; and for each side what may not come
    until it reads on or all ends."""

    entry: _Entry | None
    left: int
    right: int
    left_strict: bool
    right_strict: bool
    bound: frozenset[str]
    left_waits: Absence = PRESENT
    right_waits: Absence = PRESENT

    @property
    def forbidden(self) -> Absence:
        return self.left_waits | self.right_waits


def interleaved(left: Side, right: Side, positions: Positions, apart: bool = False) -> Fragment:
    """Adds the positions of `left ALL right`; of `left AND right` where the two stay `apart`.

    >>> from cepheid.automata.positions_of_pattern import positions_of
    >>> both = Positions()
    >>> whole = interleaved(positions_of(Atom("A", "x")), positions_of(Atom(None, "y")), both)
    >>> [(atom.type, sorted(names_of(atom))) for atom in both.atoms]
    [('A', ['x']), (None, ['y']), ('A', ['x', 'y']), (None, ['y']), ('A', ['x'])]
    >>> sorted(whole.first), sorted(whole.last), both.loose
    ([1, 2, 3], [3, 4, 5], [{4}, {5}, set(), set(), set()])
    """
    shared = frozenset[str]().union(*left.positions.names) & frozenset[str]().union(*right.positions.names)
    sides = _going(left), _going(right)
    numbers: dict[_Place, int] = {}
    entries: dict[tuple[int, int], _Entry | None] = {}
    starts = [
        _Place(None, 0, 0, False, False, frozenset(), one, two)
        for one in sides[0].waits[0]
        for two in sides[1].waits[0]
    ]
    open_places = deque(starts)
    before: dict[int, set[Absence]] = {}
    while open_places:
        place = open_places.popleft()
        loose, strict = set[int](), set[int]()
        for then, is_strict in _followers(place, *sides, shared, entries, apart):
            if then not in numbers:
                assert then.entry is not None
                numbers[then] = positions.add(*then.entry)
                open_places.append(then)
            (strict if is_strict else loose).add(numbers[then])
        positions.let_follow(len(loose) + len(strict))
        if place.entry is None:
            for number in loose:
                before.setdefault(number, set()).add(place.forbidden)
            continue
        positions.strict[numbers[place] - 1] |= strict
        for number in sorted(loose):
            positions.join(numbers[place], number, frozenset([place.forbidden]))
    after = {
        number: place.forbidden
        for place, number in numbers.items()
        if _is_end(place.left, place.left_waits, left.whole)
        and _is_end(place.right, place.right_waits, right.whole)
    }
    return Fragment(
        frozenset(before),
        frozenset(after),
        left.whole.nullable and right.whole.nullable,
        {number: least(several) for number, several in before.items() if PRESENT not in several},
        {number: frozenset([absence]) for number, absence in after.items() if absence},
        least(
            place.forbidden
            for place in starts
            if _is_end(0, place.left_waits, left.whole) and _is_end(0, place.right_waits, right.whole)
        )
        or FREE,
    )


def _waits(side: Side, at: int) -> list[Absence]:
    """What may not come after a position, until one of its followers or the end; always in the same order."""
    positions, whole = side
    if at == 0:
        ways = [whole.before.get(then, FREE) for then in whole.first]
        ways += [whole.instead] if whole.nullable else []
    else:
        ways = [positions.gaps.get((at, then), FREE) for then in positions.loose[at - 1]]
        ways += [whole.after.get(at, FREE)] if at in whole.last else []
        ways += [FREE] if positions.strict[at - 1] else []
    several = frozenset[Absence]().union(*ways)
    if any(one.within is not None for absence in several for one in absence):
        raise CepheidError("not-yet", "a NOT inside ALL or AND counts FOR from an event of its own side")
    return sorted(several, key=repr)


def _is_end(at: int, waits: Absence, whole: Fragment) -> bool:
    if at == 0:
        return whole.nullable and waits in whole.instead
    return at in whole.last and waits in whole.after.get(at, FREE)


class _Going(NamedTuple):
    """A side, with what is asked again and again: for each position, 0 the start, the first one with the same followers
    and finality, which stands for all of them, and what may not come until the next."""

    positions: Positions
    whole: Fragment
    stands_for: list[int]
    waits: list[list[Absence]]


def _going(side: Side) -> _Going:
    positions, whole = side
    seen: dict[object, int] = {}

    def kind(at: int, loose: set[int], strict: set[int]) -> object:
        gaps = frozenset((then, gap) for then in loose if (gap := positions.gaps.get((at, then))) is not None)
        return frozenset(loose), frozenset(strict), at in whole.last, whole.after.get(at), gaps

    stands_for = [0] + [
        seen.setdefault(kind(at, loose, strict), at)
        for at, (loose, strict) in enumerate(zip(positions.loose, positions.strict, strict=True), start=1)
    ]
    return _Going(*side, stands_for, [_waits(side, at) for at in range(len(stands_for))])


def _followers(
    place: _Place,
    left: _Going,
    right: _Going,
    shared: frozenset[str],
    entries: dict[tuple[int, int], _Entry | None],
    apart: bool,
) -> Iterator[tuple[_Place, bool]]:
    """The places that can follow, and whether strictly; `entries` are those met so far."""
    lefts = list(_moves(left, place.left, place.left_strict, place.left_waits))
    rights = list(_moves(right, place.right, place.right_strict, place.right_waits))
    steps = [(one, 0, strictly) for one, strictly in lefts]
    steps += [(0, two, strictly) for two, strictly in rights]
    steps += [(one, two, first or second) for one, first in lefts for two, second in rights]
    for one, two, strictly in steps:
        if (one, two) not in entries:
            entries[one, two] = _entry(left.positions, one, right.positions, two)
        entry = entries[one, two]
        if entry is None or entry.names & shared & place.bound:
            continue
        if apart and one and two and left.positions.names[one - 1].isdisjoint(right.positions.names[two - 1]):
            continue
        if not apart:
            _check_disjoint(entry.atom, PRESENT if one else place.left_waits)
            _check_disjoint(entry.atom, PRESENT if two else place.right_waits)
        for left_waits in left.waits[one] if one else [place.left_waits]:
            for right_waits in right.waits[two] if two else [place.right_waits]:
                then = _Place(
                    entry,
                    left.stands_for[one] if one else place.left,
                    right.stands_for[two] if two else place.right,
                    one > 0 and len(left.positions.strict[one - 1]) > 0,
                    two > 0 and len(right.positions.strict[two - 1]) > 0,
                    place.bound | (entry.names & shared),
                    left_waits,
                    right_waits,
                )
                yield then, strictly


def _check_disjoint(atom: Atom, forbidden: Absence) -> None:
    """An event of one side that the other side may forbid is left to the definition."""
    for one in forbidden:
        if atom.type is None or one.atom.type is None or atom.type == one.atom.type:
            raise CepheidError("not-yet", "a NOT inside ALL may forbid events of the match")


def _moves(side: _Going, at: int, strictly: bool, waits: Absence) -> Iterator[tuple[int, bool]]:
    """The positions that a side may go to, and whether strictly."""
    positions, whole = side.positions, side.whole
    if at == 0:
        yield from ((then, False) for then in sorted(whole.first) if waits in whole.before.get(then, FREE))
        return
    loose = positions.loose[at - 1]
    gaps = positions.gaps
    free = {then for then in loose if waits in gaps.get((at, then), FREE)} if gaps or waits else loose
    yield from ((then, False) for then in sorted(free))
    if strictly and not waits:
        yield from ((then, True) for then in sorted(positions.strict[at - 1] - loose))


def _entry(left: Positions, one: int, right: Positions, two: int) -> _Entry | None:
    """What is entered when the sides go to these positions, 0 where one waits; None if no event can be of both."""
    entries = [
        _Entry(side.atoms[at - 1], frozenset(side.gatherers[at - 1]), side.names[at - 1])
        for side, at in ((left, one), (right, two))
        if at
    ]
    if len(entries) == 1:
        return entries[0]
    atoms = [entry.atom for entry in entries]
    if len({atom.type for atom in atoms} - {None}) > 1:
        return None
    labels = {label for atom in atoms if not names_of(atom) and (label := label_of(atom)) is not None}
    gatherers = frozenset(labels).union(*(entry.gatherers for entry in entries))
    return _Entry(_of_both(*atoms), gatherers, frozenset[str]().union(*(entry.names for entry in entries)))


def _of_both(one: Atom, two: Atom) -> Atom:
    """One atom for the event of two."""
    names = sorted(names_of(one) | names_of(two))
    conditions = tuple(atom.condition for atom in (one, two) if atom.condition is not None)
    return replace(
        one,
        type=two.type if one.type is None else one.type,
        var=names[0] if names else None,
        also=tuple(names[1:]),
        condition=conjunction(tuple(dict.fromkeys(conditions))) if conditions else None,
        near=tuple(dict.fromkeys((*one.near, *two.near))),
    )
