"""Aggregates and previous events on the configurations evaluator: the definition's matches, and what is counted."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cepheid
from support.agreement import differences
from support.whole_set_queries import seeded_whole

RISING = "SELECT * FROM s WHERE T+ IN X FILTER X.v > prev(X.v)"


@pytest.mark.parametrize("first", range(0, 160, 20))
def test_matches_and_counts_are_those_of_the_definition(first: int) -> None:
    for seed in range(first, first + 20):
        found = differences(seeded_whole(seed), [3, 7], "configurations", saved=seed % 5 == 0)
        assert found is None, f"seed {seed}: {found}"


def test_rising_runs_are_counted_without_being_enumerated() -> None:
    rising = pa.table({"ts": range(200), "type": ["T"] * 200, "v": range(200)})
    assert cepheid.count(rising, RISING) == 2**200 - 1
    assert "checked on all matches" not in cepheid.explain(RISING, rising)


def test_what_the_previous_event_is_compared_with_may_be_bound_before_the_set() -> None:
    steps = "SELECT * FROM s WHERE A AS a ; T+ IN X FILTER X.v = prev(X.v) + a.v"
    events = pa.table({"ts": range(7), "type": ["A", *"TTTTTT"], "v": [2, 1, 3, 4, 5, 7, 0]})
    assert "checked on all matches" not in cepheid.explain(steps, events)
    found = cepheid.match(events, steps, positions=True)["positions"].to_pylist()
    assert max(found, key=len) == [0, 1, 2, 4, 5]
    assert cepheid.count(events, steps) == len(found) == 6 + 3 + 2 + 1


def test_explain_says_that_an_aggregate_is_asked_of_all_matches() -> None:
    farm = pa.schema([("ts", pa.int64()), ("type", pa.string()), ("v", pa.int64())])
    explained = cepheid.explain("SELECT * FROM s WHERE T+ IN X FILTER sum(X.v) > 3", farm)
    assert (
        "FILTER sum(X.v) > 3 is about whole sets, which no run holds: it is checked on all matches"
        in explained
    )
