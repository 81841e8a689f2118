"""Times on Spark: one rule for zones, the same as in process; output that keeps what Spark has."""

from __future__ import annotations

import csv
import datetime as dt
import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyspark
import pytest
from pyarrow import orc
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

import cepheid
from cepheid.errors import CepheidError
from cepheid.files.described import describe
from cepheid.spark.files import json_lines, read_described, write
from cepheid.spark.zones import SESSION_ZONE, session_zone

pytestmark = pytest.mark.spark

NIGHT = (
    "SELECT * FROM s WHERE A AS x ; A AS y FILTER hour(x.ts) < 6 AND day(y.ts) <> day(x.ts) WITHIN 12 hours"
)
SINCE = "SELECT * FROM s WHERE A AS x FILTER x.ts >= TIMESTAMP '2024-03-31 12:00:00.000001' WITHIN 1 day"
MINUTE = 60_000_000
PARIS = "Europe/Paris"


@pytest.fixture(autouse=True)
def zone(spark: SparkSession) -> Iterator[None]:
    """Tests may change the session's zone."""
    before = spark.conf.get(SESSION_ZONE)
    yield
    spark.conf.set(SESSION_ZONE, before)


def events(zone: str | None = "UTC") -> pa.Table:
    """A week around the beginning of summer time, and a few moments at the ends of the calendar."""
    begin = int(dt.datetime(2024, 3, 28, tzinfo=dt.UTC).timestamp()) * 1_000_000
    times = begin + np.arange(120) * 87 * MINUTE + np.arange(120) % 3
    return pa.table({"ts": pa.array(times, pa.timestamp("us", zone)), "type": ["A"] * 120})


def test_the_session_zone_is_the_zone_of_instants(spark: SparkSession) -> None:
    table = events()
    counts = []
    for name in ("UTC", PARIS, "America/New_York", "+05:30", "PST"):
        spark.conf.set(SESSION_ZONE, name)
        frame = spark.createDataFrame(table)
        known = session_zone(spark)
        for query in (NIGHT, SINCE):
            found = cepheid.match(frame, query).toArrow()
            expected = cepheid.match(table, query, zone=known)
            assert sorted(found["match_id"].to_pylist()) == sorted(expected["match_id"].to_pylist())
            counts.append(len(expected))
        assert f"zone: {known} for ts" in cepheid.explain(NIGHT, frame)
        # What is given outweighs the session's, and the plan keeps the zone that it was made in.
        in_paris = cepheid.match(frame, NIGHT, zone=PARIS)
        spark.conf.set(SESSION_ZONE, "Asia/Tokyo")
        assert in_paris.count() == len(cepheid.match(table, NIGHT, zone=PARIS))
        assert cepheid.count(frame, SINCE, zone="UTC") == cepheid.count(table, SINCE)
    assert len(set(counts)) > 4


def test_clock_times_have_no_zone_on_spark(spark: SparkSession) -> None:
    table = events(zone=None)
    spark.conf.set(SESSION_ZONE, "America/New_York")
    frame = spark.createDataFrame(events()).select(
        (
            sql.lit("1970-01-01").cast("timestamp_ntz") + (sql.col("ts") - sql.timestamp_micros(sql.lit(0)))
        ).alias("ts"),
        "type",
    )
    for zone in (None, PARIS):
        assert cepheid.count(frame, SINCE, zone=zone) == cepheid.count(table, SINCE)
        assert cepheid.count(frame, NIGHT, zone=zone) == cepheid.count(table, NIGHT)


def test_streams_with_and_without_a_zone_are_not_joined(spark: SparkSession) -> None:
    instants = spark.createDataFrame(events().drop_columns("type"))
    clocks = instants.withColumn("ts", sql.col("ts").cast("timestamp_ntz"))
    with pytest.raises(CepheidError, match="has a time zone, UTC, and that of `b` has none"):
        cepheid.match({"a": instants, "b": clocks}, "SELECT * FROM a, b WHERE a AS x ; b AS y")


def test_a_session_zone_that_is_not_known_is_named(spark: SparkSession) -> None:
    class Session:
        class conf:  # noqa: N801  # as Spark has it
            get = staticmethod({SESSION_ZONE: "SystemV/PST8"}.__getitem__)

    with pytest.raises(CepheidError, match="the session's time zone, `SystemV/PST8`, is not known here"):
        session_zone(Session())


