"""Streams on Spark: what the sink got and what `finish` gives are the matches of the same rows in one process.

Files are read one per micro-batch, in the order in which they were added; a query that is started again goes on from
its checkpoint. Each start of a streaming query takes seconds, so each of these tests looks at several things.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

import cepheid
from cepheid.errors import CepheidError, CepheidWarning, error_in
from support.microbatches import Coming, milliseconds

pytestmark = pytest.mark.spark

PAIRS = "SELECT * FROM s WHERE A AS x ; B AS y"
KEYED = f"{PAIRS} PARTITION BY k WITHIN 6"
COLUMNS = "type string, k string, n bigint"
PARTITIONS, ZONE = "spark.sql.shuffle.partitions", "spark.sql.session.timeZone"
SECONDS = 120  # that a query may take before a test gives up


@pytest.fixture(autouse=True)
def settings(spark: SparkSession) -> Iterator[None]:
    """Few partitions; what a test sets is set back."""
    before = {name: spark.conf.get(name) for name in (PARTITIONS, ZONE)}
    spark.conf.set(PARTITIONS, "2")
    yield
    for name, value in before.items():
        spark.conf.set(name, value)


class Streamed:
    """Folders for what comes in, what goes out and the checkpoint."""

    def __init__(self, spark: SparkSession, folder: Path, time: str = "bigint") -> None:
        self.spark, self.folder = spark, folder
        self.schema = f"ts {time}, {COLUMNS}"
        self.checkpoint = str(folder / "checkpoint")
        self._files = 0
        (folder / "in").mkdir(parents=True)

    def add(self, table: pa.Table) -> None:
        """One more file: one more micro-batch."""
        path = self.folder / "in" / f"{self._files}.parquet"
        pyarrow.parquet.write_table(table, path)
        os.utime(path, (1_700_000_000 + self._files,) * 2)
        self._files += 1

    def frame(self) -> DataFrame:
        source = self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        return source.parquet(str(self.folder / "in"))

    def run(self, query: str, **options: Any) -> list[dict[str, Any]]:
        """Runs until all files are read; the progress of each micro-batch."""
        frame = options.pop("frame", None)
        matches = cepheid.match(self.frame() if frame is None else frame, query, **options)
        return self.write(matches)

    def write(self, matches: DataFrame) -> list[dict[str, Any]]:
        writer = matches.writeStream.option("checkpointLocation", self.checkpoint).trigger(availableNow=True)
        started = writer.start(str(self.folder / "out"))
        try:
            assert started.awaitTermination(SECONDS)
        finally:
            started.stop()
        return [dict(progress) for progress in started.recentProgress]

    def given(self) -> pa.Table:
        return self.spark.read.parquet(str(self.folder / "out")).toArrow()

    def finished(self) -> pa.Table:
        return cepheid.finish(self.spark, self.checkpoint).toArrow()


def rows_of(*tables: pa.Table) -> list[str]:
    return sorted(repr(row) for table in tables for row in table.to_pylist())


def counted(progress: list[dict[str, Any]], name: str) -> list[int]:
    """A number of ours in the progress of each micro-batch."""
    return [at["observedMetrics"]["cepheid"][name] for at in progress if "cepheid" in at["observedMetrics"]]


def events(times: pa.Array, seed: int = 1) -> pa.Table:
    choice = random.Random(seed)
    return pa.table(
        {
            "ts": times,
            "type": [choice.choice("ABC") for _ in times],
            "k": pa.array([choice.choice(["p", "ü", None, "q"]) for _ in times]),
            "n": pa.array([choice.randrange(5) for _ in times], pa.int64()),
        }
    )


TIMES: dict[str, tuple[str, Callable[[np.ndarray], pa.Array], int | float | str, str, dict[str, Any]]] = {
    "int": ("bigint", lambda n: pa.array(n), 10, KEYED, {}),
    "double": ("double", lambda n: pa.array(n / 8), 1.25, f"{PAIRS} WITHIN 0.75", {"positions": True}),
    "timestamp": (
        "timestamp",
        lambda n: pa.array(n * 1_000_003 + 1_700_000_000_000_000, pa.timestamp("us", "UTC")),
        "10 seconds",
        "#([type = 'A'] > r, [type = 'B' AND n > r.n]) WITHIN 6 seconds PARTITION BY k",
        {},
    ),
    "timestamp_ntz": (
        "timestamp_ntz",
        lambda n: pa.array(n * 1_000_003 + 1_700_000_000_000_000, pa.timestamp("us")),
        "10 seconds",
        f"{PAIRS} FILTER x.n < y.n PARTITION BY k WITHIN 6 seconds",
        {"columns": ["match_id", "k", "start", "end"]},
    ),
    "date": (
        "date",
        lambda n: pa.array(n.astype(np.int32), pa.date32()),
        "10 days",
        "SELECT MAX * FROM s WHERE (A AS x)+ ; B AS y PARTITION BY k WITHIN 6 days",
        {"order": "n"},
    ),
    "waiting": (
        "bigint",
        lambda n: pa.array(n),
        10,
        "SELECT x, z.n - x.n AS rise, avg(X.n) AS mean FROM s "
        "WHERE (A AS x AND C AS z) IN X ; NOT (B AS b FILTER b.n > x.n) FOR 4 PARTITION BY k WITHIN 6",
        {"order": "n"},
    ),
}


DELAYS = {"int": 10, "waiting": 10, "double": 1250, "date": 864_000_000}
"""Milliseconds of Spark's watermark."""
LATE_TABLE = "late_rows_of_a_test"


