"""What the chain evaluator needs of a deterministic chain automaton (`partition-by-chain-cea`, section 4).

A run skips freely between the events it marks. It remembers its state and the event it marked last, and a
transition compares that event with the one at hand by *links*: equalities of one attribute of each.
"""

from __future__ import annotations

from typing import Any, Protocol

from cepheid.automata.automaton import Link, Predicate
from cepheid.automata.determinise_chain import LinkedMark
from cepheid.automata.deterministic import Class


class ChainAutomaton(Protocol):
    """State 0 is the start; its transitions have no links, and none leads to it. `labels[0]` is the empty
    set."""

    @property
    def links(self) -> tuple[Link, ...]: ...

    @property
    def predicates(self) -> tuple[Predicate, ...]: ...

    @property
    def labels(self) -> tuple[frozenset[str], ...]: ...

    def __len__(self) -> int: ...

    def transitions(self, state: int, satisfied: Class) -> tuple[LinkedMark, ...]:
        """What a state does on an event that satisfies exactly these predicates. Those of one label
        exclude each other: no partial match and event can take two of them."""
        ...

    def save(self) -> list[Any]:
        """The states met so far, as plain JSON values."""
        ...

    def load(self, states: list[Any]) -> None: ...
