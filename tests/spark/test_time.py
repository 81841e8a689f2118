"""Times on Spark: one rule for zones, the same as in process; output that keeps what Spark has."""

from __future__ import annotations

import csv
import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

import cepheid
from cepheid.errors import CepheidError
from cepheid.spark.files import json_lines, write
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