@pytest.fixture
def late_table(spark: SparkSession) -> Iterator[None]:
    yield
    spark.sql(f"DROP TABLE IF EXISTS {LATE_TABLE}")


@pytest.mark.usefixtures("late_table")
@pytest.mark.parametrize("kind", TIMES)
@pytest.mark.filterwarnings("ignore::cepheid.errors.CepheidWarning")
def test_any_cut_order_and_restart_gives_the_matches_of_a_batch(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    """Rows come up to 10 out of order, in files of random length; two of the last file come too late."""
    dtype, clock, delay, query, options = TIMES[kind]
    choice = random.Random(kind)
    numbers = np.sort(np.array([choice.randrange(1, 70) for _ in range(150)]))
    order = sorted(range(150), key=lambda row: numbers[row] + choice.randrange(10))
    order = [row for row in order if row not in (3, 4)] + [3, 4]
    ends = sorted(choice.sample(range(50, 130), 2))
    cuts = [order[begin:end] for begin, end in zip([0, *ends], [*ends, 150], strict=True)]
    table = events(clock(numbers), seed=len(kind))
    coming = Coming([[rows] for rows in cuts], DELAYS.get(kind, 10_000))
    late = coming.late(table)
    assert late >= {3, 4}
    where = {"int": tmp_path / "late rows", "date": LATE_TABLE}.get(kind, "drop")

    streamed = Streamed(spark, tmp_path, dtype)
    for rows in cuts[:2]:
        streamed.add(table.take(rows))
    progress = streamed.run(query, watermark=delay, late=where, **options)
    if kind == "timestamp":
        spark.conf.set(ZONE, "America/New_York")
    streamed.add(table.take(cuts[2]))
    progress += streamed.run(query, watermark=delay, late=where, **options)
    spark.conf.set(ZONE, "UTC")

    kept = table.take([row for row in coming.rows if row not in late])
    expected = cepheid.match(kept, query, **options)
    given, finished = streamed.given(), streamed.finished()
    assert min(len(given), len(finished)) > 3
    assert rows_of(given, finished) == rows_of(expected)
    assert sum(counted(progress, "late_rows")) == len(late)
    assert sum(counted(progress, "matches")) == len(given)
    assert counted(progress, "waiting_rows")[-1] > 0
    assert min(counted(progress, "state_bytes")) > 0
    last = max(milliseconds(table["ts"])) - coming.delay
    told = progress[-1]["eventTime"]["watermark"]
    assert told == np.datetime_as_string(np.datetime64(last, "ms"), unit="ms") + "Z"
    if kind == "int":
        assert rows_of(pyarrow.parquet.read_table(where)) == rows_of(table.take(sorted(late)))
    if kind == "date":
        assert rows_of(spark.table(LATE_TABLE).toArrow()) == rows_of(table.take(sorted(late)))


def test_a_late_row_may_stop_the_query(spark: SparkSession, tmp_path: Path) -> None:
    streamed = Streamed(spark, tmp_path)
    for times in ([7, 20], [21], [22, 6]):
        streamed.add(events(pa.array(times, pa.int64())))
    said = r"error\[late-row\]: a row came after the watermark had passed it: .*'ts': 6"
    with pytest.raises(StreamingQueryException, match=said):
        streamed.run(KEYED, watermark=5, late="error")


def test_a_checkpoint_goes_on_with_what_it_was_begun_with_only(spark: SparkSession, tmp_path: Path) -> None:
    """Several streams in a dict, a LIMIT and a watermark of the user's own; then other queries on its checkpoint."""
    streamed = Streamed(spark, tmp_path, "timestamp")
    times = pa.array([second * 1_000_000 for second in range(1, 41)], pa.timestamp("us", "UTC"))
    table = events(times)
    streamed.add(table.slice(0, 20))
    streamed.add(table.slice(20))
    query = "SELECT * FROM T, H WHERE (T AS x ; H AS y) PARTITION BY k WITHIN 20 seconds"

    def streams() -> dict[str, DataFrame]:
        rows = streamed.frame().withWatermark("ts", "2 seconds")
        return {
            "T": rows.where("type = 'A'").drop("type"),
            "H": rows.where("type = 'B'").drop("type").withColumn("m", sql.col("n") + 1),
        }

    streamed.run(f"{query} LIMIT 7", frame=streams())
    batch = {
        "T": table.filter(pa.compute.equal(table["type"], "A")).drop_columns("type"),
        "H": table.filter(pa.compute.equal(table["type"], "B")).drop_columns("type"),
    }
    batch["H"] = batch["H"].append_column("m", pa.compute.add(batch["H"]["n"], 1))
    every, given = set(rows_of(cepheid.match(batch, query))), rows_of(streamed.given())
    assert len(given) == len(set(given)) == 7
    assert set(given) <= every
    assert len(streamed.finished()) == 0  # the buckets have given more together, of which 7 were wanted

    streamed.add(table.slice(39))
    another = r"(?s)^(?!.*Traceback.*error\[).*error\[bad-state\].*begun with another query"
    with pytest.raises(StreamingQueryException, match=another):
        streamed.run(query.replace("20", "19") + " LIMIT 7", frame=streams())
    spark.conf.set(PARTITIONS, "3")
    with pytest.raises(
        StreamingQueryException, match=r"(?s)error\[bad-state\].*number of buckets: 2; now it is 3"
    ):
        streamed.run(f"{query} LIMIT 7", frame=streams())


def test_a_row_without_a_time_stops_the_query(spark: SparkSession, tmp_path: Path) -> None:
    streamed = Streamed(spark, tmp_path)
    streamed.add(events(pa.array([1, None, 3], pa.int64())))
    with pytest.raises(
        StreamingQueryException, match=r"error\[bad-time\]: time column `ts` is NULL"
    ) as raised:
        streamed.run(KEYED, watermark=5)
    said = str(raised.value)
    assert "Traceback" not in said[: said.index("error[bad-time]")]
    error = error_in(said)
    assert error is not None
    assert "the event {'type': " in error.message
    assert KEYED in error.message


def test_what_cannot_run_is_refused_on_the_driver(spark: SparkSession, tmp_path: Path) -> None:
    numbers, moments = Streamed(spark, tmp_path / "n"), Streamed(spark, tmp_path / "m", "timestamp")
    timed = KEYED + " seconds"
    for frame, query, options, said in (
        (numbers.frame(), KEYED, {}, "a stream needs a watermark.*watermark=10"),
        (moments.frame(), timed, {}, "a stream needs a watermark.*10 seconds"),
        (numbers.frame(), KEYED, {"watermark": "10 seconds"}, "requires a number from 0; got `'10 seconds'`"),
        (numbers.frame(), KEYED, {"watermark": -1}, "requires a number from 0; got `-1`"),
        (moments.frame(), timed, {"watermark": 10}, "requires a duration; got `10`"),
        (moments.frame(), timed, {"watermark": "10 parsecs"}, "requires a duration; got `'10 parsecs'`"),
        (
            moments.frame().withWatermark("ts", "1 second"),
            timed,
            {"watermark": "1 second"},
            "has a watermark already, on `ts`",
        ),
        (
            moments.frame().withColumn("at", sql.col("ts")).withWatermark("at", "1 second"),
            timed,
            {},
            "has a watermark already, on `at`",
        ),
        (numbers.frame(), KEYED, {"watermark": 1, "slices": 2}, "`slices` is for batch DataFrames"),
        (numbers.frame(), KEYED, {"watermark": 1, "late": ""}, "`late` requires one of drop, error"),
    ):
        with pytest.raises(CepheidError, match=f"(?s)bad-argument.*{said}"):
            cepheid.match(frame, query, **options)
    for query, hint in (
        ("A AS x ; NOT B", "add WITHIN"),
        ("C ; MAX(A+ ; NOT B) WITHIN 5", "the strategy around the NOT"),
    ):
        text = f"SELECT * FROM s WHERE {query}"
        with pytest.raises(CepheidError, match=f"(?s)needs-window.*no end at which it is known.*{hint}"):
            cepheid.match(numbers.frame(), text, watermark=1)
    with pytest.raises(CepheidError, match="number of matches of a stream is known only at its end"):
        cepheid.count(numbers.frame(), KEYED)
    batch = spark.createDataFrame([(1,)], "ts bigint")
    with pytest.raises(CepheidError, match="must all be streaming DataFrames"):
        cepheid.match({"T": numbers.frame(), "H": batch}, "SELECT * FROM T, H WHERE T AS x", watermark=1)
    with pytest.raises(CepheidError, match="`watermark` is for streaming DataFrames"):
        cepheid.match(batch, PAIRS, watermark=1)
    with pytest.raises(CepheidError, match=r"bad-state.*is not the checkpoint of a match"):
        cepheid.finish(spark, tmp_path)


def test_a_stream_without_partitions_warns(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.warns(CepheidWarning, match="no PARTITION BY: one Spark task will match the whole") as caught:
        cepheid.match(Streamed(spark, tmp_path).frame(), f"{PAIRS} WITHIN 5", watermark=1)
    assert caught[0].filename == __file__
