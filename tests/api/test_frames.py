"""Data of every kind in, the same kind out, and the same matches in each."""

from __future__ import annotations

import datetime as dt
import pickle
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cepheid
from support.small_streams import THEN, error_of, ids, stream

EVENTS = stream("ABAB", v=[1.5, None, 2.5, 3.5], text=["é", "日本", "", None])

TO: dict[str, Callable[[pa.Table], Any]] = {
    "arrow": lambda table: table,
    "chunked": lambda table: pa.concat_tables([table.slice(0, 1), table.slice(1)]),
    "batch": lambda table: (
        table.combine_chunks().to_batches()[0]
        if len(table)
        else pa.RecordBatch.from_pylist([], schema=table.schema)
    ),
    "reader": lambda table: table.to_reader(),
    "pandas": lambda table: table.to_pandas(),
    "polars": lambda table: pl.from_arrow(table),
    "polars-lazy": lambda table: pl.from_arrow(table).lazy(),
}
KINDS = {
    "arrow": pa.Table,
    "chunked": pa.Table,
    "batch": pa.RecordBatch,
    "reader": pa.RecordBatchReader,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars-lazy": pl.LazyFrame,
}


def as_arrow(data: Any) -> pa.Table:
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if isinstance(data, pd.DataFrame):
        return pa.Table.from_pandas(data, preserve_index=False)
    if isinstance(data, pl.LazyFrame):
        data = data.collect()
    return data.to_arrow() if isinstance(data, pl.DataFrame) else data


@pytest.mark.parametrize("kind", TO)
def test_matches_come_out_as_the_kind_that_went_in(kind: str) -> None:
    found = cepheid.match(TO[kind](EVENTS), THEN, positions=True)
    assert isinstance(found, KINDS[kind])
    table = as_arrow(found)
    assert table.column_names == ["match_id", "start", "end", "x", "y", "positions"]
    assert [list(item) for item in table["positions"].to_pylist()] == [[0, 1], [2, 3], [0, 3]]
    assert ids(table) == ids(cepheid.match(EVENTS, THEN))
    assert [event["text"] for event in table["y"].to_pylist()] == ["日本", None, None]


@pytest.mark.parametrize("kind", TO)
def test_counting_takes_every_kind(kind: str) -> None:
    assert cepheid.count(TO[kind](EVENTS), THEN) == 3


@pytest.mark.parametrize("kind", TO)
def test_no_rows_give_no_matches_in_the_same_columns(kind: str) -> None:
    found = cepheid.match(TO[kind](EVENTS.slice(0, 0)), THEN, positions=True)
    assert isinstance(found, KINDS[kind])
    assert as_arrow(found).num_rows == 0
    assert as_arrow(found).column_names == ["match_id", "start", "end", "x", "y", "positions"]
    assert cepheid.count(TO[kind](EVENTS.slice(0, 0)), THEN) == 0


@pytest.mark.parametrize("kind", TO)
def test_a_dict_of_streams_gives_the_kind_of_its_streams(kind: str) -> None:
    parts = {"a": EVENTS.slice(0, 2).drop_columns("type"), "b": EVENTS.slice(2).drop_columns("type")}
    data = {name: TO[kind](table) for name, table in parts.items()}
    found = cepheid.match(data, "SELECT * FROM a, b WHERE a AS x ; b AS y")
    assert isinstance(found, KINDS[kind])
    assert as_arrow(found).num_rows == 4


@pytest.mark.parametrize("kind", TO)
def test_explain_takes_every_kind_and_reads_no_rows_of_what_can_be_read_once(kind: str) -> None:
    data = TO[kind](EVENTS)
    assert "evaluator: compact" in cepheid.explain(THEN, data)
    assert cepheid.count(data, THEN) == 3


def test_output_types_do_not_depend_on_the_kind() -> None:
    nested = EVENTS.append_column("tags", pa.array([["a"], None, [], ["b", "c"]]))
    expected = cepheid.match(nested, THEN).schema
    large = pl.from_arrow(nested).to_arrow()  # large strings, string views and large lists
    assert large.schema.types != nested.schema.types
    assert cepheid.match(large, THEN).schema == expected


