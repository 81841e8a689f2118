"""How much work the chain evaluator does, counted and not timed: per event and per match the same, whatever
the length of the lists, the number of keys and the length of the stream."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cepheid.algebra.nodes import WindowUnit
from cepheid.automata.automaton import Link
from cepheid.evaluators.chain import arena
from cepheid.kernels.loops.linked import count as chain_count
from cepheid.kernels.loops.linked import difference_pointers as differ
from cepheid.kernels.loops.linked import enumerate as chain_emit
from cepheid.kernels.loops.linked import loop
from cepheid.kernels.loops.linked.loop import USED
from support.chain_automata import Automaton, Chain, by_table, mark, query


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, steps: Counter[str]) -> None:
    """Counts the calls of a compiled function from a module whose loops run uncompiled."""
    compiled = getattr(module, name)

    def call(*arguments: Any) -> Any:
        steps[name] += 1
        return compiled(*arguments)

    monkeypatch.setattr(module, name, call)


def uncompiled(monkeypatch: pytest.MonkeyPatch, module: Any, *names: str) -> None:
    for name in names:
        monkeypatch.setattr(module, name, getattr(module, name).py_func)


def run_uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop itself as plain Python, which looks for no signals: Python does."""
    for module in (loop, chain_emit, chain_count):
        monkeypatch.setattr(module, "ticks", lambda: 0)
        monkeypatch.setattr(module, "poll", lambda seen: seen)
    uncompiled(monkeypatch, loop, "fire", "end_here", "go_on")
    monkeypatch.setattr(arena, "chain", loop.chain.py_func)


def pairs(different: bool) -> Automaton:
    """A ; B with the same k, and another v and w if `different`."""
    links = (Link("k", "k"), Link("v", "v"), Link("w", "w"))
    return by_table(
        links,
        "AB",
        {(0, "A"): (mark(1, 1),), (1, "B"): (mark(2, None, (0,), (1, 2) if different else (), True),)},
    )


def sequence() -> Automaton:
    return by_table(
        (Link("k", "k"),),
        "ABC",
        {
            (0, "A"): (mark(1, 1),),
            (1, "B"): (mark(2, 2, (0,)),),
            (2, "C"): (mark(3, None, (0,), (), True),),
        },
    )


def stream(events: int, keys: int, types: str = "ABC") -> pa.Table:
    chance = np.random.default_rng(4)
    return pa.table(
        {
            "ts": np.arange(events),
            "type": chance.choice(list(types), events),
            "k": chance.integers(0, keys, events),
        }
    )


