"""A driver that is killed and started again: `python -m programs.killed_stream FOLDER QUERY`.

In: `FOLDER/rows`, Parquet files, one per micro-batch. Out: the matches in `FOLDER/sink` and late rows in `FOLDER/late`
as the stream goes on; when it has come to its end, `found.arrow` and `finish.arrow`: what the sink holds and what
`cepheid.finish` adds. A query that fails is started again in the same JVM, and why it failed noted in `failures`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame

import cepheid
from cepheid.spark.session import local_session

QUERIES = {
    "an event at its end": """
        SELECT * FROM s WHERE A AS x ; (B AS y FILTER y.v > 0.4)+ ; C AS z
        PARTITION BY k WITHIN 8 seconds
    """,
    "a NOT at its end": """
        SELECT * FROM s WHERE A AS x ; (B AS y FILTER y.v > 0.4)+ ; NOT C FOR 3 seconds
        PARTITION BY k WITHIN 8 seconds
    """,
}
DELAY_SECONDS = 10
SCHEMA = "ts timestamp, n bigint, type string, k string, v double"
SETTINGS = {
    "spark.python.daemon.module": "programs.deadly_workers",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.metricsEnabled": "false",
    # Warm sooner: it never lives long.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
SECONDS = 1200
FAILURES = 50


def main(folder: Path, query: str) -> None:
    session = local_session("local[2,8]", name="killed", settings=SETTINGS)
    rows = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder / "rows"))
    matches = cepheid.match(
        rows, query, order="n", watermark=f"{DELAY_SECONDS} seconds", late=folder / "late"
    )
    if not any(ended(matches, folder) for _ in range(FAILURES)):
        raise RuntimeError(f"the query has failed {FAILURES} times")
    keep(session.read.parquet(str(folder / "sink")), folder / "found.arrow")
    keep(cepheid.finish(session, folder / "checkpoint"), folder / "finish.arrow")
    session.stop()


def ended(matches: DataFrame, folder: Path) -> bool:
    """Runs the query until its rows are at an end, or it fails."""
    writer = matches.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(folder / "sink"))
    try:
        if not query.awaitTermination(SECONDS):
            raise TimeoutError(f"the query has not ended after {SECONDS} s")
    except StreamingQueryException as error:
        with (folder / "failures").open("a") as file:
            file.write(f"{error}\n\n")
        return False
    return True


def keep(frame: DataFrame, path: Path) -> None:
    table = frame.toArrow()
    unfinished = path.with_suffix(".unfinished")
    with pa.ipc.new_file(unfinished, table.schema) as file:
        file.write_table(table)
    unfinished.rename(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), QUERIES[sys.argv[2]])
