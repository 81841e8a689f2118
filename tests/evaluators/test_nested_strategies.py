"""Strategies inside a formula on `compact` and `configurations` = the definition, on streams long enough for what a
part skips between its events to decide it."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import cepheid

FORMULAS = [
    "MAX(A ; (B ; D)? ; C)",
    "B ; MAX(A ; (B ; D)? ; C)",
    "LAST(A ; (B ; D){0,2} ; C) ; A",
    "(LAST(A ; B)){2}",
    "MAX(A AS x ; NXT(B ; D)? ; C) ; B",
    "MAX((A ; NOT D ; B)+) ; C",
    "((MAX(A+) IN X FILTER X.v > 0) ; LAST(B ; C))+",
    "(MAX((A AS x OR B AS x) ; C AS y) FILTER x.v > 0 AND y.v < 3) ; D",
]


def stream(seed: int) -> pa.Table:
    choice = random.Random(seed)
    rows = range(14)
    return pa.table(
        {
            "ts": list(rows),
            "type": [choice.choice("ABCD") for _ in rows],
            "v": [choice.randrange(4) for _ in rows],
            "k": [choice.randrange(2) for _ in rows],
        }
    )


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("clauses", ["", "WITHIN 6", "PARTITION BY k"])
def test_what_a_part_skips_decides_it_as_the_definition_says(formula: str, clauses: str) -> None:
    query = f"SELECT * FROM s WHERE ({formula}) {clauses}"
    if formula == FORMULAS[0]:
        query = f"SELECT ALL * FROM s WHERE ({formula}) OR (D : D : D : D) {clauses}"
    found = 0
    for seed in range(12):
        table = stream(seed)
        wanted = cepheid.match(table, query, positions=True, evaluator="semantics").sort_by("match_id")
        for evaluator in ("compact", "configurations"):
            assert (
                cepheid.match(table, query, positions=True, evaluator=evaluator).sort_by("match_id") == wanted
            )
            assert cepheid.count(table, query, evaluator=evaluator) == len(wanted)
        found += len(wanted)
    assert found > 0


def test_beside_filters_over_other_events_a_part_runs_on_registers() -> None:
    query = "SELECT * FROM s WHERE D AS x ; LAST(A ; B) ; C AS y FILTER x.v < y.v"
    found = 0
    for seed in range(12):
        wanted = cepheid.match(stream(seed), query, positions=True, evaluator="semantics").sort_by("match_id")
        assert cepheid.match(stream(seed), query, positions=True).sort_by("match_id") == wanted
        found += len(wanted)
    assert found > 0
    assert "evaluator: configurations" in cepheid.explain(query, stream(0))
