"""Names, types, frames and workers at the edges of what Spark takes: they work as in-process, or the error says why."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

import cepheid
from cepheid.errors import CepheidError, error_in
from cepheid.schema import schema_of
from cepheid.spark import interpreter
from cepheid.spark.live.late_table import late_table
from cepheid.spark.streams import inner, union_streams

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::cepheid.errors.CepheidWarning")]

NAMES = ["t.s", "ty`pe", "v", "V", "*", "a b", "é\"'"]
PAIRS = 'SELECT * FROM s WHERE (A AS x ; B AS y) FILTER (x.v < y.v AND x."V" > y.`V`)'
OTHER_PYTHON = "/usr/bin/python3"
KIND = {"time": "t.s", "type": "ty`pe"}


def odd_rows(first: int = 0) -> pa.Table:
    """Sixty events whose columns have odd names; `a b` and the last are equal now and then."""
    numbers = range(first, first + 60)
    columns: list[Any] = [
        pa.array(numbers, pa.int64()),
        ["AB"[n % 3 % 2] for n in numbers],
        pa.array([n * 7 % 11 for n in numbers], pa.int64()),
        pa.array([n * 5 % 13 for n in numbers], pa.int64()),
        [("k", "l", None)[n % 5 % 3] for n in numbers],
        pa.array([n % 4 for n in numbers], pa.int64()),
        pa.array([n % 3 for n in numbers], pa.int64()),
    ]
    return pa.table(columns, names=NAMES)


def on_spark(spark: SparkSession, table: pa.Table) -> DataFrame:
    names = [f"c{place}" for place in range(table.num_columns)]
    return spark.createDataFrame(table.rename_columns(names)).toDF(*table.column_names)


def rows_of(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


def test_columns_may_have_any_name(spark: SparkSession) -> None:
    """Partitions, slices, PART-BY over two attributes, the order column, several streams."""
    spark.conf.set("spark.sql.caseSensitive", "false")  # the command line's tests have it on
    table = odd_rows()
    frame = on_spark(spark, table)
    for query, options in (
        (f'{PAIRS} PARTITION BY "*", "a b" WITHIN 40', {"order": "a b"}),
        (f"{PAIRS} WITHIN 9", {"slices": 3}),
        ('SELECT * FROM s WHERE (A AS x ; B AS y) PART-BY [x.`a b`, y."é""\'"] WITHIN 9', {}),
        (f"{PAIRS} WITHIN 9", {"columns": ["start", "y"], "order": "V"}),
    ):
        found = cepheid.match(frame, query, **KIND, **options)
        options.pop("slices", None)
        expected = cepheid.match(table, query, **KIND, **options)
        assert len(expected) > 3, query
        assert found.columns == expected.column_names
        assert rows_of(found.toArrow()) == rows_of(expected), query
    assert cepheid.count(frame, query, **KIND) == len(expected)
    streams = {"T": table.select(["t.s", "v", "a b"]), "H": table.select(["t.s", "V", "*"])}
    query = "SELECT * FROM T, H WHERE (T AS x ; H AS y) FILTER x.v = y.V WITHIN 3"
    found = cepheid.match({name: on_spark(spark, part) for name, part in streams.items()}, query, time="t.s")
    expected = cepheid.match(streams, query, time="t.s")
    assert len(expected) > 3
    assert rows_of(found.toArrow().cast(expected.schema)) == rows_of(expected)
    with pytest.raises(CepheidError, match="names must be distinct; repeated: `v`"):
        cepheid.match(frame.toDF("v", "v", *NAMES[2:]), query, time="v")


TYPES = {
    "months": "INTERVAL '1-2' YEAR TO MONTH",
    "years": "INTERVAL '3' YEAR",
    "calendar": "make_interval(1, 2, 3, 4, -5, 6, -7.000001)",
    "seconds": "INTERVAL '1 02:03:04.5' DAY TO SECOND",
    "variant": "parse_json('{\"a\": 1}')",
    "mapped": "map('a', INTERVAL '1' MONTH)",
    "nested": "array(named_struct('v', 1, 'V', -INTERVAL '5' MONTH), null)",
    "nothing": "null",
    "missing": "cast(null as INTERVAL MONTH)",
    "bytes": "X'00ff'",
}


def test_columns_of_any_type_come_back_as_they_were(spark: SparkSession) -> None:
    columns = ", ".join(f"{value} AS {name}" for name, value in TYPES.items())
    rows = spark.sql(f"SELECT id AS ts, if(id = 0, 'A', 'B') AS type, {columns} FROM range(3)")
    query = "SELECT * FROM s WHERE A AS x ; (B AS y)+ PARTITION BY months WITHIN 5"
    found = cepheid.match(rows, query)
    event = {field.name: field.dataType for field in found.schema["x"].dataType}
    shown = found.where("size(y) = 2").select("months", "x.*", sql.col("y").getItem(1).alias("last"))
    texts = [
        f"to_json(struct({part}{name})) AS {part.rstrip('.')}_{name}"
        for name in TYPES
        for part in ("", "last.")
        if name not in ("months", "variant")
    ]
    for field in rows.schema:
        assert event[field.name] == field.dataType, field
    assert found.schema["months"].dataType == rows.schema["months"].dataType
    assert cepheid.count(rows, query) == 3
    given = shown.selectExpr("cast(last.months AS string) AS months", *texts).first()
    assert given is not None
    wanted = rows.selectExpr(
        "cast(months AS string) AS months", *(f"to_json(struct({n})) AS {n}" for n in TYPES)
    )
    expected = wanted.first()
    assert expected is not None
    assert given["months"] == expected["months"]
    for name in TYPES:
        if name not in ("months", "variant"):
            assert given[f"_{name}"] == given[f"last_{name}"] == expected[name]
    with pytest.raises(CepheidError, match="type-mismatch"):
        cepheid.match(rows, "SELECT * FROM s WHERE (A AS x ; B AS y) FILTER x.months > 3 WITHIN 5")


def test_a_type_that_does_not_travel_matters_only_where_it_is_needed(spark: SparkSession) -> None:
    rows = spark.sql("SELECT id AS ts, if(id = 0, 'A', 'B') AS type, INTERVAL '1' MONTH AS c FROM range(3)")
    query = "SELECT * FROM s WHERE A AS x ; B AS y WITHIN 5"
    with mock.patch("cepheid.spark.carriers.carrier", lambda dtype: dtype):
        assert cepheid.match(rows, query, columns=["start"]).columns == ["start"]
        for wanted in (query, query.replace("WITHIN", "FILTER x.c IS NULL WITHIN")):
            with pytest.raises(CepheidError, match=r"bad-data.*column `c` has Spark's type interval month"):
                cepheid.match(rows, wanted)


@pytest.mark.filterwarnings("ignore")  # pandas on Spark warns of what its frames cost
def test_frames_of_pandas_on_spark_are_taken_and_given(spark: SparkSession) -> None:
    pandas_on_spark = pytest.importorskip(
        "pyspark.pandas", reason="pandas on Spark has no pandas 3", exc_type=ImportError
    )
    table = odd_rows().rename_columns(["ts", "type", *"abcde"])  # it does not take backticks itself
    frame = spark.createDataFrame(table).pandas_api()
    assert isinstance(frame, pandas_on_spark.DataFrame)
    query = "SELECT * FROM s WHERE (A AS x ; B AS y) FILTER x.a < y.a WITHIN 9"
    found = cepheid.match(frame, query)
    assert isinstance(found, pandas_on_spark.DataFrame)
    expected = cepheid.match(table, query)
    assert sorted(found["match_id"].to_numpy()) == sorted(expected["match_id"].to_pylist())
    assert cepheid.count({"s": frame}, query) == len(expected)
    assert cepheid.explain(query, frame).count("── spark ──") == 1


def test_an_error_of_a_worker_is_its_message(spark: SparkSession) -> None:
    """And names the query and the event. What `count` runs itself comes as the error itself."""
    rows = spark.createDataFrame([(1, "A", 5.0), (None, "B", 7.5)], "ts bigint, type string, v double")
    query = "SELECT * FROM s WHERE A AS x ; B AS y WITHIN 5"
    with pytest.raises(PythonException) as raised:
        cepheid.match(rows, query).collect()
    said = [line for line in str(raised.value).splitlines() if line.strip()][:2]  # after Spark's heading
    assert (
        said[-1]
        .removeprefix("cepheid.errors.CepheidError: ")
        .startswith("error[bad-time]: time column `ts` is NULL")
    )
    assert "Traceback" not in str(raised.value)
    error = error_in(str(raised.value))
    assert error is not None
    assert "{'type': 'B', 'v': 7.5}" in error.message
    assert query in error.message
    assert error.hint == "drop or fill the rows without a time before matching"
    with pytest.raises(CepheidError) as counted:
        cepheid.count(rows, query)
    assert (counted.value.code, counted.value.hint) == (error.code, error.hint)


@pytest.fixture
def other_python(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The session's workers run a Python that lacks the package."""
    if not Path(OTHER_PYTHON).exists():
        pytest.skip(f"{OTHER_PYTHON} is not there")
    context = spark.sparkContext
    before, context.pythonExec = context.pythonExec, OTHER_PYTHON
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    yield
    context.pythonExec = before


