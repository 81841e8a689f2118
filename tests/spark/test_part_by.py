"""PART-BY as the key of a shuffle: the matches, ids and counts of one process, however keys and rows are spread."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import cepheid
from cepheid.errors import CepheidWarning
from cepheid.spark.keys import key_attributes

pytestmark = pytest.mark.spark


def events(rows: int = 120, skew: float = 0.0, seed: int = 4) -> pa.Table:
    """Ties in time, NULL and NaN among keys, numbers of several types that are equal; `skew`: the share of one key."""
    random = np.random.default_rng(seed)
    often = random.random(rows) < skew
    number = np.where(often, 1, random.integers(0, 6, rows))
    return pa.table(
        {
            "ts": np.sort(random.integers(0, rows // 2, rows)),
            "type": random.choice(["A", "B", "C"], rows),
            "i": pa.array(number, pa.int32(), mask=random.random(rows) < 0.1),
            "j": pa.array(
                np.where(number == 3, np.nan, number), pa.float64(), mask=random.random(rows) < 0.1
            ),
            "k": pa.array(random.choice(["a", "ü", None], rows)),
            "l": pa.array(random.choice(["a", "b", None], rows)),
            "n": pa.array(np.arange(rows), mask=np.arange(rows) == rows - 1),
        }
    )


def rows_of(matches: pa.Table | DataFrame) -> list[str]:
    table = matches if isinstance(matches, pa.Table) else matches.toArrow()
    return sorted(map(repr, table.to_pylist()))


ONE = [
    "SELECT * FROM s WHERE (A AS x ; B AS y) PART-BY [k] WITHIN 8",
    "SELECT MAX * FROM s WHERE (A IN X ; (B AS y)+ ; C AS z) PART-BY [i] WITHIN 12",
    "SELECT LAST * FROM s WHERE (A AS x ; B AS y) PART-BY [x.j, y.j]",
]
TWO = [
    "SELECT * FROM s WHERE (A AS x ; B AS y) PART-BY [x.i, y.j] WITHIN 9",
    "SELECT * FROM s WHERE (A AS x ; A AS y) PART-BY [x.k, y.l] WITHIN 9",
    "SELECT * FROM s WHERE (((A OR B) IN X ; (B OR A) IN Y) PART-BY [X.k, Y.l]) FILTER X.i > 1 WITHIN 7",
    "SELECT * FROM s WHERE (((A AS x ; B AS y) PART-BY [x.i, y.i]) IN X ; C IN Y) PART-BY [X.k, Y.l] WITHIN 6",
]


@pytest.mark.parametrize("text", ONE + TWO)
@pytest.mark.parametrize("skew", [0.0, 0.5])
def test_shuffled_rows_give_what_one_process_gives(spark: SparkSession, text: str, skew: float) -> None:
    table = events(skew=skew)
    expected = rows_of(cepheid.match(table, text, order="n"))
    assert len(expected) > 5
    frame = spark.createDataFrame(table)
    assert rows_of(cepheid.match(frame, text)) == expected
    spread = frame.repartition(3)
    assert rows_of(cepheid.match(spread, text, order="n")) == expected
    assert cepheid.count(spread, text, order="n") == len(expected)


@pytest.mark.parametrize("keys", ["i", "i, k", "k, l, i"])
def test_one_key_with_half_of_the_events_changes_nothing(spark: SparkSession, keys: str) -> None:
    table = events(rows=600, skew=0.5)
    text = f"SELECT * FROM s WHERE A AS x ; (B AS y)+ ; C AS z PARTITION BY {keys} WITHIN 9"
    expected = rows_of(cepheid.match(table, text, order="n"))
    spread = spark.createDataFrame(table).repartition(4)
    assert rows_of(cepheid.match(spread, text, order="n")) == expected
    assert cepheid.count(spread, text, order="n") == len(expected) > 5
    assert "skew: the rows of one key go through one task, in order" in cepheid.explain(text, spread)


def test_what_the_shuffle_goes_by() -> None:
    def attributes(text: str) -> tuple[str, ...]:
        return key_attributes(cepheid.query(text).query)

    assert [attributes(text) for text in ONE] == [("k",), ("i",), ("j",)]
    assert [attributes(text) for text in TWO] == [("i", "j"), ("k", "l"), ("k", "l"), ("k", "l")]
    assert attributes(TWO[0].replace("SELECT *", "SELECT MAX *")) == ()
    assert attributes(ONE[0].replace(";", ":")) == ()
    assert attributes("SELECT * FROM s WHERE A AS x ; ((A AS y ; B AS z) PART-BY [k])") == ()


def test_explain_says_how_rows_travel(spark: SparkSession) -> None:
    frame = spark.createDataFrame(events())
    assert "rows are shuffled by k, which PART-BY compares" in cepheid.explain(ONE[0], frame)
    assert "an event goes to each key that it has" in cepheid.explain(TWO[0], frame)
    assert "skew: the rows of one key go through one task" in cepheid.explain(TWO[0], frame)


def test_positions_are_those_of_the_whole_stream(spark: SparkSession) -> None:
    table = events()
    with pytest.warns(CepheidWarning):
        found = cepheid.match(spark.createDataFrame(table), ONE[2], positions=True)
    assert rows_of(found) == rows_of(cepheid.match(table, ONE[2], positions=True))
