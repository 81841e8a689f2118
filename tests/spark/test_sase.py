"""SASE+ on batch DataFrames: the matches and columns of one process, shuffled by `[attr]` where that is right."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import cepheid
from cepheid.errors import CepheidError

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:the query has no PARTITION BY")]

RISING = (
    "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[]!) { [k] AND a[i].v > a[i-1].v AND b.v < a[1].v }"
)
RETURNS = "WITHIN 20 RETURN b.k AS key, a[].v, b.(v, w), a[].(w, v) AS each, count(a[]) AS n"
STRICT = "PATTERN SEQ(S+ a[]) WHERE strict_contiguity { [k] AND a[i].v > a[i-1].v } RETURN a[].v"


def table() -> pa.Table:
    rng = random.Random(7)
    return pa.table(
        {
            "ts": range(200),
            "type": ["S"] * 200,
            "k": [rng.choice([1, 2, 3, None]) for _ in range(200)],
            "v": [rng.randrange(5) for _ in range(200)],
            "w": [rng.choice(["x", None]) for _ in range(200)],
        }
    )


def rows(found: DataFrame | pa.Table) -> list[str]:
    listed = found.to_pylist() if isinstance(found, pa.Table) else found.toArrow().to_pylist()
    return sorted(map(repr, listed))


@pytest.mark.parametrize("query", [f"{RISING} {RETURNS}", STRICT, f"{RISING} HAVING a.LEN > 1 RETURN a[].v"])
def test_a_frame_gives_the_matches_of_a_table(spark: SparkSession, query: str) -> None:
    data = table()
    frame = spark.createDataFrame(data.to_pandas().astype({"k": "Int64"}))
    expected = cepheid.match(data, query)
    assert len(expected) > 10
    assert rows(cepheid.match(frame, query)) == rows(expected)
    assert cepheid.count(frame, query) == len(expected)


def test_rows_are_shuffled_by_what_is_equal(spark: SparkSession) -> None:
    frame = spark.createDataFrame(table().to_pandas().astype({"k": "Int64"}))
    assert "shuffled by k, which [k] compares" in cepheid.explain(f"{RISING} {RETURNS}", frame)
    assert "tasks: one" in cepheid.explain(STRICT, frame)


def test_composed_and_united_queries_chain_as_frames(spark: SparkSession) -> None:
    composed = f"""
        {RISING} WITHIN 20 RETURN b.k AS k, b.v AS v IN STREAM drops AS DROP
        FROM drops PATTERN SEQ(DROP x, DROP y) WHERE [k] AND y.v < x.v RETURN x.k, x.v, y.v AS next
    """
    united = (
        "PATTERN SEQ(S a) WHERE a.v > 2 RETURN a.k, a.v UNION PATTERN SEQ(S a) WHERE a.v > 3 RETURN a.k, a.v"
    )
    data = table()
    frame = spark.createDataFrame(data.to_pandas().astype({"k": "Int64"}))
    for query in (composed, united, united.replace("UNION", "UNION ALL")):
        expected = cepheid.match(data, query)
        assert len(expected) > 5
        assert rows(cepheid.match(frame, query)) == rows(expected)
        assert cepheid.count(frame, query) == len(expected)


def test_a_stream_says_what_does_not_run_on_it(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().selectExpr("timestamp AS ts", "'A' AS type", "value AS v")
    wanted = {
        "PATTERN SEQ(A+ a[]) RETURN a[].v": "needs-window",
        "PATTERN SEQ(A a, ~A b) RETURN a.v": "needs-window",
        "PATTERN SEQ(A a) RETURN a.v UNION PATTERN SEQ(A b) RETURN b.v": "not-yet",
    }
    for query, code in wanted.items():
        with pytest.raises(CepheidError) as caught:
            cepheid.match(stream, query, watermark="1 second")
        assert caught.value.code == code
