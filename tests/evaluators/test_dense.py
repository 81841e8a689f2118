"""Counting over dense matrices, and handing over where they do not suffice."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine
from cepheid.evaluators.compact.evaluator import CompactEvaluator
from cepheid.evaluators.compact.programs import dense_automaton

STRATEGIES = ["ALL", "STRICT", "NXT", "LAST", "MAX"]


def stream(types: str, keys: int = 1) -> pa.Table:
    count = len(types)
    return pa.table({"ts": range(count), "type": list(types), "key": np.arange(count) % keys})


def counting(text: str) -> tuple[Engine, CompactEvaluator]:
    engine = Engine(cepheid.query(text).engine(stream("A").schema).plan, counting=True)
    evaluator = engine._evaluator
    assert isinstance(evaluator, CompactEvaluator)
    return engine, evaluator


def general(text: str, table: pa.Table) -> int:
    engine, evaluator = counting(text)
    evaluator._is_dense = False
    engine.push(table)
    return engine.counted


def randomly(length: int, letters: str, seed: int) -> str:
    return "".join(np.random.default_rng(seed).choice(list(letters), length))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("window", ["", "WITHIN 17 EVENTS", "WITHIN 40"])
@pytest.mark.parametrize("pattern", ["A ; B ; C", "(A+ ; B)+ ; C", "A : B ; C{1,2}"])
def test_both_loops_count_the_same(pattern: str, window: str, strategy: str) -> None:
    text = f"SELECT {strategy} * FROM s WHERE {pattern} PARTITION BY key {window}"
    table = stream(randomly(600, "ABCD", 5), keys=3)
    engine, _ = counting(text)
    engine.push(table)
    assert engine.counted == general(text, table) > 0


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("window", ["", "WITHIN 9 EVENTS"])
def test_classes_met_late_enlarge_the_matrices(
    strategy: str, window: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first batches have no B and no C, so that states behind them are met when partitions are in use already:
    unless the automaton is small enough to be known beforehand."""
    monkeypatch.setattr("cepheid.evaluators.compact.evaluator.minimise", lambda *_, **__: None)
    text = f"SELECT {strategy} * FROM s WHERE A ; (B OR C)+ ; D {window}"
    parts = [randomly(24, letters, seed) for seed, letters in enumerate(["AX", "AXB", "AXBC", "ABCD"])]
    engine, evaluator = counting(text)
    sizes = []
    at = 0
    table = stream("".join(parts))
    for part in parts:
        engine.push(table.slice(at, len(part)))
        at += len(part)
        assert evaluator._dense is not None
        sizes.append(evaluator._dense.states)
    assert sizes[0] < sizes[-1]
    assert engine.counted == general(text, table) > 0


@pytest.mark.parametrize("most_words", [1, 2, 256])
@pytest.mark.parametrize("cut", [1, 100, 140])
@pytest.mark.parametrize("window", ["", "WITHIN 240 EVENTS", "WITHIN 700"])
def test_numbers_beyond_a_word_are_counted_on_exactly(
    window: str, cut: int, most_words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(A+ ; B) has 2ᵃ - 1 matches at each B with a A's before it: the partitions outgrow a word at different events,
    get more words, and where they may not have enough of them are handed over."""
    monkeypatch.setattr("cepheid.evaluators.compact.evaluator._MOST_WORDS", most_words)
    text = f"SELECT * FROM s WHERE A+ ; B PARTITION BY key {window}"
    table = stream("AAAAAAAAAAB" * 82, keys=3)
    engine, evaluator = counting(text)
    engine.push(table.slice(0, cut))
    assert evaluator._is_dense
    engine.push(table.slice(cut))
    assert evaluator._is_dense == (most_words == 256)
    assert evaluator._dense is None or evaluator._dense.words > 1
    assert engine.counted == general(text, table) == expected(table, window)


def expected(table: pa.Table, window: str) -> int:
    """By the formula, with Python's whole numbers."""
    total = 0
    for key in range(3):
        rows = [(row["ts"], row["type"]) for row in table.to_pylist() if row["key"] == key]
        for end, (time, kind) in enumerate(rows):
            if kind == "B":
                begin = max(0, end - 239) if "EVENTS" in window else 0
                inside = [
                    t
                    for t, other in rows[begin:end]
                    if other == "A" and ("700" not in window or time - t <= 700)
                ]
                total += 2 ** len(inside) - 1
    return total


def test_a_total_has_room_for_long_numbers_that_are_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepheid.evaluators.compact.evaluator._MOST_WORDS", 16)
    engine, evaluator = counting("SELECT * FROM s WHERE A+ ; B")
    engine.push(stream("A" * 900 + "B"))
    assert not evaluator._is_dense
    assert engine.counted == 2**900 - 1
    assert len(evaluator._total) > 2 * evaluator._words


def test_a_saved_count_goes_on_dense_or_not() -> None:
    table = stream("AAAAAAAAAAB" * 60)
    text = "SELECT * FROM s WHERE A+ ; B WITHIN 200 EVENTS"
    for cut in (20, 400):
        engine, _ = counting(text)
        engine.push(table.slice(0, cut))
        assert engine.counted > 0
        again = cepheid.load(engine.save())
        again.push(table.slice(cut))
        assert again.counted == general(text, table)


def test_an_automaton_of_many_states_is_left_to_the_general_loop() -> None:
    text = "SELECT * FROM s WHERE " + " ; ".join("ABCDE" * 14) + " WITHIN 100 EVENTS"
    engine, evaluator = counting(text)
    engine.push(stream("ABCDE" * 20))
    assert not evaluator._is_dense
    assert engine.counted == general(text, stream("ABCDE" * 20)) > 0


def test_an_automaton_too_large_has_no_programs() -> None:
    _, evaluator = counting("SELECT * FROM s WHERE A ; B")
    assert dense_automaton(evaluator._automaton, [frozenset(), frozenset([0])], most=1) is None
