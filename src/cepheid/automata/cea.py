"""Complex event automata (`cel-cea`, section 6), with labels.

A CEA reads every event of a stream; a transition marks its event or skips it. Beside the paper's mark • a marking
transition carries a *label*, the variables that the event is bound to, so that one run gives a complex event and
its binding. Skipping transitions are all TRUE/∘ and lead from a state to itself or to its waiting copy, as the
construction of theorem 3 makes them.
"""

from __future__ import annotations

from dataclasses import dataclass

from cepheid.algebra.conditions import Condition


@dataclass(frozen=True, slots=True)
class Predicate:
    """A unary predicate: the event's type (None: any) and a condition over the event at hand (None: true)."""

    type: str | None
    condition: Condition | None


@dataclass(frozen=True, slots=True)
class Mark:
    """source ─predicate/•label→ target; `predicate` and `label` are numbers in the automaton's lists."""

    source: int
    predicate: int
    label: int
    target: int


@dataclass(frozen=True, slots=True)
class CEA:
    """States are 0 … states-1, state 0 is initial and no transition enters it but its own loop.

    `skips[q]` is where state q goes when it skips an event (None: it dies). A run accepts when it enters a state
    of `finals` by a marking transition. `labels[0]` is the empty set.
    """

    states: int
    predicates: tuple[Predicate, ...]
    labels: tuple[frozenset[str], ...]
    marks: tuple[Mark, ...]
    skips: tuple[int | None, ...]
    finals: frozenset[int]