def test_text_of_every_layout_is_read_alike() -> None:
    expected = cepheid.match(EVENTS, THEN)
    for dtype in (pa.large_string(), pa.string_view()):
        schema = pa.schema([("ts", pa.int64()), ("type", dtype), ("v", pa.float64()), ("text", dtype)])
        assert cepheid.match(EVENTS.cast(schema), THEN) == expected
    encoded = EVENTS.set_column(1, "type", EVENTS["type"].dictionary_encode())
    assert ids(cepheid.match(encoded, THEN)) == ids(expected)
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3, 4], pa.int32()), pa.array(list("ABAB")))
    assert cepheid.match(EVENTS.set_column(1, "type", runs), THEN) == expected


def test_categories_of_pandas_and_polars_are_types_and_keys() -> None:
    frame = EVENTS.to_pandas().assign(type=pd.Categorical(list("ABAB")), key=pd.Categorical(list("pppq")))
    assert len(cepheid.match(frame, THEN + " PARTITION BY key")) == 1
    for dtype in (pl.Categorical, pl.Enum(["A", "B"])):
        polars = pl.from_arrow(EVENTS).with_columns(pl.col("type").cast(dtype))
        assert cepheid.count(polars, THEN) == 3


def test_pandas_rows_may_have_any_index() -> None:
    frame = EVENTS.to_pandas().set_index(pd.Index([7, 7, 3, 1]))
    assert ids(pa.Table.from_pandas(cepheid.match(frame, THEN))) == ids(cepheid.match(EVENTS, THEN))


BROKEN = pytest.mark.skipif(pd.__version__ >= "3", reason="pandas 3 holds no broken columns of Arrow types")


@BROKEN
def test_maps_of_null_in_pandas_are_read_whatever_slicing_has_left_in_empty_chunks() -> None:
    maps = pa.table({"m": pa.array([[("k", None)]] * 2, pa.map_(pa.string(), pa.null()))})
    sliced = pa.concat_tables([maps.slice(0, 0), maps])
    frame = sliced.append_column("type", pa.array(["A", "B"])).append_column("ts", pa.array([1, 2]))
    held = frame.to_pandas(types_mapper=pd.ArrowDtype)
    with pytest.raises(pa.ArrowInvalid):  # else there is nothing to be shown
        pa.Table.from_pandas(held)
    assert len(cepheid.match(held, "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.m IS NOT NULL")) == 1


@BROKEN
def test_a_column_of_pandas_that_arrow_holds_for_broken_matters_only_where_it_is_read() -> None:
    lists = pa.array([[None]] * 3, pa.list_(pa.null())).slice(1)
    rows = pa.table({"ts": [1, 2], "type": ["A", "B"], "l": lists})
    frame = rows.to_pandas(types_mapper=pd.ArrowDtype)
    with pytest.raises(pa.ArrowInvalid):  # else there is nothing to be shown
        frame["l"].array.__arrow_array__().validate()
    query = "SELECT * FROM s WHERE A AS x ; B AS y"
    assert cepheid.count(frame, query) == 1
    assert len(cepheid.match(frame, query, columns=["start"])) == 1
    assert error_of(lambda: cepheid.match(frame, query)).code == "bad-data"


def test_times_of_pandas_and_polars_come_out_as_times() -> None:
    times = pd.to_datetime(["2024-01-01", "2024-01-02"], utc=True)
    frame = pd.DataFrame({"ts": times, "type": ["A", "B"]})
    found = cepheid.match(frame, THEN + " WITHIN 1 day")
    assert found["start"][0] == times[0]
    assert found["start"].dtype == frame["ts"].dtype
    polars = cepheid.match(
        pl.DataFrame({"ts": [dt.date(2024, 1, 1), dt.date(2024, 1, 2)], "type": ["A", "B"]}), THEN
    )
    assert polars["end"].to_list() == [dt.date(2024, 1, 2)]


