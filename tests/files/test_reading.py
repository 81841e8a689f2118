"""Files as batches: what they hold, in the types that were inferred; paths of every kind."""

from __future__ import annotations

import datetime as dt
import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from cepheid.files.reading import open_files, open_path
from support.small_streams import error_of

CSV = 'ts,name,v\n2024-01-01T00:00:00Z,"a, ""b""",1\n2024-01-01T00:00:01Z,,2.5\n2024-01-01T00:00:02Z,"",\n'
JSON = """{"ts": "2024-01-01T00:00:00Z", "name": "12", "v": 1, "at": {"x": 1, "day": "2024-01-01"}, "gone": null}
{"ts": "2024-01-01T00:00:01Z", "v": 2.5, "at": {"x": 2, "y": [1.5]}, "late": true}
"""


def rows(path: Path, columns: list[str] | None = None) -> list[dict[str, object]]:
    files = open_path(path)
    return [row for batch in files.batches(columns or files.schema.names) for row in batch.to_pylist()]


def moment(second: int) -> dt.datetime:
    return dt.datetime(2024, 1, 1, 0, 0, second, tzinfo=dt.UTC)


def test_csv_has_typed_values_and_tells_empty_from_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(CSV)
    assert rows(path) == [
        {"ts": moment(0), "name": 'a, "b"', "v": 1.0},
        {"ts": moment(1), "name": None, "v": 2.5},
        {"ts": moment(2), "name": "", "v": None},
    ]
    assert rows(path, ["v"])[1] == {"v": 2.5}


def test_json_has_nested_values_and_columns_that_come_late(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(JSON)
    assert open_path(path).schema.field("gone").type == pa.string()
    assert rows(path) == [
        {
            "ts": moment(0),
            "name": "12",
            "v": 1.0,
            "at": {"x": 1, "day": "2024-01-01", "y": None},
            "gone": None,
            "late": None,
        },
        {
            "ts": moment(1),
            "name": None,
            "v": 2.5,
            "at": {"x": 2, "day": None, "y": [1.5]},
            "gone": None,
            "late": True,
        },
    ]


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_types_are_those_of_all_values_not_of_the_first(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepheid.files.reading._BLOCK", 1 << 10)
    path = tmp_path / f"a.{ending}"
    whole, other = [f"{n}" for n in range(300_000)], "0.5"
    if ending == "csv":
        path.write_text("\n".join(["v", *whole, other]) + "\n")
    else:
        path.write_text("".join(f'{{"v": {value}}}\n' for value in [*whole[:20_000], other]))
    files = open_path(path)
    assert files.schema.field("v").type == pa.float64()
    last = pa.Table.from_batches(files.batches(["v"]))["v"][-1].as_py()
    assert last == 0.5


def test_compressed_text_is_read(tmp_path: Path) -> None:
    for name, text in (("a.csv.gz", CSV), ("a.json.gz", JSON)):
        with gzip.open(tmp_path / name, "wt") as file:
            file.write(text)
        assert rows(tmp_path / name)[1]["v"] == 2.5


def test_folders_and_patterns_are_all_their_files_in_order_of_names(tmp_path: Path) -> None:
    table = pa.table({"v": [1, 2]})
    for number in range(3):
        pq.write_table(pa.table({"v": [number]}), tmp_path / f"{number}.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    assert [row["v"] for row in rows(tmp_path)] == [0, 1, 2]
    assert [row["v"] for row in rows(tmp_path / "[02]*.parquet")] == [0, 2]
    pyarrow.feather.write_feather(table, tmp_path / "a.feather")
    pyarrow.orc.write_table(table, tmp_path / "a.orc")
    assert rows(tmp_path / "a.feather") == rows(tmp_path / "a.orc") == table.to_pylist()


def test_a_folder_of_csv_is_recognised_and_its_headers_must_agree(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("a,b\n3,x\n")
    assert rows(tmp_path) == [{"a": 1, "b": "2"}, {"a": 3, "b": "x"}]
    (tmp_path / "3.csv").write_text("b,a\n3,4\n")
    assert "have the same header" in str(error_of(lambda: open_path(tmp_path)))


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "ticks.csv").write_text("a\n1\n")
    (tmp_path / "bad.parquet").write_text("no")
    (tmp_path / "mixed.json").write_text('{"a": 1}\n{"a": "x"}\n')
    (tmp_path / "short.csv").write_text("a,b\n1\n")
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "none").mkdir()
    assert (
        error_of(lambda: open_path(tmp_path / "tick.csv")).hint == f"did you mean {tmp_path / 'ticks.csv'}?"
    )
    assert "holds no files" in error_of(lambda: open_files([str(tmp_path / "none")], "csv")).message
    assert error_of(lambda: open_files([str(tmp_path / "ticks.csv")], "xlsx")).code == "bad-argument"
    for name in ("bad.parquet", "mixed.json", "short.csv", "empty.json"):
        error = error_of(lambda name=name: open_path(tmp_path / name))
        assert (error.code, name in error.message) == ("bad-data", True)
