"""`left ALL right`: the positions of both at once (`partition-by-chain-cea`, section 2).

In: the positions of two patterns. Out: the positions of their union: each is the last event, of one side or of both
(they may share events), together with the place that each side has reached. A side that does not read an event loses
its strict followers. A variable that both sides bind is one event, so no position binds it a second time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from cepheid.algebra.conditions import conjunction
from cepheid.algebra.nodes import Atom
from cepheid.algebra.variables import label_of, names_of
from cepheid.automata.positions import Fragment, Positions


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
    are still possible; and which of the variables that both sides may bind are bound."""

    entry: _Entry | None
    left: int
    right: int
    left_strict: bool
    right_strict: bool
    bound: frozenset[str]


_START = _Place(None, 0, 0, False, False, frozenset())


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
    sides = (left, _going_on(left)), (right, _going_on(right))
    numbers: dict[_Place, int] = {}
    entries: dict[tuple[int, int], _Entry | None] = {}
    open_places = deque([_START])
    first = frozenset[int]()
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
        if place == _START:
            first = frozenset(loose)
        else:
            positions.loose[numbers[place] - 1] |= loose
            positions.strict[numbers[place] - 1] |= strict
    last = frozenset(
        number
        for place, number in numbers.items()
        if _is_end(place.left, left.whole) and _is_end(place.right, right.whole)
    )
    return Fragment(first, last, left.whole.nullable and right.whole.nullable)


def _is_end(at: int, whole: Fragment) -> bool:
    return at in whole.last if at else whole.nullable


def _going_on(side: Side) -> list[int]:
    """For each position the first one with the same followers and finality, which stands for all of them."""
    positions, whole = side
    seen: dict[tuple[frozenset[int], frozenset[int], bool], int] = {}
    return [0] + [
        seen.setdefault((frozenset(loose), frozenset(strict), at in whole.last), at)
        for at, (loose, strict) in enumerate(zip(positions.loose, positions.strict, strict=True), start=1)
    ]


def _followers(
    place: _Place,
    left: tuple[Side, list[int]],
    right: tuple[Side, list[int]],
    shared: frozenset[str],
    entries: dict[tuple[int, int], _Entry | None],
    apart: bool,
) -> Iterator[tuple[_Place, bool]]:
    """The places that can follow, and whether strictly; `entries` are those met so far."""
    lefts = list(_moves(left[0], place.left, place.left_strict))
    rights = list(_moves(right[0], place.right, place.right_strict))
    steps = [(one, 0, strictly) for one, strictly in lefts]
    steps += [(0, two, strictly) for two, strictly in rights]
    steps += [(one, two, first or second) for one, first in lefts for two, second in rights]
    for one, two, strictly in steps:
        if (one, two) not in entries:
            entries[one, two] = _entry(left[0].positions, one, right[0].positions, two)
        entry = entries[one, two]
        if entry is None or entry.names & shared & place.bound:
            continue
        if (
            apart
            and one
            and two
            and left[0].positions.names[one - 1].isdisjoint(right[0].positions.names[two - 1])
        ):
            continue
        then = _Place(
            entry,
            left[1][one] if one else place.left,
            right[1][two] if two else place.right,
            one > 0 and len(left[0].positions.strict[one - 1]) > 0,
            two > 0 and len(right[0].positions.strict[two - 1]) > 0,
            place.bound | (entry.names & shared),
        )
        yield then, strictly


def _moves(side: Side, at: int, strictly: bool) -> Iterator[tuple[int, bool]]:
    positions, whole = side
    if at == 0:
        yield from ((then, False) for then in sorted(whole.first))
        return
    loose = positions.loose[at - 1]
    yield from ((then, False) for then in sorted(loose))
    if strictly:
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
