"""The program from end to end, in a process of its own: what it prints where, and what it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

import cepheid
from cepheid.cli.app import app
from cepheid.cli.farm import farm_stream
from cepheid.spark.files import read

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


def run(*arguments: str | Path) -> Result:
    """The command inside this process, on the session that it has. Paths are whole: Spark stays where it began."""
    return CliRunner().invoke(app, ["run", "-e", QUERY, "--time", "ts", *map(str, arguments)])


@pytest.mark.usefixtures("spark")
def test_what_spark_cannot_do_is_said_without_a_traceback(tmp_path: Path) -> None:
    farm, bad, there = tmp_path / "farm.parquet", tmp_path / "bad.parquet", tmp_path / "there"
    pq.write_table(farm_stream(1_000), farm)
    bad.write_text("no")
    there.mkdir()
    cases: list[tuple[list[str | Path], int, str]] = [
        (["--input", tmp_path / "missing.parquet"], 2, "no such file or folder"),
        (["--input", f"file:{tmp_path}/missing.parquet"], 2, "Path does not exist"),
        (["--input", bad], 1, "bad.parquet cannot be read as parquet"),
        (["--input", farm, "--format", "nonsense"], 2, "nonsense"),
        (["--input", farm, "--output", there], 2, "there exists already"),
        (["--input", farm, "--output", "/proc/none/matches"], 1, "/proc/none"),
    ]
    for arguments, code, says in cases:
        result = run(*arguments)
        assert result.exit_code == code, (arguments, result.stderr)
        assert says in result.stderr
        assert "Traceback" not in result.stderr
        assert result.stdout == ""


def test_matches_are_written_in_every_format(tmp_path: Path, spark: SparkSession) -> None:
    table = farm_stream(20_000)
    farm = tmp_path / "farm.parquet"
    pq.write_table(table, farm)
    expected = cepheid.match(table, QUERY, time="ts")
    ids = sorted(expected["match_id"].to_pylist())
    assert ids
    for format in ("parquet", "json", "csv"):
        target = tmp_path / f"matches-{format}"
        result = run("--input", farm, "--output", target, "--output-format", format)
        assert (result.exit_code, result.stdout) == (0, ""), result.stderr
        written = read(spark, [str(target)], format).toArrow()
        assert sorted(written.column_names) == sorted(expected.column_names)
        assert sorted(written["match_id"].to_pylist()) == ids
    event = json.loads(written["x"][0].as_py())  # CSV holds events as JSON
    assert (event["type"], event["hum"]) == ("T", None)
    counted = run("--input", farm, "--count")
    assert (counted.exit_code, counted.stdout) == (0, f"{len(ids)}\n")


def test_a_folder_is_run_as_a_stream_and_gone_on_with(tmp_path: Path, spark: SparkSession) -> None:
    """By another process: the first is the program, the second this one."""
    table = farm_stream(20_000)
    table = table.append_column("n", pa.array(range(len(table))))
    arguments = [
        "--stream",
        "--once",
        "--format",
        "csv",
        "--time",
        "ts",
        "--order",
        "n",
        "--master",
        "local[2]",
    ]
    arguments += ["--watermark", "10 seconds", "--output-format", "json"]
    rows = len(table) // 2

    def add(part: pa.Table) -> None:
        moment = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"
        writer = spark.createDataFrame(part).coalesce(1).write.mode("append").format("csv")
        writer.options(header="true", timestampFormat=moment).save(str(tmp_path / "events"))

    add(table.slice(0, rows))
    places = ["--input", "events", "--output", "fires"]
    done = program("run", "-e", QUERY, *arguments, *places, directory=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "micro-batch" in done.stderr
    assert " 0 late" in done.stderr

    add(table.slice(rows))
    partitions = "spark.sql.shuffle.partitions"
    before = spark.conf.get(partitions)
    spark.conf.set(partitions, "2")  # as the program has it: the number of cores
    try:
        again = run(*arguments, "--input", tmp_path / "events", "--output", tmp_path / "fires", "--flush")
    finally:
        spark.conf.set(partitions, before)
    assert (again.exit_code, again.stdout) == (0, ""), again.stderr
    assert "micro-batch" in again.stderr
    assert " 0 late" in again.stderr
    found = [
        match["match_id"]
        for folder in ("fires", "fires.rest")
        for match in spark.read.schema("match_id string").json(str(tmp_path / folder)).collect()
    ]
    expected = cepheid.match(table, QUERY, time="ts", order="n")["match_id"].to_pylist()
    assert len(found) > 0
    assert sorted(found) == sorted(expected)
