"""What `test_kafka.py` runs in a process of its own: its Spark needs the connector's jars from the start.

In, as arguments: the broker's address, the connector's jars, an empty folder. Out: `report.json` in that folder: the
rows that a batch gives, and for each way to stop and restart a query what it wrote to its topic, what `finish` then
gave, and in how many batches events came. Rows are JSON texts, so all columns are compared.

Events are late by up to 8 seconds: 2 because times are rounded down, which makes ties, 3 by their way to the topic, and
3 because the partitions of the topic are not read at quite the same pace. The watermark waits for 10.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming import StreamingQuery

import cepheid
from cepheid.spark.session import local_session

QUERY = """
    SELECT * FROM farm
    WHERE (T AS x ; (T AS y FILTER y.value > 0.4)+ ; H AS z) FILTER (x.value > 0.3 AND z.value < 0.7)
    PARTITION BY sensor WITHIN 15 seconds
"""
COLUMNS = "n long, ts timestamp, sensor string, type string, value double"
SENSORS, ROUNDS = 30, 100
PER_BATCH = 600
LONGEST_S = 300


@dataclass(slots=True)
class Run:
    """What a query with one checkpoint did; `batches` are those with events, for each of its starts."""

    written: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)


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


class Kafka:
    """The topics of one broker, as Spark sees them."""

    def __init__(self, spark: SparkSession, address: str) -> None:
        self.spark = spark
        self.options = {"kafka.bootstrap.servers": address}

    def produce(self, topic: str, table: pa.Table) -> None:
        """In the table's order: one task writes."""
        rows = self.spark.createDataFrame(table).coalesce(1)
        value = sql.to_json(sql.struct("*")).alias("value")
        rows.select(sql.col("sensor").alias("key"), value).write.format("kafka").options(
            **self.options, topic=topic
        ).save()

    def stream(self, topic: str) -> DataFrame:
        source = self.spark.readStream.format("kafka").options(
            **self.options, subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger=PER_BATCH
        )
        event = sql.from_json(sql.col("value").cast("string"), COLUMNS)
        return source.load().select(event.alias("event")).select("event.*")

    def texts(self, topic: str) -> list[str]:
        """All values of a topic at this moment."""
        rows = self.spark.read.format("kafka").options(**self.options, subscribe=topic).load()
        return [row.text for row in rows.select(sql.col("value").cast("string").alias("text")).collect()]

    def start(self, topic: str, checkpoint: str, *, once: bool) -> StreamingQuery:
        """Finds matches in `events` and writes them to the topic; `once` ends when all there is has been read."""
        found = cepheid.match(self.stream("events"), QUERY, time="ts", order="n", watermark="10 seconds")
        value = sql.to_json(sql.struct("*")).alias("value")
        writer = found.select(sql.col("sensor").alias("key"), value).writeStream.format("kafka")
        writer = writer.options(**self.options, topic=topic, checkpointLocation=checkpoint)
        return (writer.trigger(availableNow=True) if once else writer).start()


def texts_of(matches: DataFrame) -> list[str]:
    return [row.text for row in matches.select(sql.to_json(sql.struct("*")).alias("text")).collect()]


def batches_with_events(query: StreamingQuery) -> int:
    return len({progress.batchId for progress in query.recentProgress if progress.numInputRows})


def wait_for_end(query: StreamingQuery) -> int:
    if not query.awaitTermination(LONGEST_S):
        query.stop()
        raise TimeoutError(f"the query was not done after {LONGEST_S} s")
    return batches_with_events(query)


def run_twice(kafka: Kafka, table: pa.Table, folder: Path) -> Run:
    """Each start reads what there is and ends; the second half of the events is sent between them."""
    run, checkpoint = Run(), str(folder / "twice")
    for half in (table.slice(0, len(table) * 3 // 5), table.slice(len(table) * 3 // 5)):
        kafka.produce("events", half)
        run.batches.append(wait_for_end(kafka.start("twice", checkpoint, once=True)))
    run.written = kafka.texts("twice")
    run.rest = texts_of(cepheid.finish(kafka.spark, checkpoint))
    return run


def run_interrupted(kafka: Kafka, folder: Path) -> Run:
    """Reads the same events, stopped wherever it is after the first batches, perhaps while it writes."""
    run, checkpoint = Run(), str(folder / "interrupted")
    query = kafka.start("interrupted", checkpoint, once=False)
    deadline = time.monotonic() + LONGEST_S
    while batches_with_events(query) < 2 and query.isActive and time.monotonic() < deadline:
        time.sleep(0.05)
    query.stop()
    run.batches.append(batches_with_events(query))
    query = kafka.start("interrupted", checkpoint, once=False)
    query.processAllAvailable()  # has no limit of its own; the test's is that of this process
    query.stop()
    run.batches.append(batches_with_events(query))
    run.written = kafka.texts("interrupted")
    run.rest = texts_of(cepheid.finish(kafka.spark, checkpoint))
    return run


def main(address: str, jars: str, folder: Path) -> None:
    settings = {
        "spark.jars": jars,
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # it ends before better code pays
    }
    spark = local_session("local[2]", name="kafka", settings=settings)
    kafka, table = Kafka(spark, address), events()
    expected = cepheid.match(spark.createDataFrame(table), QUERY, time="ts", order="n")
    report = {
        "expected": texts_of(expected),
        "twice": asdict(run_twice(kafka, table, folder)),
        "interrupted": asdict(run_interrupted(kafka, folder)),
    }
    (folder / "report.json").write_text(json.dumps(report))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
