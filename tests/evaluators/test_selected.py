"""Columns of SELECT, DISTINCT and EVENTS on every evaluator against the definition, match by match."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

import cepheid
from support.agreement import is_taken
from support.generators import ANYTHING, SETS, UNARY, Case, Limits, Seeded
from support.generators import case as made
from support.selected_queries import differences, frequent_case, rows_wanted, selecting

LIMITS = (ANYTHING, UNARY, SETS, replace(UNARY, events=10, sets=True, any_order=0))


def selected(seed: int, limits: Limits) -> Case:
    choices = Seeded(seed)
    limits = replace(limits, events=10, atoms=4)
    return selecting(choices, made(choices, limits)) if seed % 3 == 0 else frequent_case(choices, limits)


@pytest.mark.parametrize("evaluator", ["auto", "compact", "chain", "configurations", "semantics"])
def test_every_evaluator_shows_what_the_definition_shows(evaluator: str) -> None:
    for seed in range(60):
        case = selected(seed, LIMITS[seed % len(LIMITS)])
        if is_taken(case, evaluator):
            cuts = [min(cut, len(case.table)) for cut in (seed % 4, 5)]
            assert differences(case, cuts, evaluator) is None, (seed, case)


def test_the_cases_show_rows_merge_rows_and_compute_columns() -> None:
    cases = [selected(seed, LIMITS[seed % len(LIMITS)]) for seed in range(150)]
    plain = [replace(case, query=replace(case.query, limit=None)) for case in cases]
    counts = [rows_wanted(case.query, case.events).total() for case in plain]
    merged = [
        count < len(replace(case, query=replace(case.query, distinct=False)).expected())
        for case, count in zip(plain, counts, strict=True)
    ]
    assert sum(count > 0 for count in counts) > 50
    assert sum(merged) > 5


def test_many_matches_that_end_at_one_event_are_merged_across_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepheid.engine.MANY_MATCHES", 7)
    events = pa.table({"ts": range(60), "type": ["A"] * 20 + ["B"] + ["A"] * 38 + ["B"], "v": [0, 1, 2] * 20})
    query = "SELECT DISTINCT x.v, y.ts AS at FROM s WHERE A AS x ; B AS y"
    found = cepheid.match(events, query)
    assert sorted((row["v"], row["at"], row["start"]) for row in found.to_pylist()) == sorted(
        (v, at, v) for v in (0, 1, 2) for at in (20, 59)
    )
    assert cepheid.count(events, query) == 6


def test_a_million_matches_are_merged_and_shown() -> None:
    """Gathered and compared as columns: a step of Python for each match would take minutes."""
    events = pa.table({"ts": range(2_000), "type": ["A", "B"] * 1_000, "v": [k % 7 for k in range(2_000)]})
    query = "SELECT DISTINCT x.v + y.v AS sum FROM s WHERE A AS x ; B AS y"
    found = cepheid.match(events, query, columns=["end", "sum"])
    wanted = {(end, (begin + end) % 7) for end in range(1, 2_000, 2) for begin in range(0, end, 2)}
    sums = {(end, begin % 7 + end % 7) for end in range(1, 2_000, 2) for begin in range(0, min(end, 14), 2)}
    assert len(found) == len(sums) == len(wanted)
    assert set(zip(found["end"].to_pylist(), found["sum"].to_pylist(), strict=True)) == sums
