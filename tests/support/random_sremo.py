"""Random SREMO, streams to read and windows, for Hypothesis and for plain seeds; and SREMO's sugar written out.

Invariant: no register is stored on both sides of an intersection. Everything else may happen: registers that are
looked at while they are empty, stored and never looked at, stored by events that are not marked, complements of
complements, windows in windows. Streams have so few values that conditions hold often, NULLs, and events at one
time. Number 0 is always the simplest answer, as in `generators`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from hypothesis import strategies as st

from cepheid.algebra.conditions import (
    TRUE,
    Attribute,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Literal,
    Negation,
)
from cepheid.algebra.nodes import (
    EPSILON,
    Both,
    Complement,
    Concat,
    Iterate,
    Or,
    Query,
    Read,
    Reading,
    Recognise,
    Within,
)
from cepheid.algebra.windows import Window, WindowUnit
from cepheid.semantics.stream import Event
from support.generators import Case, Choices, Draw, Drawn, Seeded, chance, pick

REGISTERS = ("r1", "r2", "r3")
ANY = Read(TRUE, marked=False)
SKIP = Iterate(ANY)


# ── sugar ───────────────────────────────────────────────────────────────────────────────────────────────────


def plus(body: Reading) -> Reading:
    return Concat((body, Iterate(body)))


def then_any(*parts: Reading) -> Reading:
    """`#(…)`, skip-till-any-match (definition 4.13)."""
    return Concat(tuple(item for part in parts for item in (SKIP, part))[1:])


def absent(body: Reading) -> Reading:
    """Nothing in the piece that is read could be read by the body."""
    return Complement(Concat((SKIP, body, SKIP)))


def then_next(*parts: Reading) -> Reading:
    """`@(…)`, skip-till-next-match."""
    return Concat(tuple(item for part in parts for item in (absent(part), part))[1:])


# ── cases ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ReadingCase:
    reading: Reading
    stream: list[Event]
    window: Window | None


Kind = Callable[[Choices], ReadingCase]


def case_of(case: ReadingCase) -> Case:
    """The same as a query over a table."""
    columns = {name: pa.array([event.attributes[name] for event in case.stream], pa.int64()) for name in "ab"}
    times = pa.array([event.time for event in case.stream], pa.int64())
    return Case(Query(Recognise(case.reading), window=case.window), pa.table({"ts": times, **columns}))


@st.composite
def reading_cases(draw: Draw, kind: Kind) -> ReadingCase:
    """A Hypothesis strategy for whole cases."""
    return kind(Drawn(draw))


def seeded_reading(seed: int, kind: Kind) -> ReadingCase:
    """The case that belongs to a seed."""
    return kind(Seeded(seed))


def reading_case(choices: Choices) -> ReadingCase:
    reading = expression(choices, 1 + choices.below(8), frozenset(REGISTERS))
    if chance(choices, 80):
        stored = tuple(
            Read(TRUE, chance(choices, 70), register) for register in REGISTERS if chance(choices, 50)
        )
        reading = Concat((*stored, reading, Read(_condition(choices))))
    windows = (None, Window(4, WindowUnit.EVENTS), Window(3, WindowUnit.PLAIN), Window(3, WindowUnit.EVENTS))
    return ReadingCase(reading, _stream(choices), pick(choices, windows))


def crossed(choices: Choices) -> ReadingCase:
    """Rounds of an intersection whose sides look at what the other stores: both see what was there before the round."""

    def side(mine: str) -> Reading:
        seen = Read(_compared(choices), True, mine) if chance(choices, 30) else Read(TRUE, True, mine)
        read = Read(_compared(choices)) if chance(choices, 70) else Read(TRUE)
        parts = [seen, read] if chance(choices, 50) else [read, seen]
        return (
            Concat((*parts, Iterate(Read(TRUE, True, mine)))) if chance(choices, 20) else Concat(tuple(parts))
        )

    rounds = plus(Both(side("r1"), side("r2")))
    stored = (Read(TRUE, register="r1"), Read(TRUE, register="r2"))
    last = Read(Disjunction((_plain(choices), _compared(choices))))
    reading = Concat((*stored, SKIP, rounds, last))
    return ReadingCase(reading, _stream(choices, 5), None)


def remembering(choices: Choices) -> ReadingCase:
    """A complement that has to remember events, inside a window by count."""
    register = pick(choices, REGISTERS[:2])
    parts = (Read(_condition(choices), True, register), Read(_compared(choices)))
    body = pick(choices, (absent, Complement))(pick(choices, (then_any, _strict))(*parts))
    if chance(choices, 30):
        body = Both(
            body, Complement(then_any(Read(_plain(choices), True, register), Read(_compared(choices))))
        )
    window = Window(3 + choices.below(4), WindowUnit.EVENTS)
    reading: Reading = Concat((Read(TRUE, register="r1"), body, Read(_plain(choices))))
    if chance(choices, 30):
        return ReadingCase(
            then_any(Within(reading, window), Read(_condition(choices))), _stream(choices), None
        )
    if chance(choices, 30):
        reading = Concat((Read(TRUE), absent(Within(reading, window)), Read(_condition(choices))))
    return ReadingCase(reading, _stream(choices), window)


def _strict(*parts: Reading) -> Reading:
    return Concat(parts)


def expression(choices: Choices, size: int, may_store: frozenset[str]) -> Reading:
    """An expression of about so many terminals that stores in these registers only."""
    if size <= 1:
        return _leaf(choices, may_store)

    def part(of: int, registers: frozenset[str] = may_store) -> Reading:
        return expression(choices, of, registers)

    first = 1 + choices.below(size - 1)
    match choices.below(14):
        case 0 | 1 | 2:
            return Concat((part(first), part(size - first)))
        case 3 | 4 | 5:
            return then_any(part(first), part(size - first))
        case 6 | 7:
            return Or((part(first), part(size - first)))
        case 8:
            return pick(choices, (plus, Iterate))(part(size - 1))
        case 9 | 10:
            mine = frozenset(register for register in sorted(may_store) if chance(choices, 50))
            # Both sides read the same and mark the same more often when one of them is lenient.
            left, right = part(first, mine), part(size - first, may_store - mine)
            return Both(left, Or((right, _anything(choices, may_store - mine))))
        case 11:
            return Complement(part(size - 1, frozenset(REGISTERS)))
        case 12:
            return absent(part(size - 1, frozenset(REGISTERS)))
        case _:
            return Within(part(size - 1), pick(choices, INNER_WINDOWS))


INNER_WINDOWS = (
    Window(3, WindowUnit.EVENTS),
    Window(2, WindowUnit.EVENTS),
    Window(1, WindowUnit.PLAIN),
    Window(2, WindowUnit.PLAIN),
)


def _anything(choices: Choices, may_store: frozenset[str]) -> Reading:
    """Any string with any marks, that stores some."""
    return Iterate(Or((_read(choices, may_store, marked=True), Read(TRUE), ANY)))


def _leaf(choices: Choices, may_store: frozenset[str]) -> Reading:
    return pick(choices, (ANY, SKIP, EPSILON)) if chance(choices, 20) else _read(choices, may_store)


def _read(choices: Choices, may_store: frozenset[str], marked: bool | None = None) -> Read:
    register = pick(choices, sorted(may_store)) if may_store and chance(choices, 50) else None
    return Read(_condition(choices), chance(choices, 60) if marked is None else marked, register)


def _condition(choices: Choices) -> Condition:
    match choices.below(9):
        case 0 | 1 | 2:
            return TRUE
        case 3 | 4:
            return _plain(choices)
        case 5 | 6:
            return _compared(choices)
        case 7:
            return Conjunction((_plain(choices), _compared(choices)))
        case _:
            return pick(
                choices, (Disjunction((_plain(choices), _compared(choices))), Negation(_compared(choices)))
            )


def _plain(choices: Choices) -> Condition:
    name, value = pick(choices, "ab"), Literal(choices.below(2))
    return Comparison(pick(choices, ("=", "<=", "<>")), Attribute(None, name), value)


def _compared(choices: Choices) -> Condition:
    mine, yours = (
        Attribute(None, pick(choices, "ab")),
        Attribute(pick(choices, REGISTERS[:2]), pick(choices, "ab")),
    )
    return Comparison(pick(choices, ("<=", "=", "<>")), mine, yours)


def _stream(choices: Choices, least: int = 3) -> list[Event]:
    time, found = 0, []
    for _ in range(least + choices.below(5)):
        time += pick(choices, (1, 0, 2))
        values = {name: pick(choices, (0, 1, 0, 1, 0, 1, 2, None)) for name in "ab"}
        found.append(Event(None, time, values))
    return found
