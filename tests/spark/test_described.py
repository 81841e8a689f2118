"""Files read by their description: Spark sees the columns, types and values that `check` and `explain` go by."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

import cepheid
from cepheid.cli.app import app
from cepheid.files.ddl import schema_of_text
from cepheid.files.described import Described, describe, spark_schema
from cepheid.spark.carriers import arrow_schema
from cepheid.spark.files import read_described

pytestmark = pytest.mark.spark

ROWS = {
    "ts": ("2024-01-01T00:00:00Z", "2024-01-01T02:00:00+01:00"),
    "n": ("1", ""),
    "x": ("1.5", "-.5e3"),
    "flag": ("true", "False"),
    "day": ("2024-02-29", "2024-03-01"),
    "clock": ("12:30:00", "23:59:59"),
    "local": ("2024-01-01 10:00:00.5", "2024-01-01T11:00"),
    "empty": ("", ""),
    "text": ('"a, ""b"""', '""'),
    "mixed": ("1", "x"),
    "big": ("12345678901234567890", "1"),
    "odd": ("NaN", "-inf"),
    "fine": ("2024-01-01T00:00:00.1234567Z", "2024-01-01T00:00:00Z"),
}
CSV = "\n".join([",".join(ROWS), *(",".join(row) for row in zip(*ROWS.values(), strict=True))]) + "\n"
OBJECTS = [
    {
        "ts": "2024-01-01T00:00:00.123Z",
        "n": 1,
        "x": 1,
        "s": {"a": 1, "t": "2024-01-01"},
        "l": [1, 2],
        "d": "2024-01-01",
        "none": None,
        "txt": "12",
        "b.c": 1,
    },
    {
        "ts": "2024-01-01T00:00:01Z",
        "n": 2,
        "x": 1.5,
        "s": {"a": 2, "b": "q"},
        "l": [],
        "d": "2024-01-02",
        "late": True,
    },
]
JSON = "".join(json.dumps(item) + "\n" for item in OBJECTS)
PARQUET = pa.table(
    {
        "ts": pa.array([1, 1500, -1], pa.timestamp("ns")),
        "zoned": pa.array([1, 1500, -1], pa.timestamp("ns", "Europe/Berlin")),
        "ms": pa.array([1, 2, None], pa.timestamp("ms")),
        "small": pa.array([1, 2, 255], pa.uint8()),
        "large": pa.array([1, 2, 2**64 - 1], pa.uint64()),
        "coded": pa.array(["a", "b", None]).dictionary_encode(),
        "view": pa.array(["a", "b", "c"], pa.large_string()),
        "day": pa.array([1, 2, 3], pa.date32()),
        "money": pa.array([1, 2, 3]).cast(pa.decimal128(21, 2)),
        "single": pa.array([1, 2, 3], pa.float32()),
        "place": [{"a": 1}, {"a": None}, None],
        "list": [[1], [], None],
        "bytes": pa.array([b"a", b"", None]),
        "written": ["2024-01-01 00:00:00", "2024-01-01", None],
    }
)


def seen_alike(spark: SparkSession, known: Described | None) -> pa.Table:
    """The rows as Spark reads them; its types must be those described, its values those that pyarrow reads."""
    assert known is not None
    frame = read_described(spark, known)
    assert arrow_schema(frame.schema) == known.schema
    rows = frame.toArrow().cast(known.schema)
    if known.files is not None:
        own = pa.Table.from_batches(known.files.batches(known.schema.names)).to_pandas()
        other = rows.to_pandas()
        for name in known.schema.names:
            if known.schema.field(name).type == known.files.schema.field(name).type:
                pd.testing.assert_series_equal(own[name], other[name])
    return rows


