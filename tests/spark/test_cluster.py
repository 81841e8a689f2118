"""Separate executor processes, as on a cluster, give the same matches."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.spark

PROGRAM = """
import pyarrow as pa
import cepheid
from cepheid.spark.session import local_session

table = pa.table({
    "ts": range(3000), "type": ["A", "B", "C"] * 1000, "k": [n % 7 for n in range(3000)], "v": [1.5] * 3000,
})
query = "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z PARTITION BY k WITHIN 60"
session = local_session("local-cluster[2,1,1024]", settings={"spark.sql.shuffle.partitions": "4"})
found = cepheid.match(session.createDataFrame(table), query).toArrow()
expected = cepheid.match(table, query)
assert sorted(found["match_id"].to_pylist()) == sorted(expected["match_id"].to_pylist())
print("matches", found.num_rows)
session.stop()
"""


def test_executors_in_their_own_processes_give_the_same_matches() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("matches ")