def test_csv_and_json_keep_microseconds_and_say_the_zone(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table(
        {
            "ts": pa.array([1_711_843_200_123_456, 1_711_850_400_000_001], pa.timestamp("us", "UTC")),
            "type": ["A", "B"],
        }
    )
    shown = "2024-03-31T01:00:00.123456+01:00", "2024-03-31T04:00:00.000001+02:00"
    spark.conf.set(SESSION_ZONE, PARIS)
    frame = spark.createDataFrame(table).withColumn("clock", sql.col("ts").cast("timestamp_ntz"))
    matches = cepheid.match(frame, "SELECT * FROM s WHERE A AS x ; B AS y WITHIN 1 day")
    for format in ("csv", "json"):
        write(matches, str(tmp_path / format), format)
    written = {
        format: [line for path in (tmp_path / format).glob("part*") for line in path.read_text().splitlines()]
        for format in ("csv", "json")
    }
    (line,), (row,) = map(json.loads, written["json"]), csv.DictReader(written["csv"])
    (printed,) = map(json.loads, json_lines(matches))
    for found in (line, row, printed):
        x = json.loads(found["x"]) if isinstance(found["x"], str) else found["x"]
        assert (found["start"], found["end"]) == shown
        assert (x["ts"], x["clock"]) == (shown[0], shown[0][:26])


def test_slices_reach_to_the_ends_of_time(spark: SparkSession) -> None:
    """Clock times of the years 1 and 9999, and windows that reach beyond them."""
    ends = [
        -62_135_596_800_000_000,
        -62_135_596_700_000_000,
        0,
        253_402_300_700_000_000,
        253_402_300_799_999_999,
    ]
    clocks = pa.table({"ts": pa.array(ends, pa.timestamp("us")), "type": ["A"] * 5})
    frame = spark.createDataFrame(clocks).withColumn("ts", sql.col("ts").cast("timestamp_ntz"))
    for window in ("300 seconds", "500000 days"):
        query = f"SELECT * FROM s WHERE A AS x ; A AS y WITHIN {window}"
        found = cepheid.match(frame, query, slices=3).toArrow()
        assert sorted(found["match_id"].to_pylist()) == sorted(
            cepheid.match(clocks, query)["match_id"].to_pylist()
        )
        instants = clocks.cast(pa.schema([("ts", pa.timestamp("us", "UTC")), ("type", pa.string())]))
        with_zone = cepheid.match(spark.createDataFrame(instants), query, slices=3, zone="Asia/Tokyo")
        assert with_zone.count() == len(found)


# What Spark makes of nanoseconds: the table in docs/time.md, row by row.

NANOSECONDS = {1_700_000_000_123_456_789: 1_700_000_000_123_456, -1: -1, -1_001: -2}
"""Nanoseconds since 1970, and the microseconds that Spark makes of them."""
NANOS_AS_LONG = "spark.sql.legacy.parquet.nanosAsLong"


def micros(frame: DataFrame) -> list[int]:
    return [row[0] for row in frame.select(sql.unix_micros(sql.col("ts").cast("timestamp"))).collect()]


def in_nanoseconds(zone: str | None = "UTC") -> pa.Table:
    return pa.table({"ts": pa.array(NANOSECONDS, pa.timestamp("ns", zone)), "type": ["A"] * len(NANOSECONDS)})


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_nanoseconds_of_frames_are_rounded_down(spark: SparkSession, zone: str | None) -> None:
    spark.conf.set(SESSION_ZONE, "UTC")
    table = in_nanoseconds(zone)
    assert micros(spark.createDataFrame(table)) == list(NANOSECONDS.values())
    with warnings.catch_warnings():  # Spark says that it converts such a column without Arrow
        warnings.filterwarnings("ignore", "createDataFrame attempted Arrow optimization")
        frame = spark.createDataFrame(table.to_pandas())
    assert micros(frame) == list(NANOSECONDS.values())


def test_nanoseconds_of_text_are_rounded_down(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set(SESSION_ZONE, "UTC")
    texts = pc.strftime(in_nanoseconds()["ts"], "%Y-%m-%dT%H:%M:%SZ").to_pylist()
    assert texts[0].endswith(".123456789Z")
    (tmp_path / "a.csv").write_text("\n".join(["ts", *texts, ""]))
    (tmp_path / "a.json").write_text("".join(json.dumps({"ts": text}) + "\n" for text in texts))
    for types in ("ts timestamp", "ts string"):
        reader = spark.read.schema(types)
        for frame in (
            reader.option("header", True).csv(str(tmp_path / "a.csv")),
            reader.json(str(tmp_path / "a.json")),
        ):
            assert micros(frame) == list(NANOSECONDS.values())
    for name in ("a.csv", "a.json"):
        described = describe([str(tmp_path / name)], time="ts")
        assert described is not None
        assert micros(read_described(spark, described)) == list(NANOSECONDS.values())


def test_nanoseconds_of_parquet_are_refused_by_spark_and_can_be_whole_numbers(
    spark: SparkSession, tmp_path: Path
) -> None:
    spark.conf.set(SESSION_ZONE, "UTC")
    path = str(tmp_path / "a.parquet")
    pq.write_table(in_nanoseconds(), path)
    spark.conf.set(NANOS_AS_LONG, "false")
    with pytest.raises(PySparkException, match=r"TIMESTAMP\(NANOS"):
        spark.read.parquet(path)
    with pytest.raises(Exception, match="PARQUET_COLUMN_DATA_TYPE_MISMATCH"):
        spark.read.schema("ts timestamp").parquet(path).collect()
    described = describe([path], time="ts")
    assert described is not None
    assert micros(read_described(spark, described)) == list(NANOSECONDS.values())
    spark.conf.set(NANOS_AS_LONG, "true")
    whole = spark.read.parquet(path)
    assert [row["ts"] for row in whole.collect()] == list(NANOSECONDS)
    assert cepheid.count(whole, "SELECT * FROM s WHERE A AS x ; A AS y WITHIN 1000") == 1
    spark.conf.unset(NANOS_AS_LONG)


@pytest.mark.skipif(
    pyspark.__version__.startswith("4.1."),
    reason="Spark 4.1 reads no ORC file with timestamps of a time zone",
)
def test_nanoseconds_of_orc_are_rounded_down(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set(SESSION_ZONE, "UTC")
    path = str(tmp_path / "a.orc")
    orc.write_table(in_nanoseconds().slice(0, 1), path)
    first = list(NANOSECONDS.values())[:1]
    assert micros(spark.read.orc(path)) == first
    described = describe([path], time="ts")
    assert described is not None
    assert micros(read_described(spark, described)) == first
