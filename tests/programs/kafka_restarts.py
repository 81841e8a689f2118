"""What `test_kafka.py` runs in a process of its own: its Spark needs the connector's jars from the start.

In, as arguments: the broker's address, the connector's jars, an empty folder. Out: `report.json` in that folder: the
rows that a batch gives, and for each way to stop and restart a query what it wrote to its topic, what `finish` then
gave, and in how many batches events came.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming import StreamingQuery

from support.restarted_query import (
    PER_BATCH,
    Run,
    done_with_all,
    events,
    halves,
    matches,
    rest_of,
    session_with,
    stopped_soon,
    texts_of,
    wait_for_end,
)

COLUMNS = "n long, ts timestamp, sensor string, type string, value double"


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

    def start(self, topic: str, checkpoint: Path, *, once: bool) -> StreamingQuery:
        """Finds matches in `events` and writes them to the topic; `once` ends when all there is has been read."""
        value = sql.to_json(sql.struct("*")).alias("value")
        found = matches(self.stream("events")).select(sql.col("sensor").alias("key"), value)
        writer = found.writeStream.format("kafka")
        writer = writer.options(**self.options, topic=topic, checkpointLocation=str(checkpoint))
        return (writer.trigger(availableNow=True) if once else writer).start()


def run_twice(kafka: Kafka, table: pa.Table, folder: Path) -> Run:
    """Each start reads what there is and ends; the second half of the events is sent between them."""
    run, checkpoint = Run(), folder / "twice"
    for half in halves(table):
        kafka.produce("events", half)
        run.batches.append(wait_for_end(kafka.start("twice", checkpoint, once=True)))
    run.written = kafka.texts("twice")
    run.rest = rest_of(kafka.spark, checkpoint)
    return run


def run_interrupted(kafka: Kafka, folder: Path) -> Run:
    """Reads the same events, stopped in the middle."""
    run, checkpoint = Run(), folder / "interrupted"
    run.batches.append(stopped_soon(kafka.start("interrupted", checkpoint, once=False)))
    run.batches.append(done_with_all(kafka.start("interrupted", checkpoint, once=False)))
    run.written = kafka.texts("interrupted")
    run.rest = rest_of(kafka.spark, checkpoint)
    return run


def main(address: str, jars: str, folder: Path) -> None:
    spark = session_with(jars, "kafka")
    kafka, table = Kafka(spark, address), events()
    report = {
        "expected": texts_of(matches(spark.createDataFrame(table))),
        "twice": asdict(run_twice(kafka, table, folder)),
        "interrupted": asdict(run_interrupted(kafka, folder)),
    }
    (folder / "report.json").write_text(json.dumps(report))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