@pytest.mark.usefixtures("other_python")
def test_workers_without_the_package_are_found_out(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = spark.createDataFrame([(1, "A"), (2, "B")], "ts bigint, type string")
    query = "SELECT * FROM s WHERE A AS x ; B AS y WITHIN 5"
    assert cepheid.count(rows, query) == 1  # nobody chose that Python, so ours runs
    assert spark.sparkContext.pythonExec == OTHER_PYTHON
    monkeypatch.setenv("PYSPARK_PYTHON", OTHER_PYTHON)
    with pytest.raises(CepheidError, match=r"(?s)bad-worker.*no package.*hint: set PYSPARK_PYTHON="):
        cepheid.match(rows, query)
    # Where only the worker can tell, it does.
    monkeypatch.setattr(interpreter, "_local_context", lambda _: None)
    with pytest.raises(CepheidError, match=r"bad-worker.*the Python of Spark's workers has no package"):
        cepheid.count(rows, query)
    without = tmp_path / "python"
    hidden = "import sys; sys.modules['cepheid'] = None; sys.path.remove(here)"
    (tmp_path / "sitecustomize.py").write_text(f"here = {str(tmp_path)!r}\n{hidden}\n")
    without.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {sys.executable} "$@"\n')
    without.chmod(0o755)
    spark.sparkContext.pythonExec = str(without)
    with pytest.raises(CepheidError, match=r"bad-worker.*Python of a Spark worker.*cannot import cepheid"):
        cepheid.count(rows, query)


@pytest.mark.usefixtures("other_python")
def test_workers_of_a_connect_server_in_this_process_are_found_out() -> None:
    """As `remote("local")` starts one. Its workers' Python cannot be replaced any more."""
    connected = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    connected.client = SimpleNamespace(host="localhost")
    with pytest.raises(CepheidError, match=r"(?s)bad-worker.*no package.*hint: set PYSPARK_PYTHON="):
        interpreter.workers_python(connected).__enter__()
    connected.client.host = "a.machine.elsewhere"
    with interpreter.workers_python(connected):
        pass


def test_what_a_python_lacks_is_said() -> None:
    assert interpreter._obstacle(sys.executable) is None
    assert interpreter._obstacle("no-such-python") == "there is no such program"
    assert interpreter._obstacle("false") == "it does not start: no reason given"


def test_a_table_for_late_rows_is_made_over_files_that_are_there(spark: SparkSession, tmp_path: Path) -> None:
    """As when another process made it, whose catalog lived in memory."""
    rows, columns = union_streams(spark.createDataFrame([(1, "A")], "ts bigint, type string"), "type")
    schema = schema_of(columns, time="ts")
    name, other = f"late_{tmp_path.name}".replace("-", "_").lower(), "late_of_another"
    folder = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")) / name
    try:
        rows.toDF("ts", "type").write.parquet(str(folder))
        assert late_table(spark, name, rows, schema).endswith(str(folder))
        assert late_table(spark, name, rows, schema).endswith(str(folder))
        assert spark.table(name).collect() == [(1, "A")]
        spark.sql(f"CREATE TABLE {other} (ts bigint) USING parquet")
        with pytest.raises(CepheidError, match=r"bad-argument.*has other columns than the events: ts bigint"):
            late_table(spark, other, rows, schema)
        with pytest.raises(
            CepheidError, match=r"bad-argument.*late rows cannot be written to the table `a b`"
        ):
            late_table(spark, "a b", rows, schema)
    finally:
        for table in (name, other):
            spark.sql(f"DROP TABLE IF EXISTS {table}")
        shutil.rmtree(folder, ignore_errors=True)


def test_a_stream_of_odd_names_and_types_before_1970(spark: SparkSession, tmp_path: Path) -> None:
    """One micro-batch per file; the last after a restart with a shorter watermark, which then holds."""
    files = [range(-110, -90), range(-89, -79), [-112, *range(-78, -66)]]
    tables = [odd_rows(-112).take([n + 112 for n in numbers]) for numbers in files]
    (tmp_path / "in").mkdir()

    def add(number: int) -> None:
        path = tmp_path / "in" / f"{number}.parquet"
        pq.write_table(tables[number].rename_columns([f"c{place}" for place in range(len(NAMES))]), path)
        os.utime(path, (1_700_000_000 + number,) * 2)

    def run(watermark: int) -> None:
        types = [field.type for field in tables[0].schema]
        named = ", ".join(
            f"c{n} {'string' if types[n] == pa.string() else 'bigint'}" for n in range(len(types))
        )
        source = spark.readStream.schema(named).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
        source = source.withColumn("m", sql.expr("make_ym_interval(0, cast(c5 AS int))")).toDF(*NAMES, "m")
        found = cepheid.match(source, query, **KIND, watermark=watermark, late=tmp_path / "late")
        writer = found.selectExpr("match_id", "cast(x.m AS string) AS months").writeStream
        started = (
            writer.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(tmp_path / "out"))
        )
        assert started.awaitTermination(120)

    query = f'{PAIRS} PARTITION BY "*" WITHIN 20'
    add(0)
    add(1)
    run(10)
    add(2)
    run(3)
    in_time = pa.concat_tables([tables[0], tables[1], tables[2].slice(1)])
    every = cepheid.match(in_time, query, **KIND)
    given = spark.read.parquet(str(tmp_path / "out")).toArrow()
    rest = cepheid.finish(spark, tmp_path / "checkpoint").selectExpr(
        "match_id", "cast(x.m AS string) AS months", "end"
    )
    finished = rest.toArrow()
    # The newest time before the last micro-batch is -80: with a watermark of 3, times up to -83 have passed.
    assert len(given) == sum(end <= -83 for end in every["end"].to_pylist())
    assert min(finished["end"].to_pylist()) > -83
    assert min(len(given), len(finished)) > 3
    assert sorted(given["match_id"].to_pylist() + finished["match_id"].to_pylist()) == sorted(
        every["match_id"].to_pylist()
    )
    months = {
        match["match_id"]: f"INTERVAL '0-{match['x']['a b']}' YEAR TO MONTH" for match in every.to_pylist()
    }
    for part in (given, finished):
        for match in part.to_pylist():
            assert match["months"] == months[match["match_id"]]
    late = pq.read_table(tmp_path / "late")
    assert late["t.s"].to_pylist() == [-112]


def test_inner_names_are_told_apart_without_regard_to_case() -> None:
    names = [*NAMES, "a_b", "a_5f_b", "A B", "_", "__", "ß", "ẞ"]
    assert len({inner(name).casefold() for name in names}) == len(names)
    assert all(inner(name).replace("_", "a").isalnum() and inner(name).isascii() for name in names)
