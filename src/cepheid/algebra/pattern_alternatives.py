"""Splits a pattern into alternatives by an abstract state before and after it: the frame of passes over sets.

In: a pattern and a state before it, any hashable value: what a pass knows of the events so far. Out:
one pattern for each state that is possible after it; together these alternatives have the pattern's matches. The pass
gives the effect of an atom on the state. States only grow: a round that changes nothing can be repeated any number of
times, and there are few others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import Generic, TypeVar, assert_never

from cepheid.algebra.empty import EMPTY, either, is_empty
from cepheid.algebra.limits import guarded
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
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
from cepheid.algebra.printing import print_pattern
from cepheid.errors import CepheidError

Known = TypeVar("Known", bound=Hashable)
Sequence = type[Seq] | type[StrictSeq]

MOST_ROUNDS = 150  # each is nested in the one before


class Alternatives(ABC, Generic[Known]):
    """`gathered` are the sets that the pass asks about: `inside` says which of them an atom's event is in. `absences`:
    the pass leaves a NOT as it is."""

    gathered: frozenset[str] = frozenset()
    absences = False

    def __init__(self) -> None:
        self._found: dict[Hashable, dict[Known, Pattern]] = {}
        """Results by pattern and knowledge: rounds ask for the same ones again and again."""

    @abstractmethod
    def _atom(self, atom: Atom, known: Known, inside: frozenset[str]) -> dict[Known, Pattern]:
        """The alternatives of one atom. A pass that only asks what can be known gives ε for all of them."""

    def _concerns(self, pattern: Pattern, known: Known) -> bool:
        """Whether a pattern outside of the sets, after what is known, changes anything, or is changed."""
        return True

    def alternatives(
        self, pattern: Pattern, known: Known, inside: frozenset[str] = frozenset()
    ) -> dict[Known, Pattern]:
        """The pattern from what is known before it, by what is known after it."""
        if not inside and not self._concerns(pattern, known):
            return {known: pattern}
        key = (pattern, known, inside)
        if key not in self._found:
            self._found[key] = self._split(pattern, known, inside)
        return self._found[key]

    def _split(self, pattern: Pattern, known: Known, inside: frozenset[str]) -> dict[Known, Pattern]:
        match pattern:
            case Atom():
                return self._atom(pattern, known, inside)
            case Seq(left, right) | StrictSeq(left, right):
                sequence = type(pattern)
                return joined(
                    sequence,
                    self.alternatives(left, known, inside),
                    lambda then: self.alternatives(right, then, inside),
                )
            case Or(parts):
                return merged([self.alternatives(part, known, inside) for part in parts])
            case Bind(body, var):
                around = inside | {var} if var in self.gathered else inside
                return {
                    then: part if is_empty(part) else replace(pattern, body=part)
                    for then, part in self.alternatives(body, known, around).items()
                }
            case Filter(body) | PartBy(body) | Within(body):  # asks something of each match
                return {
                    then: replace(pattern, body=part)
                    for then, part in self.alternatives(body, known, inside).items()
                }
            case Repeat(body, lo, hi):
                sequence = StrictSeq if pattern.strict else Seq
                return self._rounds(body, lo, hi, sequence, known, inside)
            case Not():
                if not self.absences:
                    raise CepheidError(
                        "not-yet", f"{print_pattern(pattern)} forbids something among events compared"
                    )
                return {known: pattern}
            case All() | Select() | Recognise():
                raise AssertionError(pattern)
            case _:
                assert_never(pattern)

    def _rounds(
        self, body: Pattern, lo: int, hi: int | None, sequence: Sequence, known: Known, inside: frozenset[str]
    ) -> dict[Known, Pattern]:
        """`lo` rounds and up to `hi`, or any number; each may lead to more being known."""
        if hi == 0:
            return {known: EMPTY}
        if not inside and not self._concerns(body, known):
            return {known: Repeat(body, lo, hi, strict=sequence is StrictSeq)}
        if max(lo, hi or 0) > MOST_ROUNDS:
            raise CepheidError(
                "too-large",
                f"{max(lo, hi or 0)} rounds of what is compared would be written out; {MOST_ROUNDS} are the most",
                hint="lower the bounds of {l,m}, or use +",
            )
        key = (body, lo, hi, sequence, known, inside)
        if key not in self._found:
            self._found[key] = self._more_rounds(body, lo, hi, sequence, known, inside)
        return self._found[key]

    def _more_rounds(
        self, body: Pattern, lo: int, hi: int | None, sequence: Sequence, known: Known, inside: frozenset[str]
    ) -> dict[Known, Pattern]:
        if lo == 0 and hi is None:
            return self._any_number(body, sequence, known, inside)
        left = (max(lo - 1, 0), None if hi is None else hi - 1)
        once = self.alternatives(body, known, inside)
        rounds = joined(sequence, once, lambda then: self._rounds(body, *left, sequence, then, inside))
        return rounds if lo > 0 else merged([rounds, {known: EMPTY}])

    def _any_number(
        self, body: Pattern, sequence: Sequence, known: Known, inside: frozenset[str]
    ) -> dict[Known, Pattern]:
        """Rounds that teach nothing, then one that does, and so on."""
        alternatives = dict(self.alternatives(body, known, inside))
        same = alternatives.pop(known, None)
        strict = sequence is StrictSeq
        stays = EMPTY if same is None or is_empty(same) else Repeat(same, 0, None, strict=strict)
        after = joined(sequence, {known: stays}, lambda _: alternatives)
        further = joined(sequence, after, lambda then: self._rounds(body, 0, None, sequence, then, inside))
        return merged([{known: stays}, further])


def joined(
    sequence: Sequence,
    firsts: dict[Known, Pattern],
    then: Callable[[Known], dict[Known, Pattern]],
) -> dict[Known, Pattern]:
    """Each of the first, then what can come after it."""
    return merged(
        {after: in_sequence(sequence, first, second)}
        for known, first in firsts.items()
        for after, second in then(known).items()
    )


def in_sequence(sequence: Sequence, left: Pattern, right: Pattern) -> Pattern:
    """One after the other; the empty match is neutral.

    >>> in_sequence(Seq, EMPTY, Atom("A"))
    Atom(type='A', var=None, condition=None)
    """
    return right if is_empty(left) else left if is_empty(right) else sequence(left, right)


def merged(several: Iterable[dict[Known, Pattern]]) -> dict[Known, Pattern]:
    """One pattern for all alternatives after which the same is known."""
    found: dict[Known, list[Pattern]] = {}
    for alternatives in several:
        for known, pattern in alternatives.items():
            found.setdefault(known, []).append(pattern)
    return {known: _either(patterns) for known, patterns in found.items()}


def _either(patterns: list[Pattern]) -> Pattern:
    """The choice; patterns that are too large are not compared."""
    if len(patterns) == 1:
        return patterns[0]
    return either(guarded(pattern, "attach") for pattern in patterns)
