"""The order of a stream: by time, ties by the order column, else by arrival."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from support.small_streams import THEN, error_of, ids, positions, stream


def test_match_and_count_sort_by_time() -> None:
    events = stream("BAB", ts=[3, 1, 2])
    found = cepheid.match(events, THEN, positions=True)
    assert found["positions"].to_pylist() == [[0, 1], [0, 2]]
    assert found["end"].to_pylist() == [2, 3]
    assert cepheid.count(events, THEN) == 2


def test_ties_without_an_order_column_keep_their_arrival() -> None:
    assert positions(stream("ABAB", ts=[1, 1, 1, 1]), THEN) == [[0, 1], [0, 3], [2, 3]]
    assert positions(stream("ABAB", ts=[2, 2, 1, 1]), THEN) == [[0, 1], [0, 3], [2, 3]]
    assert positions(stream("BA", ts=[1, 1]), THEN) == []


ORDERS: dict[str, list[Any]] = {
    "integers": [3, 1, None, 2],
    "reals": [float("nan"), -1.5, None, 0.0],
    "text": ["é", "B", None, "a"],
    "bytes": [b"\xff", b"", None, b"a"],
    "booleans": [True, False, None, False],
    "decimals": [Decimal("1.5"), Decimal(-2), None, Decimal("1.4")],
    "dates": [dt.date(2024, 1, 3), dt.date(2023, 1, 1), None, dt.date(2024, 1, 2)],
    "durations": [dt.timedelta(3), dt.timedelta(-1), None, dt.timedelta(2)],
}


@pytest.mark.parametrize("encoded", [False, True], ids=["plain", "dictionary"])
@pytest.mark.parametrize("name", ORDERS)
def test_ties_go_by_the_order_column_and_null_comes_last(name: str, encoded: bool) -> None:
    column = pa.array(ORDERS[name])
    if encoded:
        column = column.dictionary_encode()
    events = pa.table({"ts": [1] * 4, "type": list("BABA"), "o": column, "n": [0, 1, 2, 3]})
    found = cepheid.match(events, THEN, order="o")
    pairs = [(match["x"]["n"], match["y"]["n"]) for match in found.to_pylist()]
    assert sorted(pairs) == [(1, 0), (1, 2), (3, 0), (3, 2)]  # in the order 1, 3, 0, 2
    in_order = events.take([1, 3, 0, 2])
    engine = cepheid.query(THEN).engine(events.schema, order="o")
    pushed = pa.concat_tables([engine.push(in_order.slice(at, 1)) for at in range(4)])
    assert ids(pushed) == ids(found)
    for rows in ([0, 1], [2, 0]):
        engine = cepheid.query(THEN).engine(events.schema, order="o")
        assert error_of(lambda rows=rows, engine=engine: engine.push(events.take(rows))).code == "unsorted"


def test_equal_order_values_keep_their_arrival() -> None:
    events = stream("ABAB", ts=[1] * 4, o=pa.array([None] * 4, pa.int64()))
    assert positions(events, THEN, order="o") == [[0, 1], [0, 3], [2, 3]]
    nan = stream("ABAB", ts=[1] * 4, o=[float("nan")] * 4)
    assert positions(nan, THEN, order="o") == [[0, 1], [0, 3], [2, 3]]
    engine = cepheid.query(THEN).engine(nan.schema, order="o")
    assert len(engine.push(nan)) == 3


def test_identical_rows_are_events_of_their_own() -> None:
    events = stream("AABB", ts=[1, 1, 2, 2])
    found = cepheid.match(events, THEN, positions=True)
    assert sorted(found["positions"].to_pylist()) == [[0, 2], [0, 3], [1, 2], [1, 3]]
    assert len(set(ids(found))) == 4


def test_an_unsorted_push_names_the_row_and_leaves_the_engine_as_it_was() -> None:
    engine = cepheid.query(THEN).engine(stream("A").schema, positions=True)
    engine.push(stream("A"))
    before = engine.save()
    error = error_of(lambda: engine.push(stream("BBB", ts=[5, 6, 3])))
    assert error.code == "unsorted"
    assert "row 3 (time 3)" in error.message
    assert "match" in str(error.hint)
    assert error_of(lambda: engine.push(stream("B", ts=[-1]))).message.startswith("row 1 (time -1)")
    assert engine.save() == before
    assert engine.push(stream("B", ts=[1]))["positions"].to_pylist() == [[0, 1]]


def test_a_long_batch_is_checked_before_any_of_it_is_taken() -> None:
    length = (1 << 16) + 10
    times = np.arange(length)
    times[-1] = 0
    late = pa.table({"ts": times, "type": pa.array(["A"] * length)})
    engine = cepheid.query("SELECT * FROM s WHERE A AS x").engine(late.schema)
    assert f"row {length - 1} " in error_of(lambda: engine.push(late)).message
    missing = pa.table({"ts": pa.array([1] * (length - 1) + [None]), "type": late["type"]})
    assert f"row {length - 1}," in error_of(lambda: engine.push(missing)).message
    assert len(engine.push(late.slice(0, length - 1))) == length - 1


def test_one_column_may_have_several_roles() -> None:
    events = stream("ABB")
    assert positions(events, THEN, order="ts") == [[0, 1], [0, 2]]
    assert positions(events, THEN, order="type") == [[0, 1], [0, 2]]
    assert positions(events, 'SELECT * FROM s WHERE "0" AS x ; "2" AS y', type="ts") == [[0, 2]]
    assert positions(events, THEN + " FILTER x.ts < 1 PARTITION BY ts", order="ts") == []
    engine = cepheid.query(THEN).engine(events.schema, order="ts")
    assert len(engine.push(events.slice(0, 1))) + len(cepheid.load(engine.save()).push(events.slice(1))) == 2


def test_times_that_differ_by_nanoseconds_are_in_order() -> None:
    events = stream("BA", ts=pa.array([2, 1], pa.timestamp("ns")))
    assert positions(events, THEN) == [[0, 1]]
    assert positions(events, THEN, order="type") == [[0, 1]]
