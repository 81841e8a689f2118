"""The meaning of a SREMO: the relation (e, S, M, v) ⊢ v' of `srt`, section 3, and its matches (definition 4.4).

In: an expression and a list of events. Out: every way of reading, `(end, M, v')`, from a given place and valuation;
of a whole expression the sets M of those runs that begin anywhere with empty registers and end by reading an event
that they mark. A valuation maps registers to positions and is partial: a register may be empty.

Beyond the paper's definition 3.4: `Both` is theorem 4.10's intersection, of strings and of matches; `Complement`
reads the strings that its body cannot, with any marks (corollary 4.12); `Within` is the window.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, assert_never

from cepheid.algebra.conditions import Condition, variables
from cepheid.algebra.nodes import Both, Complement, Concat, Iterate, Or, Read, Reading, Within
from cepheid.algebra.registers import stored_by
from cepheid.semantics.strategies import ComplexEvent
from cepheid.semantics.stream import Stream, inside
from cepheid.semantics.values import Attributes, holds

Valuation = frozenset[tuple[str, int]]
EMPTY: Valuation = frozenset()


class Way(NamedTuple):
    """S ends before position `end`; `marked` is M, `valuation` is v'."""

    end: int
    marked: ComplexEvent
    valuation: Valuation


def recognised(reading: Reading, stream: Stream) -> frozenset[ComplexEvent]:
    """All M of runs S[i..j] from empty registers with S[j] ∈ M.

    >>> from cepheid.algebra.conditions import Attribute, Comparison
    >>> from cepheid.semantics.stream import Event
    >>> rises = Comparison(">", Attribute(None, "v"), Attribute("r", "v"))
    >>> first = Read(Comparison("=", Attribute(None, "v"), Attribute(None, "v")), register="r")
    >>> stream = [Event("A", time, {"v": v}) for time, v in enumerate((1, 2, 1))]
    >>> sorted(recognised(Concat((first, Read(rises))), stream))
    [(0, 1)]
    """
    reader = Reader(stream)
    return frozenset(
        way.marked
        for start in range(len(stream))
        for way in reader.ways(reading, start, EMPTY)
        if way.marked and way.marked[-1] == way.end - 1
    )


class Reader:
    """Reads one stream; caches the ways of reading by place and valuation, for as long as the expressions live."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._known: dict[tuple[int, int, Valuation], frozenset[Way]] = {}

    def ways(self, reading: Reading, start: int, valuation: Valuation) -> frozenset[Way]:
        """All (e, S, M, v) ⊢ v' with S from `start` on and v = `valuation`."""
        key = id(reading), start, valuation  # to hash an expression is to walk it
        if key not in self._known:
            self._known[key] = frozenset(self._ways(reading, start, valuation))
        return self._known[key]

    def _ways(self, reading: Reading, start: int, valuation: Valuation) -> Iterator[Way]:
        match reading:
            case Read():
                yield from self._read(reading, start, valuation)
            case Concat(parts):
                yield from self._concat(parts, start, valuation)
            case Or(parts):
                for part in parts:
                    yield from self.ways(part, start, valuation)
            case Iterate(body):
                yield from self._iterate(body, start, valuation)
            case Both():
                yield from self._both(reading, start, valuation)
            case Complement(body):
                read = {way.end for way in self.ways(body, start, valuation)}
                ends = range(start, len(self._stream) + 1)
                yield from (Way(end, (), valuation) for end in ends if end not in read)
            case Within(body, window):
                for way in self.ways(body, start, valuation):
                    if not way.marked or inside(window, self._stream, way.marked[0], way.marked[-1]):
                        yield way
            case _:
                assert_never(reading)

    def _read(self, read: Read, start: int, valuation: Valuation) -> Iterator[Way]:
        if start < len(self._stream) and self._holds(read.condition, start, dict(valuation)):
            stored = valuation if read.register is None else _stored(valuation, read.register, start)
            yield Way(start + 1, (start,) if read.marked else (), stored)

    def _holds(self, condition: Condition, position: int, registers: dict[str, int]) -> bool:
        """(S[position], v) ⊨ φ; where φ reads an empty register it does not hold, whatever else it says."""
        if not variables(condition) <= registers.keys():
            return False
        events: dict[str | None, Attributes] = {None: self._stream[position].attributes}
        events |= {register: self._stream[place].attributes for register, place in registers.items()}
        return holds(condition, events)

    def _concat(self, parts: tuple[Reading, ...], start: int, valuation: Valuation) -> frozenset[Way]:
        reached = frozenset([Way(start, (), valuation)])
        for part in parts:
            reached = frozenset(further for way in reached for further in self._after(way, part))
        return reached

    def _iterate(self, body: Reading, start: int, valuation: Valuation) -> set[Way]:
        fresh = {Way(start, (), valuation)}
        reached = set(fresh)
        while fresh:
            fresh = {further for way in fresh for further in self._after(way, body)} - reached
            reached |= fresh
        return reached

    def _after(self, way: Way, reading: Reading) -> Iterator[Way]:
        """One way followed by a reading of what comes directly after it: M = M₁ · M₂."""
        for after in self.ways(reading, way.end, way.valuation):
            yield after._replace(marked=way.marked + after.marked)

    def _both(self, both: Both, start: int, valuation: Valuation) -> Iterator[Way]:
        """The same S and M; each register from the side that can store it."""
        from_right = stored_by(both.right)
        alike: dict[tuple[int, ComplexEvent], list[Way]] = {}
        for right in self.ways(both.right, start, valuation):
            alike.setdefault(right[:2], []).append(right)
        for left in self.ways(both.left, start, valuation):
            kept = {pair for pair in left.valuation if pair[0] not in from_right}
            for right in alike.get(left[:2], ()):
                taken = {pair for pair in right.valuation if pair[0] in from_right}
                yield left._replace(valuation=frozenset(kept | taken))


def _stored(valuation: Valuation, register: str, position: int) -> Valuation:
    """v[register ← position]."""
    return frozenset([*(pair for pair in valuation if pair[0] != register), (register, position)])
