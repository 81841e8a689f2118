"""A match has one id: in every run, kind of data, evaluator, unit of time and cut into batches."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cepheid
from support.small_streams import ids, stream

EVENTS = stream("AABBAB", ts=[1, 1, 2, 2, 2, 3], k=["p", "p", "p", None, "p", None])
QUERIES = [
    "SELECT * FROM s WHERE (A AS x)+ ; B AS y",
    "SELECT * FROM s WHERE (A AS x)+ ; B AS y PARTITION BY k",
    "SELECT * FROM s WHERE (A AS x OR A AS z) ; B AS y",
]


@pytest.mark.parametrize("query", QUERIES)
def test_ids_are_distinct_even_for_rows_that_are_the_same(query: str) -> None:
    found = ids(cepheid.match(EVENTS, query))
    assert len(set(found)) == len(found) == cepheid.count(EVENTS, query) > 0


@pytest.mark.parametrize("query", QUERIES)
def test_ids_are_the_same_for_every_kind_evaluator_and_cut(query: str) -> None:
    expected = ids(cepheid.match(EVENTS, query))
    assert ids(pa.Table.from_pandas(cepheid.match(EVENTS.to_pandas(), query))) == expected
    assert ids(cepheid.match(pl.from_arrow(EVENTS), query).to_arrow()) == expected
    assert ids(cepheid.match(EVENTS, query, evaluator="semantics")) == expected
    assert ids(cepheid.match(EVENTS, query, order="ts")) == expected
    for size in (1, 2, 5):
        engine = cepheid.query(query).engine(EVENTS.schema)
        parts = [engine.push(EVENTS.slice(at, size)) for at in range(0, 6, size)]
        assert ids(pa.concat_tables(parts)) == expected


@pytest.mark.parametrize("query", QUERIES)
def test_ids_are_the_same_in_every_unit_of_time(query: str) -> None:
    seconds = EVENTS["ts"].cast(pa.timestamp("s"))
    types = [pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC")]
    columns = [seconds.cast(pa.timestamp(dtype.unit)).cast(dtype) for dtype in types]
    found = [ids(cepheid.match(EVENTS.set_column(0, "ts", column), query)) for column in columns]
    assert all(item == found[0] for item in found)
    days = pd.to_datetime(EVENTS["ts"].to_numpy(), unit="D")
    as_date = EVENTS.set_column(0, "ts", pa.array(days).cast(pa.date32()))
    as_time = EVENTS.set_column(0, "ts", pa.array(days))
    assert ids(cepheid.match(as_date, query)) == ids(cepheid.match(as_time, query))


def test_ids_do_not_depend_on_the_width_or_layout_of_times_and_keys() -> None:
    query = QUERIES[1]
    expected = ids(cepheid.match(EVENTS, query))
    for dtype in (pa.int8(), pa.uint64()):
        assert ids(cepheid.match(EVENTS.set_column(0, "ts", EVENTS["ts"].cast(dtype)), query)) == expected
    for dtype in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int16(), pa.string())):
        assert ids(cepheid.match(EVENTS.set_column(2, "k", EVENTS["k"].cast(dtype)), query)) == expected


def test_ids_tell_keys_apart() -> None:
    events = stream("AABB", ts=[1, 1, 2, 2], k=["p", "q", "p", "q"])
    found = cepheid.match(events, "SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY k")
    assert len(set(ids(found))) == 2


def test_ids_tell_bindings_apart_and_not_the_attributes() -> None:
    both = cepheid.match(stream("A"), "SELECT * FROM s WHERE A AS x OR A AS y")
    assert len(set(ids(both))) == 2
    one = "SELECT * FROM s WHERE A AS x"
    assert ids(cepheid.match(stream("A", v=[1]), one)) == ids(cepheid.match(stream("A", v=[2]), one))
