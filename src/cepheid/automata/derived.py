"""Derived columns: what an automaton asks of an event beyond its attributes, made from the stream before matching.

A NOT at an edge of a match asks for the nearest event that it forbids, before the first event of the match or after its
last, in the same partition. All that matters of that is *where* it is, so a derived column holds places: row numbers,
or positions in the partition for windows that count events. Places are compared, never times: the *edge* of a window is
the first place inside of it, so how far a window reaches is decided in one way everywhere (`evaluators.window`).

In: what is forbidden, and windows. Out: the columns, under names that no stream has, and the conditions over them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cepheid.algebra.conditions import Attribute, Comparison, Condition
from cepheid.algebra.expression_printing import HIDDEN, print_condition, print_name, print_window
from cepheid.algebra.nodes import Atom
from cepheid.algebra.windows import Window, WindowUnit
from cepheid.automata.positions import Absence

FIRST = "⊢"
"""The register that holds the first marked event; no register of a query has this name."""


def counts_events(window: Window | None) -> bool:
    return window is not None and window.unit is WindowUnit.EVENTS


@dataclass(frozen=True, slots=True)
class Place:
    """Where the event is: its row, or its position in the partition."""

    by_position: bool

    @property
    def name(self) -> str:
        return HIDDEN + _place(self.by_position)


@dataclass(frozen=True, slots=True)
class Edge:
    """The edge of the window that ends at the event; without a window, before all places."""

    window: Window | None

    @property
    def name(self) -> str:
        return HIDDEN + _edge(self.window)


@dataclass(frozen=True, slots=True)
class EdgeOfNext:
    """The edge of the window that ends at the next of the forbidden events, if that is `within` so much of the event;
    else beyond all places."""

    atoms: frozenset[Atom]
    within: Window | None
    window: Window | None

    @property
    def name(self) -> str:
        return f"{HIDDEN}{_edge(self.window)} of the next {_listed(self.atoms)}{_so_far(self.within)}"


@dataclass(frozen=True, slots=True)
class PlaceOfLast:
    """The place of the last of the forbidden events before this one, if that is `within` so much of it; else before all
    places and edges."""

    atoms: frozenset[Atom]
    within: Window | None
    by_position: bool

    @property
    def name(self) -> str:
        return f"{HIDDEN}{_place(self.by_position)} of the last {_listed(self.atoms)}{_so_far(self.within)}"


Derived = Place | Edge | EdgeOfNext | PlaceOfLast


@dataclass(frozen=True, slots=True)
class AbsenceTest:
    """Compares a column of the event in a register (None: the one at hand) with a column of the event at hand."""

    op: str
    register: str | None
    left: Derived
    right: Derived

    @property
    def condition(self) -> Condition:
        return Comparison(self.op, Attribute(self.register, self.left.name), Attribute(None, self.right.name))


def derived_columns(conditions: Iterable[AbsenceTest]) -> tuple[Derived, ...]:
    """The columns that these conditions read, each once."""
    return tuple(dict.fromkeys(column for one in conditions for column in (one.left, one.right)))


def none_after(absence: Absence, window: Window | None, first: str | None) -> Iterator[AbsenceTest]:
    """That nothing forbidden comes after the event at hand, with which a match ends that began with the event in the
    register `first` (None: with the event at hand itself): the match begins before the edge of the next such event."""
    for within, atoms in _by_window(absence):
        place = Place(counts_events(window))
        yield AbsenceTest("<", first if window else None, place, EdgeOfNext(atoms, within, window))


def none_before(absence: Absence, window: Window | None, first: str | None) -> Iterator[AbsenceTest]:
    """That nothing forbidden came before a match that began with the event in the register `first` (None: with the
    event at hand) and ends with the event at hand: the last such event is outside of the window."""
    for within, atoms in _by_window(absence):
        yield AbsenceTest("<", first, PlaceOfLast(atoms, within, counts_events(window)), Edge(window))


def is_near(window: Window, register: str) -> AbsenceTest:
    """That the event in the register is inside the window that ends at the event at hand."""
    return AbsenceTest(">=", register, Place(counts_events(window)), Edge(window))


def _by_window(absence: Absence) -> Iterator[tuple[Window | None, frozenset[Atom]]]:
    windows = dict.fromkeys(one.within for one in sorted(absence, key=repr))
    for within in windows:
        yield within, frozenset(one.atom for one in absence if one.within == within)


def _place(by_position: bool) -> str:
    return "position" if by_position else "row"


def _edge(window: Window | None) -> str:
    place = _place(counts_events(window))
    return f"least {place}" if window is None else f"least {place} within {print_window(window)}"


def _so_far(within: Window | None) -> str:
    return "" if within is None else f" within {print_window(within)}"


def _listed(atoms: frozenset[Atom]) -> str:
    return " or ".join(sorted(map(_printed, atoms)))


def _printed(atom: Atom) -> str:
    type = "event" if atom.type is None else print_name(atom.type)
    return type if atom.condition is None else f"{type} [{print_condition(atom.condition)}]"