def test_csv_is_seen_alike(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    rows = seen_alike(spark, describe([str(tmp_path / "a.csv")], time="ts")).to_pylist()
    assert [row["text"] for row in rows] == ['a, "b"', ""]
    assert [row["empty"] for row in rows] == [None, None]
    assert [row["clock"] for row in rows] == ["12:30:00", "23:59:59"]
    assert rows[0]["fine"].microsecond == 123456
    assert rows[0]["big"] == "12345678901234567890"


def test_json_is_seen_alike(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "a.json").write_text(JSON)
    rows = seen_alike(spark, describe([str(tmp_path / "a.json")], time="ts")).to_pylist()
    assert [row["s"] for row in rows] == [
        {"a": 1, "t": "2024-01-01", "b": None},
        {"a": 2, "t": None, "b": "q"},
    ]
    assert [row["late"] for row in rows] == [None, True]


def test_parquet_is_seen_alike_and_nanoseconds_are_rounded_down(tmp_path: Path, spark: SparkSession) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(PARQUET, path)
    rows = seen_alike(spark, describe([str(path)], time="ts"))
    assert rows["ts"].cast(pa.int64()).to_pylist() == [0, 1, -1]
    assert rows["zoned"].cast(pa.int64()).to_pylist() == [0, 1, -1]
    assert rows["large"].to_pylist()[2] == 2**64 - 1
    written = seen_alike(spark, describe([str(path)], time="written"))
    assert written.schema.field("written").type == pa.timestamp("us")
    assert [str(value) for value in written["written"].to_pylist()[:2]] == ["2024-01-01 00:00:00"] * 2


def test_formats_and_schemas_that_are_given(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "a.csv").write_text("when,zip,v\n31.01.2024 at 12:30:00.5 +0100,01234,1\n")
    path = [str(tmp_path / "a.csv")]
    known = describe(path, time="when", time_format="%d.%m.%Y at %H:%M:%S.%f %z")
    row = read_described(spark, known).toArrow().to_pylist()[0]
    assert (row["when"].isoformat(), row["zip"]) == ("2024-01-31T11:30:00.500000+00:00", 1234)
    given = schema_of_text("zip string, v decimal(5, 2), when string")
    known = describe(path, time="when", time_format="%d.%m.%Y at %H:%M:%S.%f %z", schema=given)
    frame = read_described(spark, known)
    assert arrow_schema(frame.schema) == known.schema
    assert str(frame.toArrow().to_pylist()[0]["v"]) == "1.00"
    assert frame.toArrow().to_pylist()[0]["zip"] == "01234"
    (tmp_path / "b.json").write_text('{"ts": "2024-01-01T00:00:00Z", "v": 1, "w": [1]}\n')
    known = describe(
        [str(tmp_path / "b.json")], time="ts", schema=schema_of_text("ts timestamp, w array<double>")
    )
    assert read_described(spark, known).toArrow().column_names == ["ts", "w"]


def cli(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.usefixtures("spark")
def test_json_with_iso_times_runs_as_a_batch_and_as_a_stream(tmp_path: Path) -> None:
    table = pa.table({"ts": pd.date_range("2024-01-01", periods=40, freq="s", tz="UTC"), "id": [1, 2] * 20})
    (tmp_path / "in").mkdir()
    frame = table.to_pandas().assign(ts=lambda rows: rows["ts"].map(lambda moment: moment.isoformat()))
    frame.to_json(tmp_path / "in" / "a.json", orient="records", lines=True)
    query = "SELECT * FROM s WHERE s AS x : s AS y PARTITION BY id WITHIN 2 seconds"
    expected = cepheid.count(table, query)
    arguments = ["-e", query, "--input", tmp_path / "in", "--time", "ts"]
    assert cli("check", *arguments).stdout == "ok\n"
    counted = cli("run", *arguments, "--count")
    assert (counted.exit_code, counted.stdout) == (0, f"{expected}\n"), counted.stderr
    out = tmp_path / "out"
    options = [
        "--stream",
        "--once",
        "--flush",
        "--watermark",
        "1 second",
        "--output",
        out,
        "--output-format",
        "json",
    ]
    done = cli("run", *arguments, *options)
    assert done.exit_code == 0, done.stderr
    lines = [
        line
        for folder in (out, tmp_path / "out.rest")
        for file in folder.glob("*.json")
        for line in file.read_text().splitlines()
    ]
    assert len(lines) == expected
    assert all(json.loads(line)["start"] for line in lines)


@pytest.mark.usefixtures("spark")
def test_a_value_that_does_not_fit_the_schema_is_an_error_not_a_null(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("ts,v\n1,2\n2,x\n")
    arguments = [
        "-e",
        "SELECT * FROM s WHERE s AS x FILTER x.v > 1",
        "--input",
        tmp_path / "a.csv",
        "--time",
        "ts",
    ]
    done = cli("run", *arguments, "--schema", "ts bigint, v bigint", "--count")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "'x'" in done.stderr


TAKES_ARROW = "spark.sql.execution.arrow.pyspark.enabled"  # off in Spark 4.1 unless it is set


def test_nan_of_pandas_is_null_on_spark_too(spark: SparkSession) -> None:
    frame = pd.DataFrame({"ts": [1, 2, 3], "v": [1.0, np.nan, 2.0]})
    both = pa.table({"ts": [1, 2, 3], "v": [1.0, float("nan"), None]})
    spark.conf.set(TAKES_ARROW, "true")
    for condition in ("x.v IS NULL", "x.v <> 1"):
        query = f"SELECT * FROM s WHERE s AS x FILTER {condition} WITHIN 5"
        for data in (frame, both):
            on_spark = spark.createDataFrame(data)
            assert cepheid.count(on_spark, query) == cepheid.count(data, query)
    spark.conf.unset(TAKES_ARROW)


UNREAD = {
    "clock": pa.array([1, 2], pa.time64("us")),
    "millis": pa.array([1, 2], pa.time32("ms")),
    "half": pa.array([1, 2], pa.float32()).cast(pa.float16()),
    "wide": pa.array([1, 2], pa.decimal256(60, 2)),
    "inside": pa.array([{"t": 1}, None], pa.struct([("t", pa.time64("ns"))])),
    "fine inside": pa.array([[1], []], pa.list_(pa.timestamp("ns"))),
}
"""Columns for which Spark reads no column of the file, unless it is told to leave them out."""


READ = {
    "ts": pa.array([1_000, 2_000_001], pa.timestamp("ns")),
    "a.b": pa.array([7, 8], pa.uint8()),
    "name": pa.array(["p", "q"]).dictionary_encode(),
    "none": pa.nulls(2),
    "nothing inside": pa.array([None, {"n": None}], pa.struct([("n", pa.null())])),
    "list": pa.array([[1], None]),
    "pair": pa.array([[1, 2], [3, 4]], pa.list_(pa.uint8(), 2)),
    "view": pa.array([["a"], ["b"]], pa.list_view(pa.string_view())),
    "map": pa.array([[], [("k", 1)]], pa.map_(pa.string(), pa.uint16())),
    "json": pa.array(["1", "[]"], pa.json_()),
    "id": pa.array([b"0" * 16, b"1" * 16], pa.uuid()),
}


def parquet_folder(folder: Path, columns: dict[str, pa.Array]) -> Path:
    folder.mkdir()
    pq.write_table(pa.table(columns), folder / "a.parquet")
    return folder


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("unread", [{}, UNREAD])
def test_columns_that_spark_does_not_read_are_left_out_and_others_of_any_type_are_read(
    spark: SparkSession, tmp_path: Path, stream: bool, unread: dict[str, pa.Array]
) -> None:
    folder, output = parquet_folder(tmp_path / "in", {**READ, **unread}), tmp_path / "out"
    query = 'SELECT * FROM s WHERE s AS x FILTER x."a.b" > 7'
    how = ["--stream", "--watermark", "1 second", "--once", "--flush"] if stream else []
    arguments = ["--input", folder, "--time", "ts", "--output", output, *how, "--output-format", "json"]
    done = cli("run", "-e", query, *arguments)
    assert done.exit_code == 0, done.stderr
    assert all((f"column `{name}` is left out" in done.stderr) == bool(unread) for name in UNREAD)
    files = [*output.glob("*.json"), *Path(f"{output}.rest").glob("*.json")]
    (match,) = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert match["x"] == {
        "ts": "1970-01-01T00:00:00.002000",
        "a.b": 8,
        "name": "q",
        "none": None,
        "nothing inside": {"n": None},
        "list": None,
        "pair": [3, 4],
        "view": ["b"],
        "map": {"k": 1},
        "json": "[]",
        "id": "MTExMTExMTExMTExMTExMQ==",
    }


def test_every_command_says_which_columns_are_left_out(tmp_path: Path) -> None:
    folder = parquet_folder(tmp_path / "in", {**READ, **UNREAD})
    for command in ("check", "explain", "run"):
        for condition in ("x.clock IS NULL", "x.half = 1"):
            query = f"SELECT * FROM s WHERE s AS x FILTER {condition}"
            done = cli(command, "-e", query, "--input", folder, "--time", "ts")
            assert done.exit_code == 1
            assert "column `clock` is left out: it has type time64[us]" in done.stderr
            assert "unknown-attribute" in done.stderr
    done = cli("check", "-e", "SELECT * FROM s WHERE s AS x", "--input", folder, "--time", "clock")
    assert (done.exit_code, "is left out" in done.stderr) == (1, True)


def test_types_of_files_are_those_of_spark() -> None:
    assert spark_schema(pa.schema([("a", pa.duration("us"))])).field("a").type == pa.int64()
