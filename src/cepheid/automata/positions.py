"""Positions: the atoms of a pattern, and which of them can come first, last, and after which.

An atom follows another *loosely* (`;` and repetition: anything in between) or *strictly* (`:`: the very next event).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cepheid.algebra.nodes import Atom
from cepheid.errors import CepheidError

# Planning takes some 50 µs for a state and 8 µs for a transition.
MOST_POSITIONS = 10_000
MOST_FOLLOWERS = 80_000  # of all positions together


@dataclass(frozen=True, slots=True)
class Fragment:
    """The interface of a sub-pattern: the positions it can begin and end with, and whether it can be empty."""

    first: frozenset[int]
    last: frozenset[int]
    nullable: bool


EMPTY = Fragment(frozenset(), frozenset(), True)


@dataclass(slots=True)
class Positions:
    """The atoms met so far (position p is `atoms[p - 1]`), the sets that gather them, the variables that they bind
    outside iterations, who follows whom, and the atoms of which no event may come before what follows."""

    atoms: list[Atom] = field(default_factory=list)
    gatherers: list[set[str]] = field(default_factory=list)
    names: list[frozenset[str]] = field(default_factory=list)
    loose: list[set[int]] = field(default_factory=list)
    strict: list[set[int]] = field(default_factory=list)
    forbidden: list[frozenset[Atom]] = field(default_factory=list)
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
        self.forbidden.append(frozenset())
        return len(self.atoms)

    def copy(self, position: int) -> int:
        """Another position for the same atom: it comes where that comes, and nothing follows it."""
        copied = self.add(
            self.atoms[position - 1], frozenset(self.gatherers[position - 1]), self.names[position - 1]
        )
        self.forbidden[copied - 1] = self.forbidden[position - 1]
        for followers in (*self.loose, *self.strict):
            if position in followers:
                followers.add(copied)
        return copied


def too_many(needed: str, most: int = MOST_POSITIONS) -> CepheidError:
    return CepheidError(
        "too-large",
        f"the automaton would have {needed} states; the limit is {most}",
        hint="repetitions `{l,m}` are written out l to m times, and ALL has a state for each way to be between its "
        "parts: lower the bounds, use `+`, or fewer parts",
    )
