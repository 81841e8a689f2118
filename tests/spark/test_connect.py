"""Spark Connect: the client knows no JVM, and batch and stream give the same matches all the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

PROGRAM = """
import os, sys
import pyarrow as pa
import pyarrow.parquet as pq
from cepheid.spark.session import prepare_environment
prepare_environment("local[2]")
from pyspark.sql import SparkSession
import cepheid

folder = sys.argv[1]
table = pa.table({
    "ts": range(300), "type": ["A", "B", "C"] * 100, "k": [n % 7 for n in range(300)], "v": [1.5] * 300,
})
query = "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z PARTITION BY k WITHIN 60"
session = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
session.conf.set("spark.sql.shuffle.partitions", "2")
assert "connect" in type(session).__module__
expected = sorted(cepheid.match(table, query)["match_id"].to_pylist())
assert cepheid.count(session.createDataFrame(table), query) == len(expected)
found = cepheid.match(session.createDataFrame(table), query).toArrow()
assert sorted(found["match_id"].to_pylist()) == expected
print("matches", found.num_rows)

for number in range(2):
    pq.write_table(table.slice(150 * number, 150), f"{folder}/{number}.parquet")
stream = session.readStream.schema(session.read.parquet(folder).schema).option("maxFilesPerTrigger", 1)
live = cepheid.match(stream.parquet(folder), query, watermark=10)
writer = live.writeStream.format("parquet").option("checkpointLocation", f"{folder}-checkpoint")
started = writer.trigger(availableNow=True).start(f"{folder}-out")
started.awaitTermination(200)
given = session.read.parquet(f"{folder}-out").toArrow()["match_id"].to_pylist()
rest = cepheid.finish(session, f"{folder}-checkpoint").toArrow()["match_id"].to_pylist()
assert sorted(given + rest) == expected
print("live", len(given))
session.stop()
"""


def test_a_connect_session_gives_the_same_matches_also_of_a_stream(tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "events")],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    assert words[::2] == ["matches", "live"]
    assert int(words[1]) > int(words[3]) > 0
