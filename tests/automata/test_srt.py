"""Register transducers: those of the paper's examples, and for random expressions exactly the matches of the definition."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pytest
from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

from cepheid.algebra.conditions import (
    FALSE,
    TRUE,
    Attribute,
    Comparison,
    Condition,
    Conjunction,
    Literal,
    variables,
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
)
from cepheid.algebra.windows import Window, WindowUnit
from cepheid.automata.srt import SRT
from cepheid.automata.srt_construct import NoTransducerError, construct_srt
from cepheid.automata.srt_printing import print_srt, srt_dot
from cepheid.automata.srt_simulate import simulate_srt
from cepheid.automata.srt_trim import registers_read
from cepheid.semantics.stream import Event, inside
from cepheid.semantics.values import holds
from readings import ANY, SKIP, ReadingCase, absent, plus, reading_cases, seeded_reading, then_any, then_next

Positions = frozenset[int]
Held = tuple[tuple[str, int], ...]
many = settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow], print_blob=True)


# ── the definition, written out ─────────────────────────────────────────────────────────────────────────────


def defined(reading: Reading, stream: list[Event], window: Window | None = None) -> set[Positions]:
    """The complex events by the definition of each operator, nothing else: all M with (e, S[i..j], M, #) ⊢ v' that end
    with the last event read."""

    @cache
    def ways(e: Reading, i: int, j: int, v: Held) -> frozenset[tuple[Positions, Held]]:
        """All (M, v') with (e, S[i..j), M, v) ⊢ v'."""
        match e:
            case Read(condition, marked, register):
                if j != i + 1 or not true_of(condition, i, dict(v)):
                    return frozenset()
                stored = {} if register is None else {register: i}
                return frozenset([(frozenset([i] if marked else []), held(dict(v) | stored))])
            case Concat(parts):
                if not parts:
                    return frozenset([(frozenset(), v)] if i == j else [])
                return joined(
                    (one, ways(Concat(parts[1:]), k, j, after))
                    for k in range(i, j + 1)
                    for one, after in ways(parts[0], i, k, v)
                )
            case Either(parts):
                return frozenset().union(*(ways(part, i, j, v) for part in parts))
            case Iterate(body):
                if i == j:
                    # Rounds that read nothing leave everything as it is.
                    return frozenset([(frozenset(), v)])
                return joined(
                    (one, ways(e, k, j, after))
                    for k in range(i + 1, j + 1)
                    for one, after in ways(body, i, k, v)
                )
            case Both(left, right):
                return frozenset(
                    (one, held({name: at for name, at in left_after if name not in stores(right)} | yours))
                    for one, left_after in ways(left, i, j, v)
                    for two, right_after in ways(right, i, j, v)
                    if one == two
                    for yours in [{name: at for name, at in right_after if name in stores(right)}]
                )
            case Complement(body):
                return frozenset() if ways(body, i, j, v) else frozenset([(frozenset(), v)])
            case Inside(body, bound):
                return frozenset(
                    (one, after)
                    for one, after in ways(body, i, j, v)
                    if not one or inside(bound, stream, min(one), max(one))
                )

    def true_of(condition: Condition, at: int, v: dict[str, int]) -> bool:
        if not variables(condition) <= v.keys():
            return False
        return holds(condition, {None: stream[at].attributes, **{r: stream[p].attributes for r, p in v.items()}})

    ends = range(1, len(stream) + 1)
    found = {one for j in ends for i in range(j) for one, _ in ways(reading, i, j, ()) if j - 1 in one}
    return {one for one in found if inside(window, stream, min(one), max(one))}


def held(valuation: dict[str, int]) -> Held:
    return tuple(sorted(valuation.items()))


def joined(
    pairs: Iterable[tuple[Positions, frozenset[tuple[Positions, Held]]]],
) -> frozenset[tuple[Positions, Held]]:
    return frozenset((one | two, after) for one, ways in pairs for two, after in ways)


def stores(reading: Reading) -> set[str]:
    """The registers that it can store; a complement stores nothing."""
    match reading:
        case Read(_, _, register):
            return set() if register is None else {register}
        case Concat(parts) | Either(parts):
            return set().union(*map(stores, parts))
        case Iterate(body) | Inside(body):
            return stores(body)
        case Both(left, right):
            return stores(left) | stores(right)
        case Complement():
            return set()


def found_by(srt: SRT, stream: list[Event], window: Window | None = None) -> set[Positions]:
    return {
        frozenset(position for position, _ in marked) for marked in simulate_srt(srt, stream, window)
    }


def agrees(reading: Reading, stream: list[Event], window: Window | None = None) -> SRT:
    srt = construct_srt(reading, window=window)
    note(f"{reading}\n{print_srt(srt)}")
    expected = defined(reading, stream, window)
    assert found_by(srt, stream, window) == expected
    event("matches" if expected else "no matches")
    return srt


# ── at random ───────────────────────────────────────────────────────────────────────────────────────────────


@many
@given(reading_cases())
def test_random_expressions_have_the_matches_of_their_definition(case: ReadingCase) -> None:
    try:
        agrees(case.reading, case.stream, case.window)
    except NoTransducerError:
        event("no transducer")
