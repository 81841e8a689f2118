"""Readers, datasets, paths and Arrow streams: read piece by piece, in bounded memory, and given back batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import cepheid
from support.small_streams import THEN, error_of, ids, stream

EVENTS = stream("ABCABBAC" * 40, v=list(range(320)))
PAIRS = THEN + " WITHIN 9"


class Capsule:
    """What has nothing but `__arrow_c_stream__`, and gives its rows once."""

    def __init__(self, table: pa.Table) -> None:
        self._reader = table.to_reader()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._reader.__arrow_c_stream__(requested_schema)


def parquet(table: pa.Table, folder: Path) -> Path:
    half = len(table) // 2
    for number, part in enumerate((table.slice(0, half), table.slice(half))):
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=50)
    return folder


def csv(table: pa.Table, folder: Path) -> Path:
    pyarrow.csv.write_csv(table, folder / "a.csv")
    return folder / "a.csv"


def json(table: pa.Table, folder: Path) -> Path:
    pl.from_arrow(table).write_ndjson(folder / "a.jsonl")
    return folder / "a.jsonl"


FEEDS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "reader": lambda table, _: table.to_reader(max_chunksize=17),
    "dataset": lambda table, folder: ds.dataset(parquet(table, folder)),
    "dataset in memory": lambda table, _: ds.dataset(table),
    "folder": parquet,
    "text of a path": lambda table, folder: str(parquet(table, folder)),
    "csv": csv,
    "json": json,
}


@pytest.mark.parametrize("kind", FEEDS)
def test_the_matches_are_those_of_the_table_and_come_as_a_reader(kind: str, tmp_path: Path) -> None:
    found = cepheid.match(FEEDS[kind](EVENTS, tmp_path), PAIRS, positions=True)
    assert isinstance(found, pa.RecordBatchReader)
    expected = cepheid.match(EVENTS, PAIRS, positions=True)
    assert found.read_all().sort_by("match_id") == expected.sort_by("match_id")


@pytest.mark.parametrize("kind", FEEDS)
def test_counts_are_those_of_the_table(kind: str, tmp_path: Path) -> None:
    assert cepheid.count(FEEDS[kind](EVENTS, tmp_path), PAIRS) == cepheid.count(EVENTS, PAIRS)


@pytest.mark.parametrize("kind", [kind for kind in FEEDS if kind != "reader"])
def test_what_can_be_read_again_may_be_in_any_order(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed = EVENTS.take(np.random.default_rng(5).permutation(len(EVENTS)))
    expected = ids(cepheid.match(mixed, PAIRS))
    assert ids(cepheid.match(FEEDS[kind](mixed, tmp_path), PAIRS).read_all()) == expected
    assert cepheid.count(FEEDS[kind](mixed, tmp_path), PAIRS) == len(expected)


def test_a_reader_out_of_order_is_an_error_with_the_fix() -> None:
    late = pa.concat_tables([EVENTS.slice(100), EVENTS.slice(0, 100)])
    found = cepheid.match(late.to_reader(max_chunksize=50), PAIRS)
    error = error_of(found.read_all)
    assert (error.code, "row 220 (time 0)" in error.message) == ("unsorted", True)
    assert "`reader.read_all()`" in str(error.hint)
    assert error_of(lambda: cepheid.count(late.to_reader(), PAIRS)).hint == error.hint
    both = {"a": late.drop_columns("type").to_reader(), "b": EVENTS.drop_columns("type").to_reader()}
    error = error_of(lambda: cepheid.count(both, "SELECT * FROM a, b WHERE a AS x ; b AS y WITHIN 2"))
    assert (error.code, "stream `a`" in error.message) == ("unsorted", True)


def test_matches_are_made_while_the_reader_is_read() -> None:
    drawn = []

    def batches() -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(EVENTS.to_batches(max_chunksize=32)):
            drawn.append(number)
            yield batch

    found = cepheid.match(pa.RecordBatchReader.from_batches(EVENTS.schema, batches()), PAIRS)
    assert drawn == []
    assert found.read_next_batch().num_rows > 0
    assert len(drawn) < 3
    limited = cepheid.match(pa.RecordBatchReader.from_batches(EVENTS.schema, batches()), PAIRS, limit=5)
    assert limited.read_all().num_rows == 5
    assert len(drawn) < 6


@pytest.mark.parametrize("seed", range(12))
def test_several_feeds_are_merged_as_tables_are(seed: int, tmp_path: Path) -> None:
    """Ties between the streams, within one and across its batches; other units of time; columns that one lacks."""
    random = np.random.default_rng(seed)

    def part(extra: str, unit: str) -> pa.Table:
        length = int(random.integers(0, 60))
        times = np.sort(random.integers(0, random.integers(1, 40), length)) * 1000
        scaled = times if unit == "us" else times // 1000
        return pa.table(
            {"ts": pa.array(scaled, pa.timestamp(unit)), extra: pa.array(random.integers(0, 3, length))}
        )

    parts = {"a": part("v", "us"), "b": part("w", "ms"), "c": part("v", "us")}
    query = "SELECT * FROM a, b, c WHERE a AS x ; b AS y : c AS z WITHIN 9 ms"
    expected = cepheid.match(parts, query, positions=True)
    chunk = int(random.integers(1, 20))
    feeds = {name: table.to_reader(max_chunksize=chunk) for name, table in parts.items()}
    found = cepheid.match(feeds, query, positions=True).read_all()
    assert found.sort_by("match_id") == expected.sort_by("match_id")
    mixed = {
        "a": parts["a"].to_reader(max_chunksize=chunk),
        "b": ds.dataset(parts["b"]),
        "c": ds.dataset(parts["c"]),
    }
    assert cepheid.count(mixed, query) == len(expected)


def test_an_arrow_stream_of_any_library_is_a_table() -> None:
    expected = cepheid.match(EVENTS, PAIRS)
    assert cepheid.match(Capsule(EVENTS), PAIRS) == expected
    assert cepheid.count(Capsule(EVENTS.take(list(reversed(range(320))))), PAIRS) == len(expected)
    assert "evaluator: chain" in cepheid.explain(PAIRS, Capsule(EVENTS))


def test_duckdb_gives_events_and_takes_matches() -> None:
    events = EVENTS  # noqa: F841, found by its name
    with duckdb.connect() as connection:
        relation = connection.sql("SELECT * FROM events WHERE v < 200")
        matches = cepheid.match(relation, PAIRS)  # noqa: F841, found by its name
        expected = cepheid.match(EVENTS.filter(pc.less(EVENTS["v"], 200)), PAIRS)
        (number, most), *_ = connection.sql("SELECT count(*), max(y.v) FROM matches").fetchall()
        assert (number, most) == (len(expected), pc.max(pc.struct_field(expected["y"], "v")).as_py())
        lazily = cepheid.match(EVENTS.to_reader(), PAIRS)  # noqa: F841, found by its name
        assert connection.sql("SELECT count(*) FROM lazily").fetchall() == [(cepheid.count(EVENTS, PAIRS),)]
        assert cepheid.count(relation, PAIRS) == len(expected)


def test_only_the_columns_that_are_needed_are_read(tmp_path: Path) -> None:
    """A column that cannot be read does no harm where nothing asks for it."""
    table = EVENTS.append_column("wide", pa.array(["x" * 1000] * len(EVENTS)))
    pq.write_table(table, tmp_path / "a.parquet", compression="none", use_dictionary=False)
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    chunk = pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(0).column(3)
    data[chunk.data_page_offset : chunk.data_page_offset + 50] = b"\xff" * 50
    (tmp_path / "a.parquet").write_bytes(data)
    path = tmp_path / "a.parquet"
    assert cepheid.count(path, PAIRS) == cepheid.count(EVENTS, PAIRS)
    spans = cepheid.match(path, PAIRS, columns=["start", "end"]).read_all()
    assert spans == cepheid.match(EVENTS, PAIRS, columns=["start", "end"])
    assert error_of(lambda: cepheid.match(path, PAIRS).read_all()).code == "bad-data"


def test_memory_is_bounded_by_the_window_not_by_the_data(tmp_path: Path) -> None:
    rows, groups = 2_000, 200
    path = tmp_path / "long.parquet"
    schema = pa.schema([("ts", pa.int64()), ("type", pa.string()), ("v", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for group in range(groups):
            begin = group * rows
            types = pa.array(["A", "B"] + ["C"] * 98).take(np.arange(rows) % 100)
            values = pa.array(np.arange(begin, begin + rows)).cast(pa.string())
            writer.write_table(
                pa.table([np.arange(begin, begin + rows), types, pc.binary_repeat(values, 10)], schema=schema)
            )
    size = sum(group.total_byte_size for group in map(pq.ParquetFile(path).metadata.row_group, range(groups)))
    held = pa.total_allocated_bytes()
    most = matches = 0
    for batch in cepheid.match(path, THEN + " WITHIN 50"):
        matches += batch.num_rows
        most = max(most, pa.total_allocated_bytes() - held)
    assert matches == rows * groups // 100
    assert size > 25_000_000
    assert most < size / 4
