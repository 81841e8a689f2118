"""Windows, times, limits and bounds at the ends of their types: every evaluator agrees with the definition."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cepheid

END = 2**63
INT64 = pa.int64()
EVALUATORS = ("compact", "chain", "configurations")
PATTERNS = (
    "SELECT * FROM s WHERE A AS x ; B AS y",
    "SELECT * FROM s WHERE A AS x : B AS y",
    "SELECT MAX * FROM s WHERE A+ ; B AS y",
    "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.v < y.v",
    "SELECT * FROM s WHERE (A AS x ; B AS y) PART-BY [x.v, y.v]",
)
AMOUNTS = (1, 3, 2**16, 2**31 - 1, 2**31, 2**32, 2**47 - 1, 2**47, 2**47 + 1, 2**48 + 1, 2**62, END - 1)
TIMES = {
    "small": [0, 1, 2, 3, 4, 5],
    "latest": [END - 7, END - 6, END - 5, END - 4, END - 3, END - 1],
    "earliest": [-END, -END + 1, -END + 2, -END + 3, -END + 4, -END + 6],
    "all": [-END, -END + 1, -1, 0, END - 2, END - 1],
}


def stream(times: list[int] | list[float], dtype: pa.DataType = INT64) -> pa.Table:
    types, values = ["A", "A", "B", "A", "B", "B"], [1, 2, 2, 1, 3, 1]
    return pa.table({"ts": pa.array(times, dtype), "type": types, "v": values})


def check(query: str, table: pa.Table, limit: int | None = None) -> None:
    """All evaluators that take the query find what the definition finds, and count as much."""
    expected = sorted(found(query, table, "semantics", limit))
    for evaluator in EVALUATORS:
        try:
            matches = found(query, table, evaluator, limit)
        except cepheid.CepheidError as error:
            if error.code != "unsupported-evaluator":
                raise
            continue
        assert sorted(matches) == expected, (query, evaluator)
        if limit is None:
            assert cepheid.count(table, query, evaluator=evaluator) == len(expected), (query, evaluator)


def found(query: str, table: pa.Table, evaluator: str, limit: int | None) -> list[list[int]]:
    matches = cepheid.match(table, query, evaluator=evaluator, limit=limit, positions=True)
    positions: list[list[int]] = matches["positions"].to_pylist()
    return positions


@pytest.mark.parametrize("partition", ["", "PARTITION BY v "])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_windows_by_count_of_any_size(pattern: str, partition: str) -> None:
    for amount in AMOUNTS:
        check(f"{pattern} {partition}WITHIN {amount} EVENTS", stream(TIMES["small"]))


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_windows_by_time_of_any_size(pattern: str, times: list[int]) -> None:
    for amount in (1, 4, 2**31, 2**62, END - 1):
        check(f"{pattern} WITHIN {amount}", stream(times))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_windows_with_units_at_the_ends_of_time(pattern: str) -> None:
    for window in ("1 microseconds", "9223372036854775807 microseconds", "15250284 weeks"):
        check(f"{pattern} WITHIN {window}", stream(TIMES["all"], pa.timestamp("us")))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_windows_between_reals_that_lie_far_apart(pattern: str) -> None:
    for window in ("0.5", "9000000000000000000"):
        times = [-1.7e308, -1e308, 0.0, 1e308, 1.7e308, 1.79e308]
        check(f"{pattern} WITHIN {window} ", stream(times, pa.float64()))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_limits_of_any_size(pattern: str) -> None:
    for limit in (2**31, 2**32, 2**62, END - 1):
        check(f"{pattern} LIMIT {limit}", stream(TIMES["small"]))
        check(pattern, stream(TIMES["small"]), limit)
    check(pattern, stream(TIMES["small"]), 2**200)


@pytest.mark.parametrize(
    "body", ["A", "(A AS x ; B AS y FILTER x.v < y.v)", "(A IN X ; B IN Y FILTER X.v < Y.v)"]
)
@pytest.mark.parametrize(
    "bounds", ["{1,4611686018427387904}", "{9223372036854775807}", "{9223372036854775807,}"]
)
def test_bounds_of_any_size_are_refused_or_right(body: str, bounds: str) -> None:
    try:
        cepheid.match(stream(TIMES["small"]), f"SELECT * FROM s WHERE {body}{bounds}")
    except cepheid.CepheidError as error:
        if error.code != "too-large" or not error.hint:
            raise
