"""How much work is done, counted and not timed: it depends on relevant events and on nothing else.

Counted are the events that enter the loops, the events turned when a window's pivot moves, allocations in compiled
code, words of the heap, cells per event and states of automata.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numba.core.runtime import _nrt_python, rtsys

import cepheid
from cepheid.engine import Engine
from cepheid.evaluators import window_prefilter
from cepheid.evaluators.compact import evaluator as compact
from cepheid.evaluators.compact.evaluator import CompactEvaluator
from cepheid.kernels.loops.sliding import dense
from cepheid.kernels.loops.sliding.partition_state import N_NODES
from cepheid.kernels.matches.nodes import FIRST

SEQUENCE = "A AS x ; B AS y ; C AS z"
NESTED = "((A AS x)+ ; (B AS y))+ ; C AS z"


def stream(events: int, types: str = "ABCDE", keys: int = 1) -> pa.Table:
    random = np.random.default_rng(3)
    columns = {"ts": np.arange(events), "type": random.choice(list(types), events)}
    return pa.table({**columns, "key": random.integers(0, keys, events)})


def engine_for(text: str, counting: bool) -> tuple[Engine, CompactEvaluator]:
    plan = cepheid.query(f"SELECT * FROM s WHERE {text}").engine(stream(1).schema, evaluator="compact").plan
    engine = Engine(plan, counting=counting)
    assert isinstance(engine._evaluator, CompactEvaluator)
    return engine, engine._evaluator


def pushed(engine: Engine, table: pa.Table, size: int = 5_000) -> None:
    for begin in range(0, len(table), size):
        for _ in engine.pieces(table.slice(begin, size)):
            pass


def watched(monkeypatch: pytest.MonkeyPatch, name: str, look: Callable[..., None]) -> None:
    """Calls `look` with the arguments of a kernel before the kernel runs."""
    kernel = getattr(compact, name)

    def looked_at(*arguments: Any) -> Any:
        look(*arguments)
        return kernel(*arguments)

    monkeypatch.setattr(compact, name, looked_at)


@pytest.mark.parametrize("counting", [True, False])
@pytest.mark.parametrize("clauses", ["WITHIN 50 EVENTS", "WITHIN 50", "PARTITION BY key WITHIN 50", ""])
def test_irrelevant_events_never_enter_the_loop(
    clauses: str, counting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[
        Any
    ] = []  # the loops are called again with what is left of one where a table lacks an entry

    def look(_: Any, batch: Any, *__: Any) -> None:
        if not any(batch is known for known in batches):
            batches.append(batch)

    watched(monkeypatch, "count_dense" if counting else "slide", look)
    table = stream(4_000, "ABC" + "D" * 97, keys=5)
    engine, _ = engine_for(f"{SEQUENCE} {clauses}", counting)
    pushed(engine, table)
    relevant = sum(type in "ABC" for type in table["type"].to_pylist())
    assert 0 < relevant < 200
    assert sum(len(batch.partition) for batch in batches) == relevant
    assert all((batch.klass > 0).all() for batch in batches)


@pytest.mark.parametrize("within", [10, 100, 1_000])
def test_an_event_is_turned_at_most_once_however_long_the_window(
    within: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop runs uncompiled, so that what it calls can be counted. Events that no match can reach are not left out,
    so that all events enter it."""
    table = stream(6_000, "ABC")
    monkeypatch.setattr(window_prefilter, "_FEW_EVENTS", len(table) + 1)
    expected = cepheid.count(table, f"SELECT * FROM s WHERE {SEQUENCE} WITHIN {within} EVENTS")
    turned, updates = Counter[str](), Counter[str]()
    rebuild, update = dense.rebuild_front, dense.update

    def counted_turn(automaton: Any, begin: int, end: int, *rest: Any) -> Any:
        turned["events"] += end - begin
        return rebuild(automaton, begin, end, *rest)

    def counted_update(*arguments: Any) -> Any:
        updates["updates"] += 1
        return update(*arguments)

    monkeypatch.setattr(dense, "rebuild_front", counted_turn)
    monkeypatch.setattr(dense, "update", counted_update)
    monkeypatch.setattr(dense, "ticks", lambda: 0)
    monkeypatch.setattr(dense, "poll", lambda seen: seen)
    for name in ("run_partition", "advance_pivot"):
        monkeypatch.setattr(dense, name, getattr(dense, name).py_func)
    monkeypatch.setattr(compact, "count_dense", dense.count_dense.py_func)
    engine, _ = engine_for(f"{SEQUENCE} WITHIN {within} EVENTS", True)
    pushed(engine, table, 6_000)
    assert engine.counted == expected
    assert 0 < turned["events"] <= len(table)
    assert updates["updates"] == len(table)


