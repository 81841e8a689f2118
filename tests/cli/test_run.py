"""The program from end to end, in a process of its own: what it prints where, and what it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import cepheid
from cepheid.cli.farm import farm_stream

pytestmark = pytest.mark.spark

QUERY = """SELECT * FROM farm
WHERE (T AS x ; H AS y) FILTER (x.tmp > 40 AND y.hum <= 25)
PARTITION BY id WITHIN 10 minutes"""


def program(*arguments: str, directory: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from cepheid.cli.app import main; main()", *arguments]
    environment = {key: value for key, value in os.environ.items() if key != "CEPHEID_DEBUG"}
    return subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, timeout=240, check=False
    )


def test_run_prints_json_lines_and_nothing_else(tmp_path: Path) -> None:
    table = farm_stream(20_000)
    pq.write_table(table, tmp_path / "farm.parquet")
    (tmp_path / "fires.cel").write_text(QUERY)
    done = program(
        "run", "fires.cel", "--input", "farm.parquet", "--time", "ts", "--output", "-", directory=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    expected = cepheid.match(table, QUERY, time="ts").to_pylist()
    assert sorted(line["match_id"] for line in lines) == sorted(match["match_id"] for match in expected)
    assert {line["x"]["tmp"] for line in lines} == {match["x"]["tmp"] for match in expected}
    assert all(line["x"]["hum"] is None for line in lines)


def test_run_on_bad_data_says_so_in_one_message(tmp_path: Path) -> None:
    (tmp_path / "farm.csv").write_text("ts,type,tmp\n1,T,50.0\n,T,51.0\n")
    query = "SELECT * FROM farm WHERE T AS x FILTER x.tmp > 40 WITHIN 5"
    done = program("run", "-e", query, "--input", "farm.csv", "--time", "ts", "--count", directory=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error[bad-time]: time column `ts` is NULL in row 1")
    assert "Traceback" not in done.stderr
