"""Random SREMO, streams to read and windows, for Hypothesis; and SREMO's sugar written out.

Invariant: no register is stored on both sides of an intersection. Everything else may happen: registers that are looked at
while they are empty, stored and never looked at, stored by events that are not marked, complements of complements, windows in
windows. Streams have values so few that conditions hold often, NULLs, and events at one time.
"""

from __future__ import annotations

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
from cepheid.algebra.strings import (
    EPSILON,
    Both,
    Complement,
    Concat,
    Either,
    Inside,
    Iterate,
    Read,
    Reading,
    parts_of,
)
from cepheid.algebra.windows import Window, WindowUnit
from cepheid.semantics.stream import Event

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


# ── conditions ──────────────────────────────────────────────────────────────────────────────────────────────

plain = st.sampled_from(
    [
        *(Comparison("=", Attribute(None, "a"), Literal(value)) for value in (0, 1)),
        Comparison("<", Attribute(None, "b"), Literal(1)),
        Negation(Comparison("=", Attribute(None, "b"), Literal(0))),
    ]
)
compared = st.builds(
    lambda op, register, left, right: Comparison(op, Attribute(None, left), Attribute(register, right)),
    st.sampled_from(["=", "<", "<>"]),
    st.sampled_from(REGISTERS),
    st.sampled_from("ab"),
    st.sampled_from("ab"),
)
tests: st.SearchStrategy[Condition] = st.one_of(
    plain,
    compared,
    compared,
    st.builds(lambda one, two: Disjunction((one, two)), plain, compared),
    st.builds(Negation, compared),
)
conditions: st.SearchStrategy[Condition] = st.one_of(
    st.just(TRUE), plain, tests, st.builds(lambda one, two: Conjunction((one, two)), tests, tests)
)

# ── expressions ─────────────────────────────────────────────────────────────────────────────────────────────

windows = st.sampled_from(
    [Window(2, WindowUnit.EVENTS), Window(3, WindowUnit.EVENTS), Window(1, WindowUnit.PLAIN)]
)
reads = st.builds(
    Read, conditions, st.sampled_from([True, True, False]), st.sampled_from([None, None, *REGISTERS])
)
leaves = st.one_of(reads, reads, reads, st.sampled_from([ANY, SKIP, EPSILON]))


def _both(left: Reading, right: Reading) -> Reading:
    return Both(left, without_stores(right, stores(left)))


def stores(reading: Reading) -> set[str]:
    """Every register that is stored anywhere in it."""
    own = {reading.register} if isinstance(reading, Read) and reading.register is not None else set()
    return own.union(*map(stores, parts_of(reading)))


def without_stores(reading: Reading, registers: set[str]) -> Reading:
    """The same that does not store in these registers."""

    def change(part: Reading) -> Reading:
        return without_stores(part, registers)

    match reading:
        case Read(condition, marked, register):
            return Read(condition, marked, None if register in registers else register)
        case Concat(parts):
            return Concat(tuple(map(change, parts)))
        case Either(parts):
            return Either(tuple(map(change, parts)))
        case Iterate(body):
            return Iterate(change(body))
        case Both(left, right):
            return Both(change(left), change(right))
        case Complement(body):
            return Complement(change(body))
        case Inside(body, window):
            return Inside(change(body), window)


def _larger(inner: st.SearchStrategy[Reading]) -> st.SearchStrategy[Reading]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        several.map(Concat),
        several.map(Concat),
        several.map(lambda parts: then_any(*parts)),
        several.map(Either),
        inner.map(Iterate),
        inner.map(plus),
        st.builds(_both, inner, inner),
        inner.map(Complement),
        inner.map(absent),
        st.builds(Inside, inner, windows),
    )


readings: st.SearchStrategy[Reading] = st.recursive(leaves, _larger, max_leaves=7)


@st.composite
def matching(draw: st.DrawFn) -> Reading:
    """An expression with marks around another: more of them match than of those that are drawn at once."""
    return Concat((draw(reads), draw(readings), Read(draw(conditions))))


@st.composite
def streams(draw: st.DrawFn, most: int = 6) -> list[Event]:
    gaps = draw(st.lists(st.sampled_from([1, 0, 2]), min_size=1, max_size=most))
    value = st.sampled_from([0, 1, 2, 1, None])
    times = [sum(gaps[: at + 1]) for at in range(len(gaps))]
    return [Event(None, time, {"a": draw(value), "b": draw(value)}) for time in times]
