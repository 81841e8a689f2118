"""A condition that compares each event of a set with the one before it → conditions on atoms, for `attach`.

In: a condition with `prev(X.v)`, on one set and variables that are bound before its events; and a pattern without
filters that gathers the set. Out: the pattern, with the condition on the atoms of the set, from its second event on.
The event before is a register, written by every event of the set; a run knows whether there was one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from cepheid.algebra.conditions import (
    Condition,
    Expression,
    Previous,
    aggregates,
    sets_read,
    variables,
)
from cepheid.algebra.conditions import rebuild as rebuild_condition
from cepheid.algebra.empty import NOTHING, either
from cepheid.algebra.limits import guarded
from cepheid.algebra.nodes import Atom, Bind, Pattern
from cepheid.algebra.pattern_alternatives import Alternatives
from cepheid.algebra.variables import defined, names_of, sets
from cepheid.automata.attach_atoms import restricted
from cepheid.automata.attach_sets import NoExtremeError, about
from cepheid.semantics.whole_sets import most_steps


@dataclass(frozen=True, slots=True)
class Known:
    """The single variables that are bound, and whether the set has had an event."""

    singles: frozenset[str]
    begun: bool


def on_previous(
    condition: Condition, pattern: Pattern, known: frozenset[str], register: Callable[[str], str]
) -> Pattern:
    """The pattern whose matches satisfy the condition; `NoExtremeError` where one register does not suffice. `known`:
    variables bound before it; `register`: a new name.

    >>> from cepheid.algebra.conditions import Attribute, Comparison
    >>> from cepheid.algebra.nodes import Seq
    >>> v = Attribute("X", "v", each=True)
    >>> two = Bind(Seq(Atom("A"), Atom("B")), "X")
    >>> done = on_previous(Comparison(">", v, Previous(v)), two, frozenset(), lambda name: f"{name}+")
    >>> done.body.right.body.condition == Comparison(">", Attribute(None, "v"), Attribute("X+", "v"))
    True
    """
    gathered = sets_read(condition)
    if len(gathered) != 1 or not _reads_neighbours(condition):
        raise NoExtremeError
    (name,) = gathered
    visitor = _OnPrevious(condition, name, register(name))
    alternatives = visitor.alternatives(pattern, Known(known & visitor.singles, False))
    return guarded(either(alternatives.values()) if alternatives else NOTHING, "attach")


def _reads_neighbours(condition: Expression) -> bool:
    """Whether a condition on one whole set reads, of each event, only the one directly before it."""
    return set(most_steps(condition).values()) == {1} and next(aggregates(condition), None) is None


class _OnPrevious(Alternatives[Known]):
    def __init__(self, condition: Condition, name: str, register: str) -> None:
        super().__init__()
        self.gathered = frozenset([name])
        self.singles = variables(condition) - self.gathered
        self._name = name
        self._condition = _with_register(condition, register)
        self._register = register

    def _concerns(self, pattern: Pattern, known: Known) -> bool:
        return bool(sets(pattern) & self.gathered or defined(pattern) & self.singles)

    def _atom(self, atom: Atom, known: Known, inside: frozenset[str]) -> dict[Known, Pattern]:
        own = names_of(atom) & self.singles
        known = replace(known, singles=known.singles | own)
        if not inside:
            return {known: atom}
        if not known.begun:
            return {replace(known, begun=True): Bind(atom, self._register)}
        if known.singles != self.singles:
            raise NoExtremeError
        condition = about(self._condition, {self._name: None, **dict.fromkeys(own)})
        return {known: Bind(restricted(atom, condition), self._register)}


def _with_register(condition: Condition, register: str) -> Condition:
    """The condition where the event before is the one in the register."""
    if isinstance(condition, Previous):
        return about(condition.operand, dict.fromkeys(variables(condition), register))
    return rebuild_condition(condition, lambda child: _with_register(child, register))
