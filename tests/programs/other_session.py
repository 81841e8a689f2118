"""Batch and stream on a session that is not the tests' own: `python -m programs.other_session MASTER_OR_REMOTE FOLDER`.

In: `local-cluster[…]`, for executors in processes of their own, or `sc://…`, for a Connect client, which knows no JVM;
an empty folder. The matches must be those of this process, in the batch as in the stream; how many there are is
printed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import cepheid
from cepheid.spark.session import local_session, prepare_environment
from support.session_processes import python_path

QUERY = "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z PARTITION BY k WITHIN 60"
ROWS, FILES = 300, 2
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # they end before better code pays
}


def run(where: str, folder: Path) -> list[str]:
    """Runs this module as a program; the words that it prints."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "programs.other_session", where, str(folder)],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def executors_cache(folder: str | Path) -> str:
    return f"{folder}-cache"


def session_of(where: str, folder: str) -> Any:
    if not where.startswith("sc:"):
        # Executors on machines that have never compiled a kernel
        cache = {"spark.executorEnv.CEPHEID_CACHE_DIR": executors_cache(folder)}
        return local_session(where, settings=SETTINGS | cache)
    prepare_environment("local")
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(where).getOrCreate()
    session.conf.set("spark.sql.shuffle.partitions", "2")
    assert "connect" in type(session).__module__
    return session


def compare(session: Any, folder: str) -> None:
    table = pa.table(
        {
            "ts": range(ROWS),
            "type": ["ABC"[n % 3] for n in range(ROWS)],
            "k": [n % 7 for n in range(ROWS)],
            "v": [1.5] * ROWS,
        }
    )
    expected = sorted(cepheid.match(table, QUERY)["match_id"].to_pylist())
    assert cepheid.count(session.createDataFrame(table), QUERY) == len(expected)
    odd = session.createDataFrame(table).toDF("t.s", "`", "v", "V").selectExpr("*", "INTERVAL '1' MONTH AS m")
    told = cepheid.match(odd, QUERY.replace("BY k", "BY v"), time="t.s", type="`")
    assert sorted(row["match_id"] for row in told.select("match_id").collect()) == expected
    assert told.schema["x"].dataType["m"].dataType == odd.schema["m"].dataType
    found = cepheid.match(session.createDataFrame(table), QUERY).toArrow()
    assert sorted(found["match_id"].to_pylist()) == expected
    print("matches", found.num_rows)  # noqa: T201

    rows = ROWS // FILES
    for number in range(FILES):
        pq.write_table(table.slice(rows * number, rows), f"{folder}/{number}.parquet")
    stream = session.readStream.schema(session.read.parquet(folder).schema).option("maxFilesPerTrigger", 1)
    live = cepheid.match(stream.parquet(folder), QUERY, watermark=10)
    writer = live.writeStream.format("parquet").option("checkpointLocation", f"{folder}-checkpoint")
    assert writer.trigger(availableNow=True).start(f"{folder}-out").awaitTermination(200)
    given = session.read.parquet(f"{folder}-out").toArrow()["match_id"].to_pylist()
    rest = cepheid.finish(session, f"{folder}-checkpoint").toArrow()["match_id"].to_pylist()
    assert sorted(given + rest) == expected
    print("live", len(given))  # noqa: T201


def main(where: str, folder: str) -> None:
    session = session_of(where, folder)
    compare(session, folder)
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