def allocations(push: Callable[[], None]) -> int:
    before = rtsys.get_allocation_stats().alloc
    push()
    return int(rtsys.get_allocation_stats().alloc - before)


@pytest.mark.parametrize(
    "text", [f"{SEQUENCE} WITHIN 100 EVENTS", f"{NESTED} WITHIN 100", f"{SEQUENCE} CONSUME"]
)
def test_counting_allocates_nothing_per_event(text: str) -> None:
    """Once warm, ten times the events in one call need about as many allocations in compiled code."""
    _nrt_python.memsys_enable_stats()
    engine, _ = engine_for(text, True)
    table = stream(40_000)
    pushed(engine, table.slice(0, 7_000), 7_000)
    few = allocations(lambda: pushed(engine, table.slice(7_000, 3_000), 3_000))
    many = allocations(lambda: pushed(engine, table.slice(10_000, 30_000), 30_000))
    assert many <= few + 100


def test_matching_allocates_only_where_the_pivot_moves() -> None:
    _nrt_python.memsys_enable_stats()
    engine, _ = engine_for(f"{SEQUENCE} WITHIN 1000 EVENTS", False)
    table = stream(40_000, "A" + "D" * 9)
    pushed(engine, table.slice(0, 10_000), 10_000)
    made = allocations(lambda: pushed(engine, table.slice(10_000, 30_000), 30_000))
    assert made < 60 * 30_000 / 1_000


@pytest.mark.parametrize("counting", [True, False])
@pytest.mark.parametrize("clauses", ["WITHIN 40 EVENTS", "WITHIN 40", "PARTITION BY key WITHIN 40"])
def test_memory_does_not_grow_with_the_stream(clauses: str, counting: bool) -> None:
    words = []
    for events in (10_000, 80_000):
        engine, evaluator = engine_for(f"{SEQUENCE} {clauses}", counting)
        pushed(engine, stream(events, keys=7))
        words.append(int(evaluator._meta[0]))
    assert words[1] <= 1.5 * words[0]


@pytest.mark.parametrize("within", [20, 60])
def test_nodes_per_event_of_the_window(within: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node per event, state and pivot state at most, extended and turned; matches grow with the third power."""
    most = Counter[str]()

    def look(_: Any, batch: Any, *rest: Any) -> None:
        most["nodes"] = max(most["nodes"], int(rest[4][0, N_NODES]) - FIRST)

    watched(monkeypatch, "slide", look)
    engine, evaluator = engine_for(f"{SEQUENCE} WITHIN {within} EVENTS", False)
    pushed(engine, stream(3_000, "ABC"), 10)
    states = len(evaluator._automaton)
    assert states == 3
    assert 0 < most["nodes"] <= 2 * within * states**2


@pytest.mark.parametrize(
    ("pattern", "states"),
    [
        (SEQUENCE, {"ALL": 3, "NXT": 3, "LAST": 3, "MAX": 3, "STRICT": 3}),
        ("A ; B ; C ; D", {"ALL": 4, "NXT": 4, "LAST": 4, "MAX": 4, "STRICT": 4}),
        ("A+ ; B", {"ALL": 2, "NXT": 2, "LAST": 2, "MAX": 2, "STRICT": 2}),
        ("A+ ; B+ ; C", {"ALL": 3, "NXT": 3, "LAST": 4, "MAX": 3, "STRICT": 3}),
        (NESTED, {"ALL": 3, "NXT": 4, "LAST": 5, "MAX": 5, "STRICT": 3}),
        (" ; ".join("ABCDEFGHIJKL"), {"ALL": 12, "STRICT": 12}),
    ],
)
def test_how_many_states_an_automaton_has(pattern: str, states: dict[str, int]) -> None:
    for strategy, expected in states.items():
        query = cepheid.query(f"SELECT {strategy} * FROM s WHERE {pattern} WITHIN 9 EVENTS")
        engine = Engine(query.engine(stream(1).schema).plan, counting=True)
        assert isinstance(engine._evaluator, CompactEvaluator)
        assert len(engine._evaluator._automaton) == expected, strategy
