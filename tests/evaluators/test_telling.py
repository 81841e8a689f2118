"""Runs that are told apart by what they store, where the same marks may come with any of it."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cepheid
from agreement import differences, is_taken, plan_of
from generators import seeded_sremo

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
    assert "so time grows with all ways to have a match" in cepheid.explain(query, table)
    found = positions(table, query, evaluator="configurations")
    assert sorted(found) == sorted(positions(table, query, evaluator="semantics"))
    assert len(found) == len(set(found)) == 2**8 - 2**5


def test_what_no_register_lets_pass_is_no_match() -> None:
    assert positions(stream("ABBC", [0, 7, 8, 5]), UNMARKED) == []
    assert positions(stream("AC", [0, 5]), UNMARKED) == []


def test_in_a_window_nothing_is_stored_before_it() -> None:
    table = stream("BAC", [0, 0, 5])
    assert "evaluator: semantics" in cepheid.explain(BEFORE + " WITHIN 1", table)
    assert positions(table, BEFORE + " WITHIN 1") == [(1, 2)]
    with pytest.raises(cepheid.CepheidError, match="stored before any is marked"):
        cepheid.match(table, BEFORE + " WITHIN 1", evaluator="configurations")


def test_a_limit_counts_matches_and_not_the_ways_to_have_them() -> None:
    table = stream("ABBBBBBBBBBCC", [0, *range(10), 5, 6])
    assert positions(table, UNMARKED + " LIMIT 2") == [(0, 11), (0, 12)]


def test_random_expressions_that_tell_are_the_oracle() -> None:
    told = 0
    for seed in range(200):
        case = seeded_sremo(seed)
        plan = plan_of(case, "configurations") if is_taken(case, "configurations") else None
        if plan is not None and plan.transducer is not None and plan.transducer.tells:
            assert differences(case, [3], "configurations", saved=told % 5 == 0) is None, seed
            told += 1
    assert told > 3