@pytest.mark.parametrize("within", [None, 10_000])
@pytest.mark.parametrize("length", [50, 500])
def test_steps_per_match_do_not_depend_on_the_list(
    within: int | None, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a list all but four tuples are equal to the last event in one of two attributes."""
    differing = {length * place // 5 for place in range(1, 5)}
    v = [9 if place in differing else place % 2 for place in range(length)]
    w = [9 if place in differing else 1 - place % 2 for place in range(length)]
    table = pa.table(
        {
            "ts": range(length + 1),
            "type": ["A"] * length + ["B"],
            "k": [0] * (length + 1),
            "v": [*v, 0],
            "w": [*w, 0],
        }
    )
    chain = Chain(pairs(different=True), query(within), table.schema)
    assert chain.push(table.slice(0, length)) == []
    chain.push(table.slice(length, 1), report=False)  # its class and marks are known
    steps = Counter[str]()
    counted(monkeypatch, differ, "first_equal", steps)
    uncompiled(monkeypatch, differ, "newest_different", "latest_different")
    for name in ("newest_different", "latest_different"):
        monkeypatch.setattr(chain_emit, name, getattr(differ, name))
        monkeypatch.setattr(loop, name, getattr(differ, name))
    uncompiled(monkeypatch, chain_emit, "newest_in_window")
    monkeypatch.setattr(loop, "emit_chain", chain_emit.emit_chain.py_func)
    run_uncompiled(monkeypatch)
    matches = chain.push(table.slice(length, 1))
    assert {match[0][0] for match in matches} == differing
    assert 0 < steps["first_equal"] <= 40


@pytest.mark.parametrize("length", [50, 500])
def test_what_left_the_window_is_not_walked(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table(
        {
            "ts": range(length + 1),
            "type": ["A"] * length + ["B"],
            "k": [0] * (length + 1),
            "v": [0] * (length + 1),
            "w": [0] * (length + 1),
        }
    )
    chain = Chain(pairs(different=False), query(3), table.schema)
    chain.push(table.slice(0, length))
    chain.push(table.slice(length, 1), report=False)
    steps = Counter[str]()
    counted(monkeypatch, chain_emit, "newest_in_window", steps)
    counted(monkeypatch, chain_emit, "_older", steps)
    monkeypatch.setattr(loop, "emit_chain", chain_emit.emit_chain.py_func)
    run_uncompiled(monkeypatch)
    assert len(chain.push(table.slice(length, 1))) == 3
    assert steps == {"newest_in_window": 1, "_older": 3}


@pytest.mark.parametrize("keys", [10, 1_000])
def test_lookups_per_event_do_not_depend_on_keys(keys: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = stream(2_000, keys)
    chain = Chain(sequence(), query(5_000), table.schema)
    chain.push(table.slice(0, 1_900), report=False)
    steps = Counter[str]()
    counted(monkeypatch, loop, "newest", steps)
    counted(monkeypatch, loop, "enter_lists", steps)
    run_uncompiled(monkeypatch)
    chain.push(table.slice(1_900), report=False)
    by_type = Counter(table["type"].to_pylist()[1_900:])
    assert steps["newest"] == by_type["B"] + by_type["C"]
    assert steps["enter_lists"] <= by_type["A"] + by_type["B"]
    state = chain.evaluator._arena
    assert state is not None
    assert 4 * int(state._meta[USED]) <= len(state._slots)


@pytest.mark.parametrize("unit", [WindowUnit.PLAIN, WindowUnit.EVENTS])
@pytest.mark.parametrize("counting", [True, False])
@pytest.mark.parametrize("different", [True, False])
def test_memory_does_not_grow_with_the_stream(unit: WindowUnit, counting: bool, different: bool) -> None:
    held = []
    for events in (10_000, 80_000):
        table = stream(events, 20, "AB").append_column("v", pa.array(np.arange(events) % 3))
        table = table.append_column("w", pa.array(np.arange(events) // 2 % 3))
        chain = Chain(pairs(different), query(60, unit), table.schema, counting=counting)
        most = 0
        for begin in range(0, events, 2_000):
            chain.found(table.slice(begin, 2_000))
            most = max(most, chain.evaluator.memory)
        held.append(most)
    assert held[1] <= 1.5 * held[0]


def test_counting_without_a_window_keeps_sums_only() -> None:
    table = stream(40_000, 20)
    chain = Chain(sequence(), query(), table.schema, counting=True)
    chain.push(table.slice(0, 10_000))
    before = chain.evaluator.memory
    chain.push(table.slice(10_000))
    assert chain.evaluator.memory == before


@pytest.mark.parametrize("types", ["AB", "AABBB"])
def test_a_count_looks_at_each_vertex_once_per_edge(types: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets of events of one key inside a window: 2ⁿ of them, n vertices."""
    automaton = by_table(
        (Link("k", "k"),),
        "AB",
        {(0, "A"): (mark(1, 1),), (1, "A"): (mark(1, 1, (0,)),), (1, "B"): (mark(2, None, (0,), (), True),)},
    )
    table = pa.table({"ts": [0] * 60, "type": (["A"] * 30 + list(types) * 30)[:60], "k": [0] * 60})
    chain = Chain(automaton, query(10), table.schema, counting=True)
    chain.push(table.slice(0, 40))
    steps = Counter[str]()
    counted(monkeypatch, chain_count, "_push", steps)
    monkeypatch.setattr(loop, "count_below", chain_count.count_below.py_func)
    run_uncompiled(monkeypatch)
    chain.push(table.slice(40, 20))
    assert chain.evaluator.counted > 2**30
    assert steps["_push"] <= 10 * 60
