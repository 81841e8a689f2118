"""SREMO and filters that compare events on Spark: the matches, ids and counts of one process."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from typer.testing import CliRunner

import cepheid
from cepheid.cli.app import app
from cepheid.errors import CepheidWarning
from cepheid.spark.batch import count_spark, match_spark

pytestmark = pytest.mark.spark

RISING = "#([type = 'A'] > r, [type = 'B']+, [type = 'C' AND v > r.v])"
NEIGHBOURS = "[type = 'A'] > r . any? . [v > r.v AND s = r.s]"
FILTERS = "SELECT * FROM s WHERE (A AS x ; (B AS y FILTER y.v > x.v)+ ; C AS z) FILTER x.s = z.s"


def events(rows: int = 300) -> pa.Table:
    """Ties in time, NULL among keys, values and texts, in no order."""
    random = np.random.default_rng(8)
    return pa.table(
        {
            "ts": random.integers(0, rows // 2, rows),
            "type": random.choice(list("ABCD"), rows),
            "k": pa.array(random.choice(["a", "ü", None], rows)),
            "s": pa.array(random.choice(["p", "日本", None], rows)),
            "v": pa.array(random.random(rows), mask=random.random(rows) < 0.1),
        }
    )


def rows_of(matches: pa.Table | DataFrame) -> list[str]:
    table = matches if isinstance(matches, pa.Table) else matches.toArrow()
    return sorted(map(repr, table.to_pylist()))


@pytest.mark.parametrize(
    "text",
    [
        f"{RISING} WITHIN 15 PARTITION BY k",
        f"{NEIGHBOURS} PARTITION BY k",
        f"{FILTERS} PARTITION BY k WITHIN 30",
    ],
)
def test_partitions_give_what_one_process_gives(spark: SparkSession, text: str) -> None:
    table = events()
    expected = rows_of(cepheid.match(table, text))
    assert len(expected) > 10
    frame = spark.createDataFrame(table)
    assert "evaluator: configurations" in cepheid.explain(text, frame)
    assert rows_of(cepheid.match(frame, text)) == expected
    assert cepheid.count(frame, text) == len(expected)


@pytest.mark.parametrize("text", [f"{RISING} WITHIN 9", f"{NEIGHBOURS} WITHIN 3", f"{FILTERS} WITHIN 12"])
def test_time_slices_give_what_one_process_gives(spark: SparkSession, text: str) -> None:
    table, query = events(), cepheid.query(text)
    expected = rows_of(cepheid.match(table, query))
    assert len(expected) > 10
    frame = spark.createDataFrame(table)
    assert rows_of(match_spark(frame, query, time="ts", slices=4)) == expected
    assert count_spark(frame, query, time="ts", slices=3) == len(expected)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-[type = 'A'] > r . [v > r.v] WITHIN 4", "events before the first that it marks"),
        (RISING, "no window"),
        (f"{RISING} WITHIN 20 EVENTS", "counts events"),
        (f"{RISING} WITHIN 9 CONSUME", "CONSUME"),
    ],
)
def test_what_slices_cannot_cut_runs_in_one_task(spark: SparkSession, text: str, why: str) -> None:
    table = events(60)
    with pytest.warns(CepheidWarning, match=why):
        found = cepheid.match(spark.createDataFrame(table), text)
    assert rows_of(found) == rows_of(cepheid.match(table, text))


@pytest.mark.usefixtures("spark")
def test_the_command_line_reads_sremo_from_files_and_arguments(tmp_path: Path) -> None:
    table = events()
    data, file, target = tmp_path / "events.parquet", tmp_path / "rising.sremo", tmp_path / "matches"
    pq.write_table(table, data)
    text = f"{RISING} WITHIN 9 PARTITION BY k"
    file.write_text(text)
    expected = sorted(cepheid.match(table, text)["match_id"].to_pylist())
    options = ["--input", str(data), "--time", "ts"]
    done = CliRunner().invoke(
        app, ["run", str(file), *options, "--output", str(target), "--output-format", "json"]
    )
    assert done.exit_code == 0, done.stderr
    lines = [line for part in target.glob("*.json") for line in part.read_text().splitlines()]
    assert sorted(json.loads(line)["match_id"] for line in lines) == expected
    given = CliRunner().invoke(app, ["run", "--language", "sremo", "-e", text, *options, "--count"])
    assert (given.exit_code, given.stdout) == (0, f"{len(expected)}\n")
