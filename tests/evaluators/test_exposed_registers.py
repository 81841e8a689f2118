"""Exposed registers: runs with the same marks that have stored different events are one match."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cepheid
from support.agreement import differences, is_taken, plan_of
from support.generators import seeded_sremo

UNMARKED = "#([type = 'A'], -[type = 'B'] > r, [type = 'C' AND v > r.v])"
BEFORE = "#(-[type = 'B'] > r, [type = 'A'], [type = 'C' AND v > r.v])"


def stream(types: str, values: list[int]) -> pa.Table:
    return pa.table({"type": list(types), "ts": range(len(types)), "v": values})


def positions(table: pa.Table, query: str, **options: str) -> list[tuple[int, ...]]:
    found = cepheid.match(table, query, positions=True, **options)
    return [tuple(match) for match in found["positions"].to_pylist()]


@pytest.mark.parametrize("query", [UNMARKED, UNMARKED + " WITHIN 10", BEFORE])
def test_a_match_comes_once_whatever_the_register_held(query: str) -> None:
    table = stream("BABBBBBBBBBC", [0, *range(10), 5])
    assert positions(table, query, evaluator="configurations") == [(1, 11)]
    assert positions(table, query, evaluator="semantics") == [(1, 11)]
    assert cepheid.count(table, query) == 1


def test_a_compared_variable_that_is_not_shown_is_told_too() -> None:
    query = "SELECT c FROM s WHERE ((A+ IN Z) ALL A AS u) ; C AS c FILTER u.v > c.v"
    table = stream("AAAAAAAAC", [1, 2, 9, 4, 8, 5, 3, 7, 6])
    assert "so time grows with all runs, not with the matches" in cepheid.explain(query, table)
    found = positions(table, query, evaluator="configurations")
    assert sorted(found) == sorted(positions(table, query, evaluator="semantics"))
    assert len(found) == len(set(found)) == 2**8 - 2**5


def test_what_no_register_lets_pass_is_no_match() -> None:
    assert positions(stream("ABBC", [0, 7, 8, 5]), UNMARKED) == []
    assert positions(stream("AC", [0, 5]), UNMARKED) == []


def test_in_a_window_events_may_be_stored_before_it() -> None:
    table = stream("BABACBAC", [0, 0, 9, 0, 5, 3, 0, 3])
    query = BEFORE + " WITHIN 1"
    assert "evaluator: configurations" in cepheid.explain(query, table)
    assert positions(table, query) == positions(table, query, evaluator="semantics") == [(3, 4), (6, 7)]
    assert cepheid.count(table, query) == 2


@pytest.mark.parametrize("window", ["20", "20 EVENTS"])
def test_partial_matches_end_with_a_window_that_is_a_guard(window: str) -> None:
    query = f"-[type = 'B'] > r . [type = 'A'] . any* . [type = 'C' AND v > r.v] WITHIN {window}"
    engine = cepheid.query(query).engine(stream("A", [0]).schema, evaluator="configurations")
    for at in range(0, 6_000, 2_000):
        rows = range(at, at + 2_000)
        piece = pa.table(
            {"type": ["BAD"[row % 3] for row in rows], "ts": rows, "v": [row % 7 for row in rows]}
        )
        engine.push(piece)
        assert 0 < len(engine._evaluator.live_rows()) <= 20


def test_what_a_window_forgets_no_later_event_finds_again() -> None:
    table = stream("BA" + "x" * 30 + "C", [0] * 32 + [5])
    assert positions(table, BEFORE + " WITHIN 30") == []
    assert positions(table, BEFORE + " WITHIN 31") == [(1, 32)]


def test_a_limit_counts_matches_and_not_the_ways_to_have_them() -> None:
    table = stream("ABBBBBBBBBBCC", [0, *range(10), 5, 6])
    assert positions(table, UNMARKED + " LIMIT 2") == [(0, 11), (0, 12)]


def test_random_expressions_that_tell_are_the_oracle() -> None:
    told, guarded = 0, 0
    for seed in range(200):
        case = seeded_sremo(seed)
        plan = plan_of(case, "configurations") if is_taken(case, "configurations") else None
        if plan is not None and plan.automaton is not None and plan.automaton.exposes:
            assert differences(case, [3], "configurations", saved=told % 5 == 0) is None, seed
            told += 1
            guarded += plan.automaton.guarded
    assert told > 20
    assert guarded > 10
