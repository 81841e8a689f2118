"""Windows of parts and of steps → limits on atoms, for `attach`.

In: the body of a WITHIN, or a whole scope in which a limited part is gathered as a set of its own; neither has filters.
Out: the same matches, where an atom says of which registers its event is near. Time never goes back in a match, so one
event decides for all: a part is inside its window if each of its events is near its first, and events before x are near
x if the first of them is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NamedTuple

from cepheid.algebra.empty import NOTHING, either
from cepheid.algebra.limits import guarded
from cepheid.algebra.nodes import Atom, Bind, Pattern, Within
from cepheid.algebra.pattern_alternatives import Alternatives, merged
from cepheid.algebra.reach import edges
from cepheid.algebra.variables import defined, names_of, sets
from cepheid.algebra.windows import Window
from cepheid.automata.attach_atoms import NotAttachedError


@dataclass(frozen=True, slots=True)
class Limit:
    """Every event of the set `gathered` is within the window of the event `of`, or of the last one before the part:
    `PREVIOUS`."""

    gathered: str
    window: Window
    of: str


def check_edges(node: Within[Pattern]) -> None:
    """Raises where the window also limits how far away what a NOT forbids may be."""
    if edges(node.body, last=True) or edges(node.body, last=False):
        raise NotAttachedError("a window limits how far away what a NOT forbids may be")


def with_window(body: Pattern, window: Window, register: str) -> Pattern:
    """The matches of the body that last no longer than the window.

    >>> from cepheid.algebra.nodes import Seq
    >>> from cepheid.algebra.windows import WindowUnit
    >>> pair = with_window(Seq(Atom("A"), Atom("B")), Window(5, WindowUnit.PLAIN), "r")
    >>> pair.left, pair.right.near
    (Bind(body=Atom(type='A', var=None, condition=None), var='r'), (('r', Window(amount=5, ...)),))
    """
    return _either(_OfFirst(window, register).alternatives(body, False).values())


def near_event(limit: Limit, pattern: Pattern, register: str) -> Pattern:
    """The pattern with the limited events near the event `limit.of`, which every match with such events binds.

    >>> from cepheid.algebra.nodes import Seq
    >>> from cepheid.algebra.windows import WindowUnit
    >>> limit = Limit("X", Window(5, WindowUnit.PLAIN), "c")
    >>> near = near_event(limit, Seq(Bind(Atom("B"), "X"), Atom("C", "c")), "r")
    >>> near.left.body == Bind(Atom("B"), "r"), [name for name, _ in near.right.near]
    (True, ['r'])
    """
    found = _OfEvent(limit, register).alternatives(pattern, _Met.NOTHING)
    if _Met.PART in found:
        name = limit.of.partition("′")[0]
        raise NotAttachedError(f"WITHIN … OF {name} reads a variable that not every match binds")
    return _either(found.values())


def near_previous(limit: Limit, pattern: Pattern, register: str) -> Pattern:
    """The pattern with the limited events near the last event of the match before their part, if there is one.

    >>> from cepheid.algebra.nodes import PREVIOUS, Seq
    >>> from cepheid.algebra.windows import WindowUnit
    >>> limit = Limit("X", Window(5, WindowUnit.PLAIN), PREVIOUS)
    >>> near = near_previous(limit, Seq(Atom("A"), Bind(Atom("B"), "X")), "r")
    >>> near.left == Bind(Atom("A"), "r"), [name for name, _ in near.right.body.body.near]
    (True, ['r'])
    """
    found = _OfPrevious(limit, register).alternatives(pattern, _Place(False, _Part.OUTSIDE))
    return _either(found.values())


def _either(alternatives: Iterable[Pattern]) -> Pattern:
    parts = list(alternatives)
    return guarded(either(parts) if parts else NOTHING, "attach")


def _limited(atom: Atom, register: str, window: Window) -> Atom:
    return replace(atom, near=(*atom.near, (register, window)))


class _OfFirst(Alternatives[bool]):
    """Known is whether the part has had an event."""

    absences = True

    def __init__(self, window: Window, register: str) -> None:
        super().__init__()
        self._window, self._register = window, register

    def _atom(self, atom: Atom, known: bool, inside: frozenset[str]) -> dict[bool, Pattern]:
        return {True: _limited(atom, self._register, self._window) if known else Bind(atom, self._register)}


class _Met(Enum):
    """What a match has had: no limited event, some before the event that they must be near, or that event."""

    NOTHING = auto()
    PART = auto()
    EVENT = auto()


class _OfEvent(Alternatives[_Met]):
    absences = True

    def __init__(self, limit: Limit, register: str) -> None:
        super().__init__()
        self.gathered = frozenset([limit.gathered])
        self._window, self._of, self._register = limit.window, limit.of, register

    def _concerns(self, pattern: Pattern, known: _Met) -> bool:
        return bool(sets(pattern) & self.gathered) or self._of in defined(pattern)

    def _atom(self, atom: Atom, known: _Met, inside: frozenset[str]) -> dict[_Met, Pattern]:
        if self._of in names_of(atom):
            return {_Met.EVENT: self._near(atom, self._register) if known is _Met.PART else atom}
        if not inside or known is _Met.PART:
            return {known: atom}
        if known is _Met.EVENT:
            return {known: self._near(atom, self._of)}
        return {_Met.PART: Bind(atom, self._register)}

    def _near(self, atom: Atom, register: str) -> Atom:
        return _limited(atom, register, self._window)


class _Part(Enum):
    """Where a match is in a limited part: `LIMITED`, `FREE`: it has begun, with or without an event before it."""

    OUTSIDE = auto()
    BEFORE = auto()
    LIMITED = auto()
    FREE = auto()
    OVER = auto()


class _Place(NamedTuple):
    """Whether the match has had an event, and where it is."""

    begun: bool
    part: _Part


class _OfPrevious(Alternatives[_Place]):
    """Every event that may be the last before the part is stored. An event of the part is that for the next round only
    if it is the part's last, which is guessed: the others leave the register as it is."""

    absences = True

    def __init__(self, limit: Limit, register: str) -> None:
        super().__init__()
        self._set, self._window, self._register = limit.gathered, limit.window, register

    def _split(self, pattern: Pattern, known: _Place, inside: frozenset[str]) -> dict[_Place, Pattern]:
        if not isinstance(pattern, Bind) or pattern.var != self._set:
            return super()._split(pattern, known, inside)
        before = known._replace(part=_Part.BEFORE)
        found = super()._split(pattern, before, inside)
        return merged(
            {then._replace(part=_Part.OUTSIDE): part}
            for then, part in found.items()
            if then.part in (_Part.BEFORE, _Part.OVER)
        )

    def _atom(self, atom: Atom, known: _Place, inside: frozenset[str]) -> dict[_Place, Pattern]:
        match known.part:
            case _Part.OUTSIDE:
                return {_Place(True, known.part): Bind(atom, self._register)}
            case _Part.OVER:
                return {}
            case _Part.BEFORE:
                goes_on = _Part.LIMITED if known.begun else _Part.FREE
            case _Part.LIMITED | _Part.FREE:
                goes_on = known.part
        near = _limited(atom, self._register, self._window) if goes_on is _Part.LIMITED else atom
        return {_Place(True, goes_on): near, _Place(True, _Part.OVER): Bind(near, self._register)}
