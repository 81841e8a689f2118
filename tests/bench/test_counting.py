"""The benchmark's own counters agree with the definition, and with the engine, on small streams."""

from __future__ import annotations

import numpy as np
import pytest
from bench.checks import STRATEGIES, strategy_counts
from bench.counting import PRIME, by_key, consuming, sequence_of_three, within_events, without_window
from bench.experiments.stream import repeated_count
from bench.formulas import Q, sequence
from bench.streams import S2, Stream, drawn, keyed, named
from bench.texts import WANTED, apart, floor, together

import cepheid

FEW = 14


def defined(stream: Stream, query: str) -> int:
    return cepheid.count(stream.table(), query, evaluator="semantics")


@pytest.mark.parametrize("name", Q)
@pytest.mark.parametrize("within", [6, 20])
def test_matches_in_a_window_are_those_of_the_definition(name: str, within: int) -> None:
    stream = drawn(FEW, S2)
    query = Q[name].query(clauses=f"WITHIN {within} EVENTS")
    assert within_events(Q[name], stream, within).matches == defined(stream, query)


@pytest.mark.parametrize("name", Q)
@pytest.mark.parametrize("within", [6, None])
def test_strategies_leave_what_the_definition_leaves(name: str, within: int | None) -> None:
    stream = drawn(FEW, S2, seed=7)
    known = strategy_counts(name, stream, within)
    assert set(STRATEGIES) - set(known) <= ({"ALL", "MAX"} if within is None else {"MAX", "STRICT"})
    for strategy, expected in known.items():
        query = Q[name].query(strategy, "" if within is None else f"WITHIN {within} EVENTS")
        assert (strategy, defined(stream, query)) == (strategy, expected)


@pytest.mark.parametrize("name", Q)
def test_consumption_is_that_of_the_definition(name: str) -> None:
    stream = drawn(30, S2)
    counted = consuming(Q[name], stream)
    assert counted.matches == defined(stream, Q[name].query(clauses="CONSUME"))
    assert 0 < counted.ends <= counted.matches


@pytest.mark.parametrize("within", [1, 3, 50, 5_000, None])
def test_sums_and_the_direct_program_and_the_engine_agree(within: int | None) -> None:
    stream = drawn(3_000)
    query = Q["Q1"].query(clauses="" if within is None else f"WITHIN {within} EVENTS")
    expected = cepheid.count(stream.table(), query)
    assert sequence_of_three(stream, within) == expected
    if within is None:
        assert without_window(Q["Q1"], stream) == expected
    else:
        assert within_events(Q["Q1"], stream, within).matches == expected % PRIME


def test_a_longer_sequence_is_counted_as_the_engine_does() -> None:
    stream = drawn(2_000, dict.fromkeys("ABCDEFG", 1.0))
    query = sequence("ABCDEF").query(clauses="WITHIN 200 EVENTS")
    assert (
        within_events(sequence("ABCDEF"), stream, 200).matches == cepheid.count(stream.table(), query) % PRIME
    )


def test_matches_by_key_are_those_of_the_engine() -> None:
    stream = drawn(5_000)
    table = keyed(stream, 700)
    keys, times = (table[name].to_numpy() for name in ("key", "ts"))
    for within in (0, 1_000, 5_000):
        query = Q["Q1"].query(clauses=f"PARTITION BY key WITHIN {within}")
        assert by_key(stream, keys, times, within) == cepheid.count(table, query)


@pytest.mark.parametrize("events", [1_500, 4_000, 5_000, 13_000])
def test_a_block_repeated_is_counted_without_repeating_it(events: int) -> None:
    block = drawn(4_000)
    whole = Stream(block.types, np.resize(block.codes, events))
    assert repeated_count(block, events) == sequence_of_three(whole, 1_000)


@pytest.mark.parametrize("dictionary", [False, True])
def test_the_floor_finds_what_the_conditions_find(dictionary: bool) -> None:
    table = named(5_000, 1_000, dictionary)
    expected = sum(name in WANTED for name in table["name"].to_pylist())
    assert floor(table) == expected > 0
    for query in (together(), apart()):
        assert cepheid.count(table, query, type=None) == expected
