"""A query on a stream that is stopped and restarted: its events, and what a run gave. Used by the programs that
`test_kafka.py` and `test_delta.py` start, whose Spark needs a connector's jars from the start.

Rows are JSON texts, so all columns are compared. Events are late by up to 8 seconds: 2 because times are rounded down,
which makes ties, 3 by their way to the source, and 3 because the partitions of a topic are not read at quite the same
pace. The watermark waits for 10.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming import StreamingQuery

import cepheid
from cepheid.spark.session import local_session
from support.session_processes import python_path

QUERY = """
    SELECT * FROM farm
    WHERE (T AS x ; (T AS y FILTER y.value > 0.4)+ ; H AS z) FILTER (x.value > 0.3 AND z.value < 0.7)
    PARTITION BY sensor WITHIN 15 seconds
"""
SENSORS, ROUNDS = 30, 100
PER_BATCH = 600
LONGEST_S = 300
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # these programs end before better code pays


@dataclass(slots=True)
class Run:
    """What a query with one checkpoint did; `batches` are those with events, for each of its starts."""

    written: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)


def session_with(jars: str, name: str, **settings: str) -> SparkSession:
    own = {
        "spark.jars": jars,
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": QUICK_JAVA,
    }
    return local_session("local[2]", name=name, settings={**own, **settings})


def events() -> pa.Table:
    """In the order of arrival. Every sensor sends once in a round of 3 seconds; `n` orders ties, not as they arrive."""
    random = np.random.default_rng(11)
    rows = SENSORS * ROUNDS
    sensors = np.concatenate([random.permutation(SENSORS) for _ in range(ROUNDS)])
    sent_us = np.arange(rows) * 100_000
    table = pa.table(
        {
            "n": random.permutation(rows),
            "ts": pa.array(sent_us - sent_us % 2_000_000, pa.timestamp("us", "UTC")),
            "sensor": [f"sensor {sensor}" for sensor in sensors],
            "type": random.choice(["T", "T", "H"], rows),
            "value": random.random(rows).round(3),
        }
    )
    return table.take(np.argsort(sent_us + random.integers(0, 3_000_000, rows)))


def halves(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    """What there is before the restart, and what comes after; neither is a whole number of micro-batches."""
    cut = len(table) * 11 // 20
    return table.slice(0, cut), table.slice(cut)


def matches(rows: DataFrame) -> DataFrame:
    streaming = {"watermark": "10 seconds"} if rows.isStreaming else {}
    found: DataFrame = cepheid.match(rows, QUERY, time="ts", order="n", **streaming)
    return found


def texts_of(rows: DataFrame) -> list[str]:
    return [row.text for row in rows.select(sql.to_json(sql.struct("*")).alias("text")).collect()]


def rest_of(session: SparkSession, checkpoint: str | Path) -> list[str]:
    return texts_of(cepheid.finish(session, checkpoint))


def batches_with_events(query: StreamingQuery) -> int:
    return len({progress.batchId for progress in query.recentProgress if progress.numInputRows})


def wait_for_end(query: StreamingQuery) -> int:
    if not query.awaitTermination(LONGEST_S):
        query.stop()
        raise TimeoutError(f"the query was not done after {LONGEST_S} s")
    return batches_with_events(query)


def stopped_soon(query: StreamingQuery) -> int:
    """Stops a query wherever it is after its first two micro-batches, perhaps while it writes."""
    deadline = time.monotonic() + LONGEST_S
    while batches_with_events(query) < 2 and query.isActive and time.monotonic() < deadline:
        time.sleep(0.05)
    query.stop()
    return batches_with_events(query)


def done_with_all(query: StreamingQuery) -> int:
    """Stops a query when it has read all there is."""
    query.processAllAvailable()  # has no limit of its own; the test's is that of this process
    query.stop()
    return batches_with_events(query)


def report_of(program: str, arguments: list[str], folder: Path) -> dict[str, Any]:
    """What a program of `programs/` found out with a Spark of its own: it takes longer to start than to run."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", f"programs.{program}", *arguments, str(folder)],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": python_path()},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * LONGEST_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    read: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return read
