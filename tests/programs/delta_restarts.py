"""What `test_delta.py` runs in a process of its own: its Spark needs Delta's jars from the start.

In, as arguments: the jars, an empty folder. Out: `report.json` in that folder: the rows that a batch on the Delta table
gives, and for each way to stop and restart a query from one Delta table to another what it wrote, what `finish` then
gave, and in how many batches events came.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
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

SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",  # the tables are small
}


class Tables:
    """The Delta tables in a folder: `events`, and one of matches for each query."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder

    def append(self, table: pa.Table) -> None:
        """In the table's order: each commit is one file with the events of one micro-batch."""
        for begin in range(0, len(table), PER_BATCH):
            rows = self.spark.createDataFrame(table.slice(begin, PER_BATCH)).coalesce(1)
            rows.write.format("delta").mode("append").save(str(self.folder / "events"))

    def events(self) -> DataFrame:
        return self.spark.read.format("delta").load(str(self.folder / "events"))

    def start(self, name: str, *, once: bool) -> StreamingQuery:
        """Finds matches in `events` and writes them to a table; `once` ends when all there is has been read."""
        source = self.spark.readStream.format("delta").option("maxFilesPerTrigger", 1)
        found = matches(source.load(str(self.folder / "events")))
        writer = found.writeStream.format("delta").option("checkpointLocation", str(self.checkpoint(name)))
        return (writer.trigger(availableNow=True) if once else writer).start(str(self.folder / name))

    def checkpoint(self, name: str) -> Path:
        return self.folder / f"{name}.checkpoint"

    def run(self, name: str, batches: list[int]) -> Run:
        written = texts_of(self.spark.read.format("delta").load(str(self.folder / name)))
        return Run(written, rest_of(self.spark, self.checkpoint(name)), batches)


def run_twice(tables: Tables, table: pa.Table) -> Run:
    """Each start reads what there is and ends; the second half of the events is written between them."""
    batches = []
    for half in halves(table):
        tables.append(half)
        batches.append(wait_for_end(tables.start("twice", once=True)))
    return tables.run("twice", batches)


def run_interrupted(tables: Tables) -> Run:
    """Reads the same events, stopped in the middle."""
    first = stopped_soon(tables.start("interrupted", once=False))
    return tables.run("interrupted", [first, done_with_all(tables.start("interrupted", once=False))])


def run_repeated(tables: Tables) -> Run:
    """Stopped after a micro-batch was written and before Spark noted it: the note of the last one is taken away, so the
    second start runs that micro-batch again."""
    first = stopped_soon(tables.start("repeated", once=False))
    notes = tables.checkpoint("repeated") / "commits"
    last = max((file for file in notes.iterdir() if file.name.isdigit()), key=lambda file: int(file.name))
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)
    again = tables.start("repeated", once=False)
    count = done_with_all(again)
    repeated = {progress.batchId for progress in again.recentProgress}
    assert int(last.name) in repeated, (last.name, repeated)
    return tables.run("repeated", [first, count])


def main(jars: str, folder: Path) -> None:
    spark = session_with(jars, "delta", **SETTINGS)
    tables, table = Tables(spark, folder), events()
    report = {"twice": asdict(run_twice(tables, table))}
    report |= {
        "expected": texts_of(matches(tables.events())),
        "interrupted": asdict(run_interrupted(tables)),
        "repeated": asdict(run_repeated(tables)),
    }
    (folder / "report.json").write_text(json.dumps(report))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
