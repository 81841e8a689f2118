"""A condition that compares each event of a set with the one before it → conditions on atoms, for `attach`.

In: a condition with `prev(X.v)`, on one set and variables that are bound before its events; and a pattern without
filters that gathers the set. Out: the pattern, with the condition on the atoms of the set, from its second event on.
The event before is a register, written by every event of the set; a run knows whether there was one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from cepheid.algebra.conditions import (
    Aggregate,
    Attribute,
    Condition,
    Expression,
    Previous,
    children,
    sets_read,
    variables,
)
from cepheid.algebra.conditions import rebuild as rebuild_condition
from cepheid.algebra.empty import NOTHING, either
from cepheid.algebra.limits import guarded
from cepheid.algebra.nodes import Atom, Bind, Pattern
from cepheid.algebra.variables import defined, names_of, sets
from cepheid.automata.attach_atoms import restricted
from cepheid.automata.attach_sets import NoExtremeError
from cepheid.automata.pattern_alternatives import Alternatives


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

    >>> from cepheid.algebra.conditions import Comparison
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
    if isinstance(condition, Aggregate):
        return False
    if isinstance(condition, Previous):
        return condition.steps == 1
    return all(map(_reads_neighbours, children(condition)))


class _OnPrevious(Alternatives[Known]):
    def __init__(self, condition: Condition, name: str, register: str) -> None:
        super().__init__()
        self.gathered = frozenset([name])
        self.singles = variables(condition) - self.gathered
        self._name = name
        self._condition = condition
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
        condition = _about(self._condition, {self._name: None, **dict.fromkeys(own)}, self._register)
        return {known: Bind(restricted(atom, condition), self._register)}


def _about(condition: Condition, at_hand: Mapping[str, None], register: str) -> Condition:
    """The condition where these variables are the event at hand, and the one before it is in the register."""
    if isinstance(condition, Previous):
        return _previous(condition.operand, register)
    if isinstance(condition, Attribute):
        return replace(condition, var=None, each=False) if condition.var in at_hand else condition
    return rebuild_condition(condition, lambda child: _about(child, at_hand, register))


def _previous(operand: Expression, register: str) -> Expression:
    if isinstance(operand, Attribute):
        return replace(operand, var=register, each=False)
    return rebuild_condition(operand, lambda child: _previous(child, register))
