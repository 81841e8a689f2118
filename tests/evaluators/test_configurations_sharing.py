"""Slots shared by what later conditions read: the same matches and ids as with a slot for every event remembered."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine
from cepheid.evaluators.configurations.tables import Tables
from support.small_streams import ids

PATTERNS = {
    "two": "SELECT {} * FROM s WHERE (A AS x ; B AS y) FILTER x.v < y.v",
    "equal": "SELECT {} * FROM s WHERE (A AS x ; B AS y ; A AS z) FILTER x.v = z.v",
    "text": "SELECT {} * FROM s WHERE (A AS x ; B AS y ; A AS z) FILTER x.t = z.t AND x.v <= z.v",
    # x is read once more when y is remembered as well, then y alone is.
    "handed on": "SELECT {} * FROM s WHERE (A AS x ; B AS y ; A AS z ; B AS w)"
    " FILTER x.v < y.v AND x.u <> z.u AND y.u = w.u",
    "again": "SELECT {} * FROM s WHERE (A AS x ; (B AS y)+ ; A AS z) FILTER x.v < z.v AND x.u = z.u",
    "rising": "#([type = 'A'] > r, ([v > r.v] > r)+, [type = 'B' AND u = r.u])",
    "stored unmarked": "#([type = 'A'] > r, [type = 'B'] . -[v >= r.v] > r . [v >= r.v], [u = r.u])",
    "next": "@([type = 'A'] > r, [type = 'B' AND v > r.v] > s, [u = s.u AND v >= r.v])",
    "until": "[type = 'A'] > r . !(any* . -[v < r.v] . any*) . [type = 'B' AND u = r.u]",
    "near": "#([type = 'A'] > r, ([type = 'B'] > s . any* . [v > s.v] WITHIN 4 EVENTS), [u = r.u])",
}
CLAUSES = (
    "",
    "WITHIN 12",
    "WITHIN 9 EVENTS",
    "PARTITION BY k",
    "WITHIN 9 EVENTS PARTITION BY k CONSUME",
    "CONSUME",
)


def stream(seed: int, events: int = 40) -> pa.Table:
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "ts": np.sort(draw.integers(0, events, events)),
            "type": draw.choice(list("ABC"), events, p=[0.45, 0.45, 0.1]),
            "v": pa.array(draw.integers(0, 3, events).astype(float), mask=draw.random(events) < 0.05),
            "u": pa.array(draw.integers(0, 2, events), mask=draw.random(events) < 0.05),
            "t": draw.choice(list("pqr"), events),
            "k": draw.integers(0, 2, events),
        }
    )


def plan_for(text: str, table: pa.Table) -> Engine:
    return cepheid.query(text).engine(table.schema, evaluator="configurations", positions=True)


def found(text: str, table: pa.Table, cuts: list[int]) -> tuple[list[str], list[list[int]], int]:
    """Ids, positions and the count; the engine is saved and loaded at every cut."""
    engine = plan_for(text, table)
    counting = Engine(engine.plan, counting=True)
    parts = []
    for begin, end in pairwise([0, *cuts, len(table)]):
        parts.append(engine.push(table.slice(begin, end - begin)))
        counting.push(table.slice(begin, end - begin))
        engine, counting = cepheid.load(engine.save()), cepheid.load(counting.save())
    whole = pa.concat_tables(parts)
    return sorted(ids(whole)), sorted(whole["positions"].to_pylist()), counting.counted


def apart(patched: pytest.MonkeyPatch) -> None:
    """Slots are told apart by all words of all columns, the row among them."""
    patched.setattr(
        Tables,
        "_key",
        lambda tables, state: tuple(
            range(tables.columns.at(1), tables.columns.end(max(0, tables._automaton.columns(state))))
        ),
    )


@pytest.mark.parametrize("clauses", CLAUSES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_sharing_changes_nothing_that_is_found(
    pattern: str, clauses: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = 0
    for seed in range(2):
        table = stream(seed, 40 if "WITHIN" in clauses else 24)  # the number of matches doubles with each B
        strategies = ("ALL", "LAST", "MAX") if "{}" in PATTERNS[pattern] and seed == 0 else ("ALL",)
        for strategy in strategies:
            text = f"{PATTERNS[pattern].format(strategy)} {clauses}"
            cuts = sorted(np.random.default_rng(seed).integers(0, len(table), 2).tolist())
            shared = found(text, table, cuts)
            with monkeypatch.context() as patched:
                apart(patched)
                assert found(text, table, cuts) == shared
            assert len(shared[1]) == shared[2]
            some += shared[2] > 0
    assert some > 0


@pytest.mark.parametrize("pattern", ["two", "handed on", "again", "rising"])
def test_a_limit_takes_the_first_ends(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = stream(1, 18)
    text = PATTERNS[pattern].format("ALL")
    every = [match[-1] for match in cepheid.match(table, text, positions=True)["positions"].to_pylist()]
    for limit in (1, 5, 17):
        limited = cepheid.match(table, f"{text} LIMIT {limit}", positions=True)["positions"].to_pylist()
        assert [match[-1] for match in limited] == sorted(every)[:limit]
        assert len({tuple(match) for match in limited}) == len(limited)


def test_texts_are_found_under_their_new_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts in use get new numbers after every piece, and slots are still found by them."""
    monkeypatch.setattr("cepheid.evaluators.configurations.partition_store._SPARE_TEXTS", -(10**9))
    names = [f"{kind}{number}" for number in range(30) for kind in ("old", "new", "odd")]
    table = pa.table(
        {"ts": range(180), "type": ["A"] * 90 + ["B"] * 90, "t": [*names, *reversed(names)], "v": [0, 1] * 90}
    )
    text = "SELECT * FROM s WHERE (A AS x ; B AS y) FILTER x.t = y.t WITHIN 150"
    engine = plan_for(text, table)
    whole = [
        match for at in range(0, 180, 7) for match in engine.push(table.slice(at, 7))["positions"].to_pylist()
    ]
    assert sorted(whole) == sorted([at, 179 - at] for at in range(15, 90))
