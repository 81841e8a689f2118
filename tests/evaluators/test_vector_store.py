"""Counts by vectors of starts: the same numbers as where every start has slots of its own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine
from cepheid.errors import CepheidError
from cepheid.evaluators.configurations import partition_store
from cepheid.evaluators.configurations.evaluator import ConfigurationsEvaluator
from cepheid.evaluators.configurations.tables import Tables
from cepheid.evaluators.configurations.vector_store import VectorStore
from cepheid.pipeline import Plan, plan_for
from cepheid.schema import schema_of
from support.vector_queries import drawn

SEEDS = 200


def planned(text: str, table: pa.Table) -> Plan | None:
    try:
        query = cepheid.query(text, language="sremo")
        return plan_for(query, schema_of(table.schema, time="ts", type=None), "configurations")
    except CepheidError as error:
        if error.code not in ("unsupported-evaluator", "unsatisfiable"):
            raise
        return None


def counted(plan: Plan, table: pa.Table, cuts: list[int], saved: bool = False) -> Engine:
    engine, at = Engine(plan, counting=True), 0
    for cut in [*cuts, len(table)]:
        engine.push(table.slice(at, cut - at))
        engine, at = cepheid.load(engine.save()) if saved else engine, cut
    return engine


def counts_of(engine: Engine) -> Tables | None:
    """The tables of an engine that counts by vectors; None where it does not."""
    evaluator = engine._evaluator
    is_plain = isinstance(evaluator, ConfigurationsEvaluator) and isinstance(evaluator._store, VectorStore)
    return evaluator._tables if is_plain else None  # type: ignore[attr-defined]


@contextmanager
def every_start_by_itself() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tables, "_is_free_of_starts", lambda tables: False)
        yield


def compare(first: int, seeds: int) -> dict[str, int]:
    """How many random cases there were, and of which kinds."""
    met = dict.fromkeys(("counted", "with slots", "in no order", "by equality", "above 2⁶⁴", "matching"), 0)
    for seed in range(first, first + seeds):
        text, table = drawn(seed)
        plan = planned(text, table)
        if plan is None:
            continue
        if counts_of(Engine(plan, counting=True)) is None:
            continue
        draw = random.Random(seed)
        cuts = sorted(draw.randrange(len(table) + 1) for _ in range(draw.randrange(4)))
        engine = counted(plan, table, cuts, draw.random() < 0.3)
        with every_start_by_itself():
            other = counted(plan, table, [])
        assert counts_of(other) is None
        assert engine.counted == other.counted, f"seed {seed}, cuts {cuts}: {text}"
        tables = counts_of(engine)
        assert tables is not None
        met["counted"] += 1
        met["with slots"] += len(tables.transitions.equals) > 1
        met["in no order"] += not tables.turns.in_place.all()
        met["by equality"] += bool((tables.transitions.equals >= 0).any())
        met["above 2⁶⁴"] += engine.counted > 2**64
        met["matching"] += engine.counted > 0
    return met


def test_counts_are_those_of_slots_for_each_start() -> None:
    met = compare(0, SEEDS)
    assert met["counted"] > SEEDS / 3
    assert min(met.values()) >= 3, met


def test_numbers_of_any_size_in_every_place() -> None:
    """Iterations within iterations: thousands of bits, in vectors that starts leave and come to."""
    events = 600
    draw = np.random.default_rng(5)
    table = pa.table(
        {
            "ts": range(events),
            "type": draw.choice(list("ABCD"), events),
            "v": draw.integers(0, 5, events).astype(float),
        }
    )
    text = "#([type = 'A'] > r, [type = 'B']+, [type = 'C' AND v > r.v] > s, [type = 'D']+, [v >= s.v]) WITHIN 250"
    plan = planned(text, table)
    assert plan is not None
    for cuts in ([], [100, 101, 333]):
        engine = counted(plan, table, cuts, saved=bool(cuts))
        assert counts_of(engine) is not None
        with every_start_by_itself():
            assert engine.counted == counted(plan, table, []).counted > 2**80


def test_texts_of_starts_and_slots_get_new_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """After every piece texts that are not in use are forgotten, and the others numbered anew."""
    draw = random.Random(6)
    names = [f"text {draw.randrange(7) + row // 20}" for row in range(200)]
    columns = {"ts": range(200), "type": [draw.choice("ABCD") for _ in names], "s": names}
    table = pa.table(columns)
    text = (
        "#([type = 'A'] > r, [type = 'B' AND s >= r.s], [type = 'C'] > q, [type = 'D' AND s = q.s]) WITHIN 40"
    )
    plan = planned(text, table)
    assert plan is not None
    expected = counted(plan, table, []).counted
    monkeypatch.setattr(partition_store, "_SPARE_TEXTS", -(10**9))
    engine = counted(plan, table, list(range(5, 200, 5)))
    assert counts_of(engine) is not None
    assert engine.counted == expected > 50


def test_a_state_of_an_earlier_release_is_refused() -> None:
    text, table = "#([type = 'A'] > r, [type = 'B' AND v > r.v]) WITHIN 5", drawn(0)[1]
    plan = planned(text, table)
    assert plan is not None
    with every_start_by_itself():
        saved = counted(plan, table, []).save()
    with pytest.raises(CepheidError, match="earlier release"):
        cepheid.load(saved)
