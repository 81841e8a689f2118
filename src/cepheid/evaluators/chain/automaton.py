"""What the chain evaluator needs of a deterministic chain-CEA (`partition-by-chain-cea`, section 4).

A run skips freely between the events it marks. It remembers its state and the event it marked last, and a
move compares that event with the one at hand by *links*: equalities of one attribute of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

from cepheid.automata.cea import Predicate

POSITION: Final = "\0position"  # the place of an event in its partition, as an attribute of links only


@dataclass(frozen=True, slots=True)
class Link:
    """Attribute `left` of the event marked last equals attribute `right` of the event at hand, as keys do."""

    left: str
    right: str


ADJACENT: Final = Link(POSITION, POSITION)
"""The event at hand comes right after the one marked last: position + 1 = position."""


@dataclass(frozen=True, slots=True)
class ChainMove:
    """Marks the event at hand with `label` for the partial matches of a state whose last event satisfies
    every link of `equal` and none of `different` (numbers in the automaton's list). With `accepts` they end
    here as matches; `target` is where they wait for more, None where nothing can follow."""

    label: int
    equal: frozenset[int]
    different: frozenset[int]
    target: int | None
    accepts: bool


class ChainAutomaton(Protocol):
    """State 0 is the start; its moves have no links, and no move leads to it. `labels[0]` is the empty
    set."""

    @property
    def links(self) -> tuple[Link, ...]: ...

    @property
    def predicates(self) -> tuple[Predicate, ...]: ...

    @property
    def labels(self) -> tuple[frozenset[str], ...]: ...

    def __len__(self) -> int: ...

    def moves(self, state: int, satisfied: frozenset[int]) -> tuple[ChainMove, ...]:
        """What a state does on an event that satisfies exactly these predicates. Moves of one label exclude
        each other: no partial match and event can take two of them."""
        ...

    def save(self) -> list[Any]:
        """The states met so far, as plain JSON values."""
        ...

    def load(self, states: list[Any]) -> None: ...
