"""Conditions that are checked on whole matches, and the rounds in which their events lie, for `attach`.

A condition inside a repetition compares events of one round. A check of a whole match must find the events of the same
round: so the first event of every round is bound to a name of that repetition, its *marker*, and the round of an event
is the number of events with the marker up to it. A name inside a repetition is used nowhere else, so every event with
that name lies in a round.
"""

from __future__ import annotations

from dataclasses import dataclass

from cepheid.algebra.conditions import Condition, attributes, sets_read, variables
from cepheid.algebra.empty import EMPTY, either
from cepheid.algebra.limits import guarded
from cepheid.algebra.nodes import Atom, Bind, Pattern
from cepheid.algebra.pattern_alternatives import Alternatives
from cepheid.algebra.variables import names_of
from cepheid.automata.attach_atoms import not_bound

Path = tuple[str, ...]
"""The markers of the rounds around an event, the outermost first."""


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that is asked of a whole match, for every choice of one event of each name where names that share a
    marker have events of the same round. `paths` has the names that may have several events: sets, and what was bound
    in a round once that is left; and of whole matches all names.

    `whole`: the sets of a condition on whole sets. They are not chosen from: what a filter sees of them begins with an
    event that is bound to a marker of the filter, the first of `paths`."""

    condition: Condition
    paths: tuple[tuple[str, Path], ...]
    whole: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """What the events of a match need be labelled with."""
        return self.whole.union(name for own, path in self.paths for name in (own, *path))

    @property
    def reads(self) -> frozenset[str]:
        """The attributes that the condition reads."""
        return frozenset(item.name for item in attributes(self.condition))

    @property
    def singles(self) -> frozenset[str]:
        """What has one event where the check is now."""
        return variables(self.condition) - self.whole - {name for name, _ in self.paths}

    @property
    def is_of_rounds(self) -> bool:
        return any(path for _, path in self.paths)


def check_of(condition: Condition) -> Check:
    """A condition on sets, where it stands."""
    return Check(condition, tuple((name, ()) for name in sorted(sets_read(condition))))


def check_of_whole_sets(condition: Condition, marker: str) -> Check:
    """A condition on whole sets; the first event of what its filter filters is bound to the marker."""
    return Check(condition, ((marker, (marker,)),), sets_read(condition))


def check_bound(check: Check, pattern: Pattern, singles: frozenset[str]) -> None:
    """Raises unless in every match where sets have events, these variables have theirs.

    >>> from cepheid.algebra.conditions import Attribute, Comparison
    >>> from cepheid.algebra.nodes import Seq
    >>> other = Comparison("<>", Attribute("X", "id", each=True), Attribute("z", "id"))
    >>> check_bound(check_of(other), Seq(Bind(Atom("A"), "X"), Atom("B", "z")), frozenset("z"))
    """
    gathered = frozenset(name for name, _ in check.paths)
    for met in _Met(gathered, singles).alternatives(pattern, frozenset()):
        if met & gathered and not singles <= met:
            raise not_bound(check.condition)


def with_first_marked(pattern: Pattern, marker: str) -> Pattern:
    """The pattern with its first event bound to a marker, whatever way a match takes.

    >>> from cepheid.algebra.nodes import Seq
    >>> with_first_marked(Seq(Atom("A"), Atom("B")), "m") == Seq(Bind(Atom("A"), "m"), Atom("B"))
    True
    """
    return guarded(either(_Marking(marker).alternatives(pattern, False).values()), "attach")


class _Met(Alternatives[frozenset[str]]):
    """Known are the names, of those asked about, that have had events."""

    def __init__(self, gathered: frozenset[str], singles: frozenset[str]) -> None:
        super().__init__()
        self.gathered = gathered
        self._singles = singles

    def _atom(
        self, atom: Atom, known: frozenset[str], inside: frozenset[str]
    ) -> dict[frozenset[str], Pattern]:
        return {known | inside | (names_of(atom) & self._singles): EMPTY}


class _Marking(Alternatives[bool]):
    """Known is whether an event was met; after that nothing changes."""

    def __init__(self, marker: str) -> None:
        super().__init__()
        self._marker = marker

    def _concerns(self, pattern: Pattern, known: bool) -> bool:
        return not known

    def _atom(self, atom: Atom, known: bool, inside: frozenset[str]) -> dict[bool, Pattern]:
        return {True: Bind(atom, self._marker)}
