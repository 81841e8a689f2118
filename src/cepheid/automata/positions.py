"""Positions: the atoms of a pattern, and which of them can come first, last, and after which.

An atom follows another *loosely* (`;` and repetition: anything in between) or *strictly* (`:`: the very next event).
A NOT is about the gap between two events of a match, before its first or after its last: a set of events of which none
may come there. Several ways through a pattern may forbid different sets in one gap; a match needs one of these
*alternatives*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cepheid.algebra.nodes import Atom, Window
from cepheid.errors import CepheidError

# Planning takes some 50 µs for a state and 8 µs for a transition.
MOST_POSITIONS = 10_000
MOST_FOLLOWERS = 80_000  # of all positions together


@dataclass(frozen=True, slots=True)
class Forbidden:
    """An event that a NOT forbids; `within`, `FOR within`: only so far from the neighbour that this counts from."""

    atom: Atom
    within: Window | None = None


Absence = frozenset[Forbidden]
Alternatives = frozenset[Absence]

PRESENT: Absence = frozenset()
"""Forbids nothing."""
FREE: Alternatives = frozenset([PRESENT])


def least(alternatives: Iterable[Absence]) -> Alternatives:
    """Without those that forbid more than another.

    >>> some, more = (frozenset(Forbidden(Atom(name)) for name in names) for names in ("B", "BC"))
    >>> least([some, more]) == frozenset([some]), least([some, PRESENT]) == FREE
    (True, True)
    """
    several = frozenset(alternatives)
    return frozenset(one for one in several if not any(other < one for other in several))


def both(one: Alternatives, two: Alternatives) -> Alternatives:
    """What may be forbidden where one of either is."""
    if one == FREE or two == FREE:
        return two if one == FREE else one
    return least(first | second for first in one for second in two)


Edge = Mapping[int, Alternatives]


@dataclass(frozen=True, slots=True)
class Fragment:
    """The interface of a sub-pattern: the positions it can begin and end with, and whether it can be empty. What may
    not come `before` a position that it begins with, `after` one that it ends with and, where it is empty, in its place
    (`instead`); positions that are not listed are free."""

    first: frozenset[int]
    last: frozenset[int]
    nullable: bool
    before: Edge = field(default_factory=dict)
    after: Edge = field(default_factory=dict)
    instead: Alternatives = FREE


EMPTY = Fragment(frozenset(), frozenset(), True)


@dataclass(slots=True)
class Positions:
    """The atoms met so far (position p is `atoms[p - 1]`), the sets that gather them, the variables that they bind
    outside iterations, who follows whom, and, by pair of positions that follow one another loosely, what may not come
    between; pairs that are not listed are free."""

    atoms: list[Atom] = field(default_factory=list)
    gatherers: list[set[str]] = field(default_factory=list)
    names: list[frozenset[str]] = field(default_factory=list)
    loose: list[set[int]] = field(default_factory=list)
    strict: list[set[int]] = field(default_factory=list)
    gaps: dict[tuple[int, int], Alternatives] = field(default_factory=dict)
    followers: int = 0

    def let_follow(self, count: int) -> None:
        """Counts positions that follow others, so many more."""
        self.followers += count
        if self.followers > MOST_FOLLOWERS:
            raise CepheidError(
                "too-large",
                f"the automaton would have more than {MOST_FOLLOWERS:,} transitions",
                hint="each of many parts that may be left out can follow all before it, and ALL goes on in every "
                "order: use fewer such parts, lower bounds of `{l,m}`, or `+`",
            )

    def add(self, atom: Atom, gatherers: frozenset[str], names: frozenset[str]) -> int:
        if len(self.atoms) == MOST_POSITIONS:
            raise too_many(f"more than {MOST_POSITIONS}")
        self.atoms.append(atom)
        self.gatherers.append(set(gatherers))
        self.names.append(names)
        self.loose.append(set())
        self.strict.append(set())
        return len(self.atoms)

    def join(self, source: int, target: int, alternatives: Alternatives) -> None:
        """Lets one position follow another loosely, where one of these sets does not come between."""
        is_known = target in self.loose[source - 1]
        self.loose[source - 1].add(target)
        if is_known:
            alternatives = least(alternatives | self.gaps.get((source, target), FREE))
        if alternatives == FREE:
            self.gaps.pop((source, target), None)
        else:
            self.gaps[source, target] = alternatives


def too_many(needed: str, most: int = MOST_POSITIONS) -> CepheidError:
    return CepheidError(
        "too-large",
        f"the automaton would have {needed} states; the limit is {most}",
        hint="repetitions `{l,m}` are written out l to m times, and ALL has a state for each way to be between its "
        "parts: lower the bounds, use `+`, or fewer parts",
    )
