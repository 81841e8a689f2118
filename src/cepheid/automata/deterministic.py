"""Deterministic automata: what they do on an event, and the interface that evaluators run them by.

A deterministic automaton reads classes of events: the sets of unary predicates that an event satisfies. In a state it
may first ask tests of the events that a partial match remembers, its *columns*. For each outcome of these there is at
most one way to skip the event and one to mark it under each label, so no match comes out twice. An automaton without
registers asks no tests and has one outcome. Transitions of chain automata are marks, each with the links that it
requires: most links make no difference to most of them, and there would be an outcome for each combination of links.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeVar

from cepheid.algebra.windows import Window
from cepheid.automata.automaton import Link, Predicate

Class = frozenset[int]
"""A class of events: the numbers of the unary predicates that they satisfy."""


NEW = -1  # in place of a column: the event at hand
ROOT = -1  # in place of a number of columns: nothing is marked yet


class Place(Enum):
    """Where a partial match is kept after a transition."""

    STAY = 0  # where it is
    BASE = 1  # with partial matches that remember their first event only
    OTHER = 2  # with partial matches that remember the columns `carry`, of which one is the event at hand


@dataclass(frozen=True, slots=True)
class Goal:
    """Where a transition leads: a state, where the partial match is kept and, for OTHER, the columns it takes along
    (NEW: the event)."""

    state: int
    place: Place = Place.STAY
    carry: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """Marking with `label` leads to `goal` (None: nothing can follow) and completes a match if `accepts`."""

    label: int
    goal: Goal | None
    accepts: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a state does for one outcome of the tests; `skip` None: a partial match that skips the event ends."""

    skip: Goal | None
    marks: tuple[Mark, ...]

    @property
    def goals(self) -> Iterator[Goal]:
        """All states that it leads to, the skip first."""
        if self.skip is not None:
            yield self.skip
        yield from self.marked

    @property
    def marked(self) -> Iterator[Goal]:
        """The states that its marks lead to."""
        return (mark.goal for mark in self.marks if mark.goal is not None)


@dataclass(frozen=True, slots=True)
class Asked:
    """A test (a number in `tests`, or after those in `windows`) of the events in these columns, one per register
    it reads."""

    test: int
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Transitions:
    """All that a state does on one class of events: the outcome is `outcomes[bits]`, bit i whether `asked[i]` holds."""

    asked: tuple[Asked, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def goals(self) -> Iterator[Goal]:
        """All states that it may lead to, with repetitions."""
        for outcome in self.outcomes:
            yield from outcome.goals


@dataclass(frozen=True, slots=True)
class LinkedMark:
    """Where the links of `equal` hold and those of `different` do not, marking with `label` leads to state `target`
    (None: nothing can follow) and completes a match if `accepts`."""

    label: int
    equal: frozenset[int]
    different: frozenset[int]
    target: int | None
    accepts: bool


Does = TypeVar("Does", covariant=True)


class Deterministic(Protocol[Does]):
    """A deterministic automaton. State 0 is the start; states are numbered in the order of their discovery.
    `labels[0]` is the empty set."""

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        """The unary predicates, which give events their classes."""
        ...

    @property
    def labels(self) -> tuple[frozenset[str], ...]: ...

    def __len__(self) -> int: ...

    def transitions(self, state: int, satisfied: Class) -> Does:
        """What a state does on an event that satisfies exactly these predicates."""
        ...

    def save(self) -> list[Any]:
        """The states discovered so far as plain JSON values, in order of their numbers."""
        ...

    def load(self, states: list[Any]) -> None:
        """Numbers states as they were when saved."""
        ...


class ChainAutomaton(Deterministic[tuple[LinkedMark, ...]], Protocol):
    """A deterministic chain automaton. Transitions of the start have no links, none leads to it, and those of one
    state, class and label exclude each other: no partial match and event can take two of them. Matches begin with
    events that satisfy a predicate of `begins` and end with those that satisfy one of `ends`."""

    begins: frozenset[int]
    ends: frozenset[int]

    @property
    def links(self) -> tuple[Link, ...]: ...


class RegisterAutomaton(Deterministic[Transitions], Protocol):
    """A deterministic automaton whose partial matches remember events. `tests` are those that read registers,
    `reads[test]` the registers each reads, `windows` those of nested windows."""

    tests: tuple[Predicate, ...]
    windows: tuple[Window, ...]
    reads: tuple[tuple[str, ...], ...]
    classes: list[Class] | None
    """All classes of events that there can be, where that is known."""

    @property
    def is_idle_on_others(self) -> bool:
        """Whether an event that satisfies no predicate changes nothing, whatever state it finds."""
        ...

    def columns(self, state: int) -> int:
        """How many columns beside the first a state remembers, or ROOT where nothing is marked yet."""
        ...
