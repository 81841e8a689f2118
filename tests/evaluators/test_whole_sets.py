"""Aggregates and previous events on the configurations evaluator: the definition's matches, and what is counted."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

import cepheid
from support.agreement import differences
from support.cpu_time_limit import within_seconds
from support.typed_sets import seeded_typed_set, typed_set_differences
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


REMEMBERED = (
    "max(X.v) < y.v",
    "max(X.v) > y.v",
    "min(X.v) <= y.v",
    "min(X.v) <> y.v",
    "first(X.v) < last(X.v)",
    "last(X.v) = y.v",
    "max(X.v) IS NULL OR y.v > 2",
    "first(X.v * 2) >= y.v",
    "X.v > prev(X.v, 2)",
    "X.v < prev(X.v, 3) OR X.v = prev(X.v)",
    "X.v + prev(X.v) > prev(X.v, 2) + 3",
)
SHAPES = ("T+ IN X ; H AS y", "H AS y ; T+ IN X", "T* IN X ; H AS y ; T* IN X")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("condition", REMEMBERED)
def test_registers_hold_what_is_read_of_a_set(condition: str, shape: str) -> None:
    values = [1.0, 3.0, None, 5.0, 4.0, float("nan"), 2.0, 3.0]
    events = pa.table({"ts": range(8), "type": [*"TTTTHTHT"], "v": values})
    query = f"SELECT * FROM s WHERE ({shape}) FILTER {condition}"
    assert "checked on all matches" not in cepheid.explain(query, events)
    wanted = cepheid.match(events, query, evaluator="semantics", positions=True)["positions"].to_pylist()
    found = cepheid.match(events, query, positions=True)["positions"].to_pylist()
    assert sorted(found) == sorted(wanted)
    assert cepheid.count(events, query) == len(wanted)


CHECKED = (
    "X.v > prev(X.v, 2) + sum(X.v) - sum(X.v)",
    "X.v < prev(X.v, 3) OR X.v = prev(X.v) OR count(X) = 2 * count(X.v)",
    "X.v < avg(X.v) + prev(X.v, 2)",
    "X.v * 2 > max(X.v)",
    "max(X.v) - min(X.v) > 2",
)


@pytest.mark.parametrize("condition", CHECKED)
def test_what_no_register_holds_is_checked(condition: str) -> None:
    events = pa.table({"ts": range(8), "type": [*"TTTTHTTT"], "v": [4, 3, None, 5, 4, 2, 2, 9]})
    query = f"SELECT * FROM s WHERE T+ IN X FILTER {condition}"
    assert "checked on all matches" in cepheid.explain(query, events)
    wanted = cepheid.match(events, query, evaluator="semantics", positions=True)["positions"].to_pylist()
    found = cepheid.match(events, query, positions=True)["positions"].to_pylist()
    assert 0 < len(wanted) < 127
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize(
    "formula",
    [
        "(T+ IN X FILTER last(X.v) > 4 OR y.v <> 1) ; H AS y",
        "(T+ IN X FILTER max(X.v) > y.v) ; H AS y ; T AS z",
    ],
)
def test_an_aggregate_beside_what_is_bound_elsewhere_is_no_matter_of_registers(formula: str) -> None:
    events = pa.table({"ts": range(8), "type": [*"TTTTHTHT"], "v": [4, 3, None, 5, 4, 2, 1, 9]})
    query = f"SELECT * FROM s WHERE {formula}"
    wanted = cepheid.match(events, query, evaluator="semantics", positions=True)["positions"].to_pylist()
    found = cepheid.match(events, query, positions=True)["positions"].to_pylist()
    assert wanted
    assert sorted(found) == sorted(wanted)


def test_extremes_and_earlier_events_are_counted_without_being_enumerated() -> None:
    events = pa.table({"ts": range(101), "type": [*("T" * 100), "H"], "v": [*range(100), 50]})
    runs = "SELECT * FROM s WHERE T+ IN X ; H AS y FILTER "
    assert cepheid.count(events, runs + "max(X.v) < y.v") == 2**50 - 1
    assert cepheid.count(events, runs + "max(X.v) > y.v") == 2**100 - 2**51
    assert cepheid.count(events, runs + "first(X.v) < y.v") == 2**100 - 2**50
    assert cepheid.count(events, runs + "min(X.v) < y.v AND last(X.v) > y.v") == (2**50 - 1) * (2**49 - 1) * 2
    descending = "SELECT * FROM s WHERE T+ IN X FILTER X.v < prev(X.v, 2)"
    assert cepheid.count(events, descending) == 100 + 4950


def test_explain_says_that_an_aggregate_is_asked_of_all_matches() -> None:
    farm = pa.schema([("ts", pa.int64()), ("type", pa.string()), ("v", pa.int64())])
    explained = cepheid.explain("SELECT * FROM s WHERE T+ IN X FILTER sum(X.v) > 3", farm)
    assert (
        "FILTER sum(X.v) > 3 is about whole sets, which no run holds: it is checked on all matches"
        in explained
    )


def test_columns_of_every_type_are_folded_as_the_definition_says() -> None:
    for seed in range(150):
        case = seeded_typed_set(seed)
        assert typed_set_differences(case) is None, (seed, case)


def test_sums_that_no_decimal_holds_are_null_and_their_averages_are_not() -> None:
    most = Decimal("9" * 76)
    events = pa.table({"ts": [0, 1], "type": ["T", "T"], "v": pa.array([most, most], pa.decimal256(76))})
    both = "SELECT * FROM s WHERE T{2} IN X FILTER "
    assert cepheid.count(events, both + "sum(X.v) IS NULL") == 1
    assert cepheid.count(events, both + "sum(X.v) > 1") == 0
    shown = cepheid.match(events, "SELECT sum(X.v) AS total, avg(X.v) AS mean FROM s WHERE T{2} IN X")
    assert shown["total"].to_pylist() == [None]
    wanted = cepheid.match(
        events, "SELECT sum(X.v) AS total, avg(X.v) AS mean FROM s WHERE T{2} IN X", evaluator="semantics"
    )
    assert shown["mean"].to_pylist() == wanted["mean"].to_pylist()


def test_times_beyond_their_column_are_compared_all_the_same() -> None:
    most = (1 << 63) - 1
    events = pa.table({"ts": [0, 1], "type": ["T", "T"], "v": pa.array([most, 1], pa.duration("ns"))})
    assert cepheid.count(events, "SELECT * FROM s WHERE T+ IN X FILTER max(X.v + X.v) > min(X.v)") == 3


def test_a_quarter_of_a_million_matches_are_checked_as_columns() -> None:
    """A step of Python for each would take half a minute."""
    events = pa.table({"ts": range(18), "type": ["T"] * 18, "v": [2**k for k in range(18)]})
    query = "SELECT * FROM s WHERE T+ IN X FILTER sum(X.v) >= 100000 AND X.v < 0.9 * sum(X.v)"
    with within_seconds(5):
        cepheid.count(events, query)
    wanted = sum(total >= 100000 and 1 << total.bit_length() - 1 < 0.9 * total for total in range(1, 1 << 18))
    assert cepheid.count(events, query) == wanted
