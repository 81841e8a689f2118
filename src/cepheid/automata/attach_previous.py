"""A condition that compares each event of a set with some before it → conditions on atoms, for `attach`.

In: a condition with `prev(X.v)` or `prev(X.v, n)`, on one set and variables that are bound before its events; and a
pattern without filters that gathers the set. Out: the pattern, with the condition on the atoms of the set, from its
second event on, or the one after the n-th. The last n events are registers in a row: every event of the set is written
to the first, and what that held moves on. A run knows how many there were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cepheid.algebra.conditions import (
    Condition,
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

MOST_STEPS = 5  # a partial match remembers few events


@dataclass(frozen=True, slots=True)
class Known:
    """The single variables that are bound, and how many events the set has had, up to as many as are remembered."""

    singles: frozenset[str]
    events: int


def on_previous(
    condition: Condition, pattern: Pattern, known: frozenset[str], row: Callable[[str, int], list[str]]
) -> Pattern:
    """The pattern whose matches satisfy the condition; `NoExtremeError` where registers do not suffice. `known`:
    variables bound before it; `row`: new names of registers in a row.

    >>> from cepheid.algebra.conditions import Attribute, Comparison
    >>> from cepheid.algebra.nodes import Seq
    >>> v = Attribute("X", "v", each=True)
    >>> two = Bind(Seq(Atom("A"), Atom("B")), "X")
    >>> done = on_previous(Comparison(">", v, Previous(v)), two, frozenset(), lambda name, length: [f"{name}+"])
    >>> done.body.right.body.condition == Comparison(">", Attribute(None, "v"), Attribute("X+", "v"))
    True
    """
    gathered = sets_read(condition)
    steps = max(most_steps(condition).values(), default=0)
    if len(gathered) != 1 or not 0 < steps <= MOST_STEPS or next(aggregates(condition), None) is not None:
        raise NoExtremeError
    (name,) = gathered
    visitor = _OnPrevious(condition, name, row(name, steps))
    alternatives = visitor.alternatives(pattern, Known(known & visitor.singles, 0))
    return guarded(either(alternatives.values()) if alternatives else NOTHING, "attach")


class _OnPrevious(Alternatives[Known]):
    def __init__(self, condition: Condition, name: str, registers: Sequence[str]) -> None:
        super().__init__()
        self.gathered = frozenset([name])
        self.singles = variables(condition) - self.gathered
        self._name = name
        self._condition = _with_registers(condition, registers)
        self._registers = registers

    def _concerns(self, pattern: Pattern, known: Known) -> bool:
        return bool(sets(pattern) & self.gathered or defined(pattern) & self.singles)

    def _atom(self, atom: Atom, known: Known, inside: frozenset[str]) -> dict[Known, Pattern]:
        own = names_of(atom) & self.singles
        known = replace(known, singles=known.singles | own)
        if not inside:
            return {known: atom}
        if known.events < len(self._registers):
            return {replace(known, events=known.events + 1): Bind(atom, self._registers[0])}
        if known.singles != self.singles:
            raise NoExtremeError
        condition = about(self._condition, {self._name: None, **dict.fromkeys(own)})
        return {known: Bind(restricted(atom, condition), self._registers[0])}


def _with_registers(condition: Condition, registers: Sequence[str]) -> Condition:
    """The condition where the events before are those in the registers."""
    if isinstance(condition, Previous):
        return about(condition.operand, dict.fromkeys(variables(condition), registers[condition.steps - 1]))
    return rebuild_condition(condition, lambda child: _with_registers(child, registers))
