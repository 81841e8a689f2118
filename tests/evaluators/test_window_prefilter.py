"""Events that no match can reach are left out, and nothing else is: streams with gaps, against the definition."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine
from support.small_streams import positions

EVENTS = 40
DEARER = "SELECT * FROM s WHERE (A AS x ; B AS y ; C AS z) FILTER x.v < z.v"
QUERIES = [
    DEARER,
    "SELECT * FROM s WHERE (A AS x ; (B AS y)+ ; C AS z) FILTER x.v <> z.v",
    "SELECT LAST * FROM s WHERE (A AS x ; (B AS y)+ ; A AS z) FILTER x.v <= z.v",
    "#([type = 'A'] > r, [type = 'B' AND v > r.v])",
    "[type = 'A'] > r . [type <> 'C']* . [type = 'C' AND v >= r.v]",
    "-[type = 'A'] . -[type = 'B'] . [type = 'C']",
    "-[type = 'A'] . [type <> 'D']* . [type = 'C']",
]


def gappy(seed: int, kind: type = int) -> pa.Table:
    random = np.random.default_rng(seed)
    times = np.cumsum(random.choice([0, 1, 1, 2, 9], EVENTS))
    return pa.table(
        {
            "ts": (times / 2 if kind is float else times),
            "type": random.choice(list("ABCDD"), EVENTS),
            "k": random.integers(0, 2, EVENTS),
            "v": random.integers(0, 4, EVENTS),
        }
    )


@pytest.mark.parametrize("clauses", ["WITHIN 6", "WITHIN 0", "WITHIN 6 CONSUME", "WITHIN 5 EVENTS"])
@pytest.mark.parametrize("query", QUERIES)
def test_streams_with_gaps(query: str, clauses: str) -> None:
    found = 0
    for seed, size in enumerate((3, 7, 20, EVENTS)):
        for keys in ("", "PARTITION BY k "):
            table, text = gappy(seed), f"{query} {keys}{clauses}"
            expected = positions(table, text, evaluator="semantics")
            assert in_pieces(table, text, size) == expected
            assert cepheid.count(table, text, evaluator="configurations") == len(expected)
            found += len(expected)
    assert found > 0 or clauses == "WITHIN 0"


UNARY = [
    "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z",
    "SELECT MAX * FROM s WHERE A AS x ; (B AS y)+ ; (C AS z OR A AS w)",
    "SELECT LAST * FROM s WHERE A AS x ; (B AS y)+ ; A AS z",
    "SELECT NXT * FROM s WHERE (A AS x OR B AS y) ; C AS z",
    "SELECT * FROM s WHERE A AS x : B AS y",
    "SELECT STRICT * FROM s WHERE A AS x ; B AS y",
    "SELECT * FROM s WHERE A AS x FILTER x.v > 1",
]


@pytest.mark.parametrize("few", [0, 5])
@pytest.mark.parametrize("clauses", ["WITHIN 6", "WITHIN 0", "WITHIN 6 CONSUME", "WITHIN 5 EVENTS"])
@pytest.mark.parametrize("query", UNARY)
def test_unary_patterns_on_streams_with_gaps(
    query: str, clauses: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In all batches, or in those with several relevant events."""
    monkeypatch.setattr("cepheid.evaluators.window_prefilter._FEW_EVENTS", few)
    found = 0
    for seed, size in enumerate((3, 7, 20, EVENTS)):
        for keys in ("", "PARTITION BY k "):
            table, text = gappy(seed), f"{query} {keys}{clauses}"
            expected = positions(table, text, evaluator="semantics")
            assert in_pieces(table, text, size, "compact") == expected
            assert cepheid.count(table, text, evaluator="compact") == len(expected)
            found += len(expected)
    assert found > 0 or clauses == "WITHIN 0"


def in_pieces(table: pa.Table, text: str, size: int, evaluator: str = "configurations") -> list[list[int]]:
    """Saved and loaded after every other piece."""
    engine = cepheid.query(text).engine(table.schema, positions=True, evaluator=evaluator)
    found: list[list[int]] = []
    for number, begin in enumerate(range(0, len(table), size)):
        found += engine.push(table.slice(begin, size))["positions"].to_pylist()
        if number % 2:
            engine = cepheid.load(engine.save())
    return sorted(found + engine.finish()["positions"].to_pylist())


@pytest.mark.parametrize("within", [0.5, 1.5, 4])
def test_times_that_are_no_whole_numbers(within: float) -> None:
    for seed in range(4):
        table, text = gappy(seed, float), f"{DEARER} WITHIN {within}"
        assert in_pieces(table, text, 9) == positions(table, text, evaluator="semantics")


def test_times_as_far_apart_as_can_be() -> None:
    least, most = -(2**63), 2**63 - 1
    table = pa.table(
        {"ts": [least, least, 0, most - 2, most - 1, most], "type": list("ABCABC"), "v": [1, 1, 2, 1, 1, 2]}
    )
    assert in_pieces(table, f"{DEARER} WITHIN 2", 6) == [[3, 4, 5]]
    assert in_pieces(table, f"{DEARER} WITHIN 2", 1) == [[3, 4, 5]]


@pytest.mark.parametrize("query", [DEARER, UNARY[0]])
def test_an_event_far_from_any_beginning_is_not_kept(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepheid.evaluators.window_prefilter._FEW_EVENTS", 0)
    table = pa.table({"ts": range(0, 1_000, 10), "type": list("AB" + "C" * 98), "v": range(100)})
    engine = Engine(cepheid.query(f"{query} WITHIN 20").engine(table.schema).plan)
    assert len(engine.push(table)) == 1
    assert engine._evaluator.relevant.tolist() == [0, 1, 2, 99]
