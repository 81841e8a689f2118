"""The stream behind the checkpoints in `golden/`: made by Spark from nothing, the same rows in every run.

`programs/write_golden.py` writes them. Spark notes in a checkpoint where it is; in the archive another word stands for
that.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa

import cepheid

PLACE = b"/CHECKPOINT"
BUCKETS = 2
ROWS, STEP_MS, FIRST_MS = 40, 1000, 1_000_000  # of a micro-batch; all its rows have one time
MICRO_BATCHES = 3  # in the checkpoints
QUERIES = {
    "compact": "SELECT * FROM s WHERE (A AS x)+ ; B AS y PARTITION BY k WITHIN 90 seconds",
    "configurations": "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.value < y.value AND x.k = y.k WITHIN 90 seconds",
}
COLUMNS = ("value", "CASE WHEN value % 3 < 2 THEN 'A' ELSE 'B' END AS type", "value % 5 AS k")


def stream(session: Any) -> Any:
    """Spaced so that a window holds several micro-batches, and times differ inside of one."""
    source = session.readStream.format("rate-micro-batch").option("rowsPerBatch", ROWS)
    made = source.option("startTimestamp", FIRST_MS).option("advanceMillisPerBatch", STEP_MS * ROWS)
    spread = "timestamp_millis(unix_millis(timestamp) + (value * 7) % 40 * 1000) AS ts"
    return made.option("numPartitions", 2).load().selectExpr(spread, *COLUMNS)


def rows(micro_batches: int) -> pa.Table:
    """The same rows without Spark."""
    values = range(ROWS * micro_batches)
    return pa.table(
        {
            "ts": pa.array(
                [1000 * (FIRST_MS + n // ROWS * STEP_MS * ROWS + n * 7 % 40 * 1000) for n in values],
                pa.timestamp("us", tz="UTC"),
            ),
            "value": pa.array(values, pa.int64()),
            "type": ["A" if n % 3 < 2 else "B" for n in values],
            "k": pa.array([n % 5 for n in values], pa.int64()),
        }
    )


def go_on(session: Any, name: str, checkpoint: Path, output: Path) -> None:
    """One more micro-batch."""
    session.conf.set("spark.sql.shuffle.partitions", str(BUCKETS))
    found = cepheid.match(stream(session), QUERIES[name], order="value", watermark="20 seconds")
    writer = found.writeStream.format("parquet").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start(str(output))
    assert query.awaitTermination(300)
    if query.exception() is not None:
        raise query.exception()


def unpacked(archive: Path, name: str, folder: Path) -> Path:
    """The checkpoint of one query, as if it had been written to a folder of this name."""
    checkpoint = folder / name
    with zipfile.ZipFile(archive) as source:
        for entry in source.namelist():
            if entry.startswith(f"{name}/"):
                (folder / entry).parent.mkdir(parents=True, exist_ok=True)
                (folder / entry).write_bytes(source.read(entry).replace(PLACE, str(checkpoint).encode()))
    return checkpoint
