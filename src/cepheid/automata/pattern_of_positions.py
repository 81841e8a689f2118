"""Positions → a pattern again, made of sequences, choices and repetitions, by eliminating one position after another.

In: a `Fragment` over `Positions`, such as ALL has. Out: a pattern without ALL that has the same matches. It can be much
longer than the query, so it is made only where conditions compare events, for `attach`: the way to a position shows
which variables are bound before it. A cycle that begins strictly is no repetition, since rounds follow each other
loosely: positions are eliminated in an order without such cycles, if there is one; else there is no pattern.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from cepheid.algebra.empty import EMPTY, NOTHING, either, is_empty
from cepheid.algebra.limits import MOST_NODES
from cepheid.algebra.nodes import Bind, Not, Pattern, Repeat, Seq, StrictSeq
from cepheid.automata.attach_atoms import NotAttachedError
from cepheid.automata.positions import FREE, Absence, Alternatives, Fragment, Positions

MOST_POSITIONS = 1_000

_START, _END = 0, -1


class _Way(NamedTuple):
    """From one position to another; what is read on it, the last position included, comes strictly after the first."""

    source: int
    target: int
    strict: bool = False


class _Ways:
    """All ways, each with what is read on it and how long that is written."""

    def __init__(self) -> None:
        self._read: dict[_Way, Pattern] = {}
        self._size: dict[_Way, int] = {}
        self._at: dict[int, dict[_Way, None]] = defaultdict(dict)
        self._total = 0

    def add(self, way: _Way, read: Pattern, size: int) -> None:
        known = self._read.get(way)
        self._read[way] = read if known is None else either([known, read])
        self._at[way.source][way] = self._at[way.target][way] = None
        self._size[way] = self._size.get(way, 0) + size + 1
        self._total += size + 1
        if self._total > MOST_NODES:
            raise _too_many_orders()

    def read(self, way: _Way) -> Pattern:
        return self._read.get(way, EMPTY)

    def size(self, way: _Way) -> int:
        return self._size.get(way, 0)

    def __contains__(self, way: _Way) -> bool:
        return way in self._read

    def into(self, position: int) -> list[_Way]:
        return [way for way in self._at[position] if way.source != position]

    def out_of(self, position: int) -> list[_Way]:
        return [way for way in self._at[position] if way.target != position]

    def forget(self, position: int) -> None:
        for way in self._at.pop(position):
            self._total -= self._size.pop(way)
            del self._read[way]
            for end in {way.source, way.target} - {position}:
                del self._at[end][way]


def pattern_of(positions: Positions, whole: Fragment) -> Pattern:
    """The pattern that has these positions.

    >>> from cepheid.algebra.nodes import All, Atom, Or
    >>> from cepheid.automata.positions_of_pattern import positions_of
    >>> a, b = Atom("A", "x"), Atom("B", "y")
    >>> pattern_of(*positions_of(All(a, b))) == Or((Seq(a, b), Seq(b, a)))
    True
    """
    if len(positions.atoms) > MOST_POSITIONS:
        raise _too_many_orders()
    ways = _first_ways(positions, whole)
    costs = {position: _cost(position, ways) for position in range(1, len(positions.atoms) + 1)}
    while costs:
        position = min(costs, key=costs.__getitem__)
        del costs[position]
        near = {end for way in (*ways.into(position), *ways.out_of(position)) for end in way[:2]}
        _take_out(position, ways)
        costs.update((other, _cost(other, ways)) for other in near & costs.keys())
    all_of_it = _Way(_START, _END)
    return ways.read(all_of_it) if all_of_it in ways else NOTHING


def _too_many_orders() -> NotAttachedError:
    return NotAttachedError("ALL has too many orders to compare its events in each")


def _first_ways(positions: Positions, whole: Fragment) -> _Ways:
    ways = _Ways()
    if whole.nullable:
        for absence in _in_order(whole.instead):
            ways.add(_Way(_START, _END), _with_absence(absence, EMPTY), len(absence))
    entered = [
        _gathered(atom, gatherers)
        for atom, gatherers in zip(positions.atoms, positions.gatherers, strict=True)
    ]

    def enter(source: int, targets: Iterable[int], strict: bool) -> None:
        for target in sorted(targets):
            free = FREE if strict else positions.gaps.get((source, target), FREE)
            for absence in _in_order(free if source else whole.before.get(target, FREE)):
                size = 1 + len(positions.gatherers[target - 1]) + len(absence)
                ways.add(_Way(source, target, strict), _with_absence(absence, entered[target - 1]), size)

    enter(_START, whole.first, strict=False)
    for source, (loose, strict) in enumerate(zip(positions.loose, positions.strict, strict=True), start=1):
        enter(source, loose, strict=False)
        # With a gap in which something is forbidden, the very next event has a way of its own.
        enter(
            source,
            {then for then in strict if then not in loose or (source, then) in positions.gaps},
            strict=True,
        )
        if source in whole.last:
            for absence in _in_order(whole.after.get(source, FREE)):
                ways.add(_Way(source, _END), _with_absence(absence, EMPTY), len(absence))
    return ways


def _in_order(alternatives: Alternatives) -> list[Absence]:
    return sorted(alternatives, key=repr)


def _with_absence(absence: Absence, pattern: Pattern) -> Pattern:
    """The pattern after all that may not come before it."""
    for one in sorted(absence, key=repr, reverse=True):
        forbidden = Not(one.atom, one.within)
        pattern = forbidden if is_empty(pattern) else Seq(forbidden, pattern)
    return pattern


def _gathered(pattern: Pattern, gatherers: Iterable[str]) -> Pattern:
    for name in sorted(gatherers):
        pattern = Bind(pattern, name)
    return pattern


def _cost(position: int, ways: _Ways) -> tuple[bool, int, int]:
    """Last those that close strictly, or after which another would; then by how much longer all becomes."""
    into, out_of = ways.into(position), ways.out_of(position)
    back = {way.target for way in out_of}
    closes = any(way.strict and way.source in back for way in into)
    longer = len(out_of) * sum(map(ways.size, into)) + len(into) * sum(map(ways.size, out_of))
    return closes or _Way(position, position, strict=True) in ways, longer, position


def _take_out(position: int, ways: _Ways) -> None:
    """Joins every way to the position with every way from it, any number of rounds in between."""
    if _Way(position, position, strict=True) in ways:
        raise NotAttachedError("ALL repeats a strict sequence whose events are compared")
    again = _Way(position, position)
    rounds = Repeat(ways.read(again), 0, None) if again in ways else EMPTY
    for first in ways.into(position):
        come = ways.read(first) if is_empty(rounds) else Seq(ways.read(first), rounds)
        for second in ways.out_of(position):
            sequence = StrictSeq if second.strict else Seq
            gone = ways.read(second)
            read = come if is_empty(gone) else sequence(come, gone)
            size = ways.size(first) + ways.size(again) + ways.size(second) + 2
            ways.add(_Way(first.source, second.target, first.strict), read, size)
    ways.forget(position)
