"""Separate executor processes, as on a cluster, give the same matches."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

PROGRAM = """
import sys
import pyarrow as pa
import pyarrow.parquet as pq
import cepheid
from cepheid.spark.session import local_session

folder = sys.argv[1]
table = pa.table({
    "ts": range(3000), "type": ["A", "B", "C"] * 1000, "k": [n % 7 for n in range(3000)], "v": [1.5] * 3000,
})
query = "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z PARTITION BY k WITHIN 60"
session = local_session("local-cluster[2,1,1024]", settings={"spark.sql.shuffle.partitions": "4"})
found = cepheid.match(session.createDataFrame(table), query).toArrow()
expected = sorted(cepheid.match(table, query)["match_id"].to_pylist())
assert sorted(found["match_id"].to_pylist()) == expected
print("matches", found.num_rows)

for number in range(3):
    pq.write_table(table.slice(1000 * number, 1000), f"{folder}/{number}.parquet")
stream = session.readStream.schema(session.read.parquet(folder).schema).option("maxFilesPerTrigger", 1)
live = cepheid.match(stream.parquet(folder), query, watermark=10)
writer = live.writeStream.format("parquet").option("checkpointLocation", f"{folder}-checkpoint")
writer.trigger(availableNow=True).start(f"{folder}-out").awaitTermination(200)
given = session.read.parquet(f"{folder}-out").toArrow()["match_id"].to_pylist()
rest = cepheid.finish(session, f"{folder}-checkpoint").toArrow()["match_id"].to_pylist()
assert sorted(given + rest) == expected
print("live", len(given))
session.stop()
"""


def test_executors_in_their_own_processes_give_the_same_matches_also_of_a_stream(tmp_path: Path) -> None:
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
