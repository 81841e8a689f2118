"""Spark gives the matches that the engine gives in-process, ids included, however the rows are spread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from typer.testing import CliRunner

import cepheid
from cepheid.algebra.precision import DecimalType, result_type
from cepheid.cli.app import app
from cepheid.errors import CepheidError, CepheidWarning
from cepheid.spark.batch import count_spark, match_spark

pytestmark = pytest.mark.spark

PAIRS = "SELECT * FROM s WHERE (A AS x ; B AS y) FILTER (x.v < 0.8 OR y.v > 0.5)"
CHAINS = "SELECT {} * FROM s WHERE A AS x ; (B AS y FILTER y.v > 0.3)+ ; C AS z"

TIMES: Mapping[str, Callable[[np.ndarray], pa.Array]] = {
    "int": lambda n: pa.array(n),
    "float": lambda n: pa.array(n / 7),
    "utc": lambda n: pa.array(n * 1_000_003 - 10**8, pa.timestamp("us", "UTC")),
    "ntz": lambda n: pa.array(n * 1_000_003 - 10**8, pa.timestamp("us")),
    "date": lambda n: pa.array(n.astype(np.int32), pa.date32()),
}
WINDOWS = {
    "int": "5",
    "float": "0.75",
    "utc": "5000015 microseconds",
    "ntz": "5000015 microseconds",
    "date": "5 days",
}


def events(kind: str = "int", rows: int = 400, seed: int = 3) -> pa.Table:
    """Many ties, NULL keys, text beyond ASCII, in no order."""
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "ts": TIMES[kind](random.integers(0, rows // 3, rows)),
            "type": pa.array(random.choice(["A", "B", "C", "D"], rows)),
            "k": pa.array(random.choice(["a", "ü", None], rows)),
            "j": pa.array(random.integers(0, 2, rows), pa.int32()),
            "v": pa.array(random.random(rows), mask=random.random(rows) < 0.1),
            "unread": pa.array(["–"] * rows),
        }
    )


def frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    """The table on Spark, spread over partitions in its own order."""
    made = spark.createDataFrame(table)
    if table.schema.field("ts").type == pa.timestamp("us"):
        made = made.withColumn("ts", sql.col("ts").cast("timestamp_ntz"))
    return made


def rows_of(matches: pa.Table | DataFrame) -> list[str]:
    table = matches if isinstance(matches, pa.Table) else matches.toArrow()
    return sorted(map(repr, table.to_pylist()))


@pytest.mark.parametrize("kind", list(TIMES))
def test_any_number_of_slices_gives_the_same_matches(spark: SparkSession, kind: str) -> None:
    table = events(kind)
    query = cepheid.query(f"{PAIRS} WITHIN {WINDOWS[kind]}")
    expected = rows_of(cepheid.match(table, query))
    assert len(expected) > 100
    for slices in (1, 2, 5):
        found = match_spark(frame(spark, table), query, time="ts", slices=slices)
        assert rows_of(found) == expected
        assert count_spark(frame(spark, table), query, time="ts", slices=slices) == len(expected)


@pytest.mark.parametrize("kind", list(TIMES))
def test_slices_report_a_match_that_waits_by_its_last_event(spark: SparkSession, kind: str) -> None:
    """What a NOT after it forbids may lie in the next slices, or be the first of them: all in one job."""
    table = events(kind, rows=200)
    texts = [
        f"SELECT {select} FROM s WHERE {formula} WITHIN {WINDOWS[kind]}"
        for select, formula in (
            ("*", "A AS x ; NOT (B AS y FILTER y.v < 0.3)"),
            (
                "*",
                "(A AS x ; NOT D AS y ; B AS z ; NOT (C AS w FILTER w.v < 0.1)) FILTER x.v < 0.3 AND z.v < 0.5",
            ),
            ("MAX *", "(A AS a FILTER a.v < 0.4)+ ; NOT C{2,} FOR 3 EVENTS"),
            ("DISTINCT z", "(A AS x ; B AS z ; NOT D FOR 2 EVENTS) FILTER x.v < z.v"),
            ("x, y, avg(X.v) AS mean", "(A AS x ; B AS y) IN X ; NOT D"),
        )
    ]
    expected = [(n, id) for n, text in enumerate(texts) for id in ids_of(cepheid.match(table, text))]
    assert len({n for n, _ in expected}) == len(texts)
    rows = frame(spark, table)
    parts = [
        match_spark(rows, cepheid.query(text), time="ts", slices=5).select(sql.lit(n).alias("n"), "match_id")
        for n, text in enumerate(texts)
    ]
    found = reduce(DataFrame.unionAll, parts).collect()
    assert sorted((row["n"], row["match_id"]) for row in found) == sorted(expected)
    counted = count_spark(rows, cepheid.query(texts[0]), time="ts", slices=3)
    assert counted == sum(n == 0 for n, _ in expected)


def ids_of(matches: pa.Table) -> list[str]:
    return matches["match_id"].to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("strategy", ["ALL", "STRICT", "NXT", "LAST", "MAX"])
def test_partitions_and_slices_keep_to_the_strategy(spark: SparkSession, strategy: str) -> None:
    table = events(rows=240)
    chains = f"{CHAINS.format(strategy)} {{}} WITHIN 6"
    for clause, slices in (("PARTITION BY k", None), ("PARTITION BY k, j", None), ("", 3)):
        query = cepheid.query(chains.format(clause))
        expected = cepheid.match(table, query)
        found = match_spark(frame(spark, table), query, time="ts", slices=slices)
        assert rows_of(found) == rows_of(expected)


def test_more_shuffle_partitions_change_nothing(spark: SparkSession) -> None:
    table = events(rows=1_000)
    query = f"{PAIRS} PARTITION BY k, j WITHIN 4"
    expected = rows_of(cepheid.match(table, query))
    spread = frame(spark, table)
    for partitions in (1, 3, 16):
        # Arrival stays what it was: the rows are spread in order.
        parts = spread.withColumn("n", sql.monotonically_increasing_id()).repartition(partitions)
        found = cepheid.match(parts, query, order="n").toArrow()
        assert sorted(found["match_id"].to_pylist()) == sorted(id_in(row) for row in expected)


def id_in(row: str) -> str:
    """The id inside a match printed by `rows_of`."""
    return row.split("'match_id': '")[1].split("'")[0]


def test_real_keys_that_are_equal_are_one_partition(spark: SparkSession) -> None:
    """0.0 and -0.0 are one key, wherever Spark sends them; NaN is a key like any other."""
    keys = [0.0, -0.0, float("nan"), 1.5, -0.0, 0.0, float("nan"), 1.5]
    table = pa.table({"ts": range(8), "type": list("AAAABBBB"), "k": keys})
    text = "SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY k"
    found = cepheid.match(frame(spark, table), text)
    assert sorted(row["match_id"] for row in found.collect()) == sorted(
        cepheid.match(table, text)["match_id"].to_pylist()
    )
    assert cepheid.count(table, text) == 6


def test_decimals_are_exact_and_their_results_have_the_types_of_spark(spark: SparkSession) -> None:
    """Compared, computed, as literals and as keys: a job for a partition, one for a PART-BY, one for the types."""
    random = np.random.default_rng(5)
    cents = [Decimal(int(cent)).scaleb(-2) for cent in 5 * random.integers(-6, 12, 120)]
    large = [Decimal("12345678901234567.89") + cent for cent in cents]
    table = pa.table(
        {
            "ts": range(120),
            "type": pa.array(random.choice(["A", "B"], 120)),
            "m": pa.array(cents, pa.decimal128(10, 2)),
            "w": pa.array(large, pa.decimal128(38, 18)),
            "k": pa.array([Decimal(int(cent * 20) % 3).scaleb(-1) for cent in cents], pa.decimal128(4, 3)),
            "v": [float(cent) for cent in cents],
        }
    )
    filters = "x.m * 3 = y.m OR x.w + 0.01 = y.w OR y.w = 12345678901234567.99 OR x.m / y.m > 2.5"
    for query in (
        f"SELECT * FROM s WHERE A AS x ; B AS y FILTER {filters} PARTITION BY k",
        "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.v < 0.3 PART-BY [x.m, y.v] WITHIN 90",
    ):
        expected = cepheid.match(table, query)
        assert rows_of(cepheid.match(frame(spark, table), query)) == rows_of(expected)
        assert expected.num_rows == cepheid.count(table, query, evaluator="semantics") > 2
    sizes = [(10, 2), (38, 10), (38, 38), (20, 18), (5, 4), (18, 0)]
    cases = [(op, left, right) for op in "+-*/%" for left in sizes for right in sizes]
    shown = [
        f"typeof(CAST(NULL AS DECIMAL{left}) {op} CAST(NULL AS DECIMAL{right}))" for op, left, right in cases
    ]
    row = spark.sql(f"SELECT {', '.join(shown)}").first()
    assert row is not None
    for (op, left, right), found in zip(cases, row, strict=True):
        ours = result_type(op, DecimalType(*left), DecimalType(*right))
        assert found == f"decimal({ours.precision},{ours.scale})", (op, left, right)


def test_positions_count_inside_the_partition(spark: SparkSession) -> None:
    table = events(rows=120)
    query = cepheid.query(f"{PAIRS} PARTITION BY k WITHIN 5")
    found = match_spark(frame(spark, table), query, time="ts", positions=True).toArrow()
    for match in found.to_pylist():
        partition = table.filter(
            pa.compute.equal(table["k"], match["k"]) if match["k"] else pa.compute.is_null(table["k"])
        )
        ordered = partition.take(pa.array(np.argsort(partition["ts"].to_numpy(), kind="stable"))).to_pylist()
        assert [ordered[p] for p in match["positions"]] == [match["x"], match["y"]]


def test_positions_without_partitions_are_those_of_the_stream(spark: SparkSession) -> None:
    table = events(rows=120)
    query = f"{PAIRS} WITHIN 5"
    expected = rows_of(cepheid.match(table, query, positions=True))
    assert rows_of(cepheid.match(frame(spark, table), query, positions=True)) == expected


def test_nothing_runs_before_the_matches_are_read(spark: SparkSession) -> None:
    broken = frame(spark, events()).withColumn("ts", sql.raise_error(sql.lit("read")).cast("long"))
    matches = cepheid.match(broken, f"{PAIRS} WITHIN 5")
    assert matches.columns == ["match_id", "start", "end", "x", "y"]


def test_only_the_columns_that_are_read_travel_for_a_count(spark: SparkSession) -> None:
    fails_when_read = sql.udf(lambda number: 1 // 0, "long")
    broken = frame(spark, events()).withColumn("unread", fails_when_read("ts"))
    assert cepheid.count(broken, f"{PAIRS} WITHIN 5") == cepheid.count(events(), f"{PAIRS} WITHIN 5")


def test_counts_are_exact_beyond_64_bits(spark: SparkSession) -> None:
    table = pa.table({"ts": range(201), "type": ["A"] * 200 + ["B"], "k": [1] * 201})
    chains = "SELECT * FROM s WHERE (A AS x)+ ; B AS y"
    assert cepheid.count(spark.createDataFrame(table), f"{chains} PARTITION BY k") == 2**200 - 1
    assert cepheid.count(spark.createDataFrame(table), f"{chains} WITHIN 100") == 2**100 - 1


def test_counts_of_more_digits_than_python_prints(spark: SparkSession, tmp_path: Path) -> None:
    """Python makes no decimal text of more than 4,300 digits; the program prints them all."""
    number = 15_000
    table = pa.table({"ts": range(number + 1), "type": ["A"] * number + ["B"]})
    chains = "SELECT * FROM s WHERE (A AS x)+ ; B AS y WITHIN 1000000"
    assert cepheid.count(spark.createDataFrame(table), chains) == 2**number - 1
    pq.write_table(table, tmp_path / "a.parquet")
    arguments = ["run", "-e", chains, "--input", str(tmp_path / "a.parquet"), "--time", "ts", "--count"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.stderr
    assert len(done.stdout.strip()) == 4516
    assert Decimal(done.stdout.strip()) == Decimal(2**number - 1)


def test_a_limit_takes_that_many_of_the_matches(spark: SparkSession) -> None:
    table = events()
    every = set(cepheid.match(table, f"{PAIRS} PARTITION BY k WITHIN 5")["match_id"].to_pylist())
    limited = cepheid.match(frame(spark, table), f"{PAIRS} PARTITION BY k WITHIN 5 LIMIT 7").toArrow()
    assert limited.num_rows == 7
    assert set(limited["match_id"].to_pylist()) <= every
    assert cepheid.match(frame(spark, table), f"{PAIRS} WITHIN 5", limit=0).toArrow().num_rows == 0
    assert cepheid.count(frame(spark, table), f"{PAIRS} PARTITION BY k WITHIN 5 LIMIT 7") == 7
    sliced = count_spark(frame(spark, table), cepheid.query(f"{PAIRS} WITHIN 5 LIMIT 7"), time="ts", slices=3)
    assert sliced == 7


def test_consumption_and_windows_by_count_run_in_one_task(spark: SparkSession) -> None:
    table = events()
    for clause, why in (
        ("WITHIN 5 CONSUME", "CONSUME"),
        ("WITHIN 6 EVENTS", "counts events"),
        ("", "no window"),
    ):
        query = f"SELECT NXT * FROM s WHERE A AS x ; B AS y {clause}"
        with pytest.warns(CepheidWarning, match=why) as caught:
            found = cepheid.match(frame(spark, table), query)
        assert caught[0].filename == __file__
        assert rows_of(found) == rows_of(cepheid.match(table, query))


def test_streams_unite_by_name(spark: SparkSession) -> None:
    hot = pa.table({"ts": [1, 4], "tmp": [45.0, 50.0]})
    dry = pa.table({"ts": [2, 5], "hum": [20, 90]})
    query = "SELECT * FROM T, H WHERE (T AS x ; H AS y) FILTER y.hum < 30 WITHIN 10"
    found = cepheid.match({"T": spark.createDataFrame(hot), "H": spark.createDataFrame(dry)}, query)
    assert rows_of(found) == rows_of(cepheid.match({"T": hot, "H": dry}, query))
    assert found.count() == 1
    named = {
        name: table.append_column("type", pa.array(["a", "b"])) for name, table in (("T", hot), ("H", dry))
    }
    frames = {name: spark.createDataFrame(table) for name, table in named.items()}
    assert cepheid.count(frames, query, type=None) == cepheid.count(named, query, type=None) == 1


def test_whole_numbers_beside_decimals_are_decimals(spark: SparkSession) -> None:
    """In the type that they have in process."""
    one = pa.table({"ts": [1], "v": [2**63 - 1]})
    other = pa.table({"ts": [2], "v": pa.array([Decimal("0.25")], pa.decimal128(4, 2))})
    query = "SELECT * FROM a, b WHERE a AS x ; b AS y FILTER x.v > y.v WITHIN 5"
    expected = cepheid.match({"a": one, "b": other}, query)
    frames = {"a": spark.createDataFrame(one), "b": spark.createDataFrame(other)}
    found = cepheid.match(frames, query).toArrow()
    assert found["x"].type.field("v").type == expected["x"].type.field("v").type == pa.decimal128(22, 2)
    assert found["x"].to_pylist()[0]["v"] == expected["x"].to_pylist()[0]["v"]


def test_no_events_give_no_matches(spark: SparkSession) -> None:
    none = frame(spark, events()).where("false")
    for query in (f"{PAIRS} WITHIN 5", f"{PAIRS} PARTITION BY k WITHIN 5"):
        assert cepheid.match(none, query).toArrow().num_rows == 0
        assert cepheid.count(none, query) == 0
    assert count_spark(none, cepheid.query(f"{PAIRS} WITHIN 5"), time="ts", slices=4) == 0


def test_types_of_columns_are_those_of_the_data(spark: SparkSession) -> None:
    for kind in TIMES:
        table = events(kind, rows=60)
        query = f"{CHAINS.format('MAX')} PARTITION BY k, j WITHIN {WINDOWS[kind]}"
        expected = cepheid.match(table, query).schema
        found = cepheid.match(frame(spark, table), query).toArrow().schema
        assert found.names == expected.names
        assert [str(t).replace("element:", "item:") for t in found.types] == [str(t) for t in expected.types]


def test_a_bad_query_is_refused_on_the_driver(spark: SparkSession) -> None:
    with pytest.raises(CepheidError, match="unknown-attribute"):
        cepheid.match(frame(spark, events()), "SELECT * FROM s WHERE A AS x FILTER x.vv > 1")
    with pytest.raises(CepheidError, match="unknown-column"):
        cepheid.match(frame(spark, events()), f"{PAIRS} WITHIN 5", time="tz")
    with pytest.raises(CepheidError, match="`slices` requires a positive number; got `0` instead"):
        match_spark(frame(spark, events()), cepheid.query(f"{PAIRS} WITHIN 5"), time="ts", slices=0)


def test_bad_times_are_named_in_full_by_the_worker(spark: SparkSession) -> None:
    table = events()
    missing = frame(spark, table).withColumn("ts", sql.when(sql.col("v") < 0.99, sql.col("ts")))
    query = cepheid.query(f"{PAIRS} WITHIN 5")
    for slices in (1, 3):
        with pytest.raises(CepheidError, match=r"error\[bad-time\]: time column `ts` is NULL in row"):
            count_spark(missing, query, time="ts", slices=slices)


@pytest.mark.parametrize("clauses", ["PARTITION BY k, j WITHIN 4", "WITHIN 4"])
def test_columns_of_ones_own_are_those_of_the_engine(spark: SparkSession, clauses: str) -> None:
    table = events()
    for select in (
        "x.v, y.v - x.v AS rise, coalesce(x.k, 'none') AS name, x.j * 2 AS twice, z.v IS NULL AS none",
        "DISTINCT Y.j AS js, concat('<', x.type, '>') AS text",
        "DISTINCT x.type AS type, z",
        "MAX EVENTS",
    ):
        formula = "A AS x ; (B+) IN Y" if "Y." in select else "(A AS x OR B AS x) ; C AS z ; B AS y"
        query = f"SELECT {select} FROM s WHERE {formula} {clauses}"
        expected = cepheid.match(table, query)
        found = cepheid.match(frame(spark, table), query)
        assert len(expected) > 20
        assert found.columns == expected.column_names
        assert rows_of(found) == rows_of(expected)
        assert cepheid.count(frame(spark, table), query) == len(expected)