def test_what_pandas_shows_as_missing_is_null_and_a_nan_of_arrow_and_polars_is_not() -> None:
    nan = stream("AA", v=[float("nan"), 1.0])
    missing, differs = ("SELECT * FROM s WHERE A AS x FILTER " + test for test in ("x.v IS NULL", "x.v <> 2"))
    assert [cepheid.count(nan, query) for query in (missing, differs)] == [0, 2]
    assert [cepheid.count(pl.from_arrow(nan), query) for query in (missing, differs)] == [0, 2]
    assert [cepheid.count(nan.to_pandas(), query) for query in (missing, differs)] == [1, 1]
    frame = pd.DataFrame({"ts": [pd.NaT, pd.Timestamp("2024-01-01")], "type": ["A", "B"]})
    assert error_of(lambda: cepheid.match(frame, THEN)).message.startswith(
        "time column `ts` is NULL in row 0"
    )


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2, "A"]], columns=["ts", "ts", "type"]),
        pd.DataFrame({"ts": [1, 2], "type": ["A", "B"], "mixed": [1, "a"]}),
        pd.DataFrame({"ts": [1, 2], "type": ["A", "B"], "objects": [object(), object()]}),
        pd.DataFrame({"ts": [1, 2], "type": ["A", "B"], "complex": [1j, 2j]}),
        pl.DataFrame({"ts": [1, 2], "type": ["A", "B"], "wide": pl.Series([1, 2], dtype=pl.Int128)}),
    ],
    ids=["repeated names", "mixed", "objects", "complex", "128 bits"],
)
def test_a_frame_that_arrow_cannot_hold_is_an_error_in_plain_words(frame: Any) -> None:
    error = error_of(lambda: cepheid.match(frame, THEN))
    assert error.code == "bad-data"
    assert "cannot be read" in error.message
    if len(set(frame.columns)) == len(frame.columns):
        assert cepheid.count(frame, THEN) == 1  # which reads no such column
    else:
        assert "cannot be read" in error_of(lambda: cepheid.count(frame, THEN)).message


def test_matches_that_pandas_cannot_hold_are_an_error_in_plain_words() -> None:
    far = pa.array([2**60, 2**60], pa.timestamp("s"))
    frame = stream("AB").to_pandas().assign(far=pd.Series(far.to_pandas()))
    error = error_of(lambda: cepheid.match(frame, THEN))
    assert error.code == "bad-data"
    assert "pyarrow" in str(error.hint)


@pytest.mark.parametrize("data", [None, 5, [1, 2], {"a": 5}, {"ts": [1, 2]}, {}], ids=str)
def test_what_is_no_data_is_refused_with_what_could_be(data: Any) -> None:
    for call in (cepheid.match, cepheid.count):
        assert error_of(lambda call=call: call(data, THEN)).code == "bad-data"


def test_a_path_where_nothing_is_is_refused() -> None:
    for call in (cepheid.match, cepheid.count):
        error = error_of(lambda call=call: call("ts", THEN))
        assert (error.code, error.message) == ("bad-argument", "ts: no such file or folder")


def test_streams_of_a_dict_are_of_one_kind() -> None:
    error = error_of(
        lambda: cepheid.match({"a": EVENTS, "b": EVENTS.to_pandas()}, "SELECT * FROM a, b WHERE A AS x")
    )
    assert error.message == "the streams of a dict must be of one kind; got arrow, pandas"


def test_a_parsed_query_travels_between_processes() -> None:
    parsed = cepheid.query(THEN + " FILTER x.v > 1 WITHIN 5")
    again = pickle.loads(pickle.dumps(parsed))
    assert str(again) == str(parsed)
    assert cepheid.match(EVENTS, again) == cepheid.match(EVENTS, parsed)


def test_errors_travel_between_processes() -> None:
    error = error_of(lambda: cepheid.query("SELECT * FROM s WHERE A AS x FILTER y.v > 1"))
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.code == error.code


def test_a_time_that_is_the_index_of_a_frame_is_no_column() -> None:
    frame = pd.DataFrame({"ts": [1, 2], "type": ["A", "B"]}).set_index("ts")
    for data in (frame, {"s": frame}):
        for call in (cepheid.match, cepheid.count, lambda data, query: cepheid.explain(query, data)):
            error = error_of(lambda call=call, data=data: call(data, THEN))  # type: ignore[misc]
            assert (error.code, error.hint) == ("unknown-column", "give `frame.reset_index()`")
    assert cepheid.count(frame.reset_index(), THEN) == 1
