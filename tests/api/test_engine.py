"""The engine pushed by hand: batches cut anywhere, wrong batches, the end of the stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from support.small_streams import THEN, error_of, ids, stream

EVENTS = stream("ABAB", v=[1, 2, 3, 4])


def pushed(query: str, events: pa.Table, size: int, **options: Any) -> pa.Table:
    engine = cepheid.query(query).engine(events.schema, **options)
    parts = [engine.push(events.slice(at, size)) for at in range(0, len(events), size)]
    return pa.concat_tables([*parts, engine.finish()])


@pytest.mark.parametrize("evaluator", ["compact", "semantics"])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_batches_of_any_size_give_the_same_matches(size: int, evaluator: str) -> None:
    whole = cepheid.match(EVENTS, THEN, positions=True)
    parts = pushed(THEN, EVENTS, size, positions=True, evaluator=evaluator)
    assert parts.schema == whole.schema
    columns = [("match_id", "ascending")]
    assert parts.sort_by(columns) == whole.sort_by(columns)


def test_a_push_takes_tables_and_record_batches_and_gives_tables() -> None:
    engine = cepheid.query(THEN).engine(EVENTS.schema)
    assert isinstance(engine.push(EVENTS.slice(0, 2)), pa.Table)
    assert len(engine.push(EVENTS.slice(2).combine_chunks().to_batches()[0])) == 2


def test_an_empty_push_changes_nothing() -> None:
    engine = cepheid.query(THEN).engine(EVENTS.schema, order="v")
    empty = engine.push(EVENTS.slice(0, 0))
    assert (len(empty), empty.schema) == (0, engine.output_schema)
    engine.push(EVENTS.slice(0, 1))
    engine.push(EVENTS.slice(0, 0))
    engine.push(pa.RecordBatch.from_pylist([], schema=EVENTS.schema))
    assert len(engine.push(EVENTS.slice(1))) == 3
    untouched = cepheid.query(THEN).engine(EVENTS.schema)
    assert len(untouched.finish()) == 0


def test_columns_may_come_in_any_order_with_others_beside_them() -> None:
    engine = cepheid.query(THEN).engine(EVENTS.schema)
    other = EVENTS.select(["v", "type", "ts"]).append_column("more", pa.array(list("abcd")))
    assert ids(engine.push(other)) == ids(cepheid.match(EVENTS, THEN))


def test_values_that_fit_the_schema_are_cast_to_it() -> None:
    engine = cepheid.query(THEN).engine(EVENTS.schema)
    narrow = EVENTS.set_column(0, "ts", EVENTS["ts"].cast(pa.int8()))
    narrow = narrow.set_column(1, "type", narrow["type"].dictionary_encode())
    assert ids(engine.push(narrow)) == ids(cepheid.match(EVENTS, THEN))


@pytest.mark.parametrize(
    "dtype", [pa.string_view(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str
)
def test_a_schema_in_any_layout_of_text_takes_batches_in_that_layout(dtype: pa.DataType) -> None:
    events = EVENTS.set_column(1, "type", EVENTS["type"].cast(dtype))
    assert ids(pushed(THEN + " PARTITION BY type", events, 1)) == []
    assert ids(pushed(THEN, events, 1)) == ids(cepheid.match(EVENTS, THEN))


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (None, "requires a pyarrow RecordBatch or Table; got a builtins.NoneType"),
        (EVENTS.to_pandas(), "got a pandas"),
        (EVENTS.to_reader(), "got a pyarrow.lib.RecordBatchReader"),
        (EVENTS.drop_columns("v"), "has no column `v`"),
        (EVENTS.append_column("v", EVENTS["v"]), "has 2 columns `v`"),
        (EVENTS.set_column(0, "ts", pa.array(list("abcd"))), "does not fit the engine's schema"),
        (EVENTS.set_column(0, "ts", pa.array([[1]] * 4)), "does not fit the engine's schema"),
        (EVENTS.set_column(0, "ts", pa.array([0.5] * 4)), "does not fit the engine's schema"),
    ],
    ids=["none", "pandas", "reader", "missing", "repeated", "text", "lists", "fractions"],
)
def test_a_batch_that_does_not_fit_is_refused_and_the_engine_goes_on(batch: Any, words: str) -> None:
    engine = cepheid.query(THEN).engine(EVENTS.schema)
    engine.push(EVENTS.slice(0, 1))
    error = error_of(lambda: engine.push(batch))
    assert error.code == "bad-data"
    assert words in error.message
    assert len(engine.push(EVENTS.slice(1))) == 3


@pytest.mark.parametrize("schema", [None, EVENTS, ["ts", "type"]], ids=["none", "table", "names"])
def test_what_is_no_schema_is_refused(schema: Any) -> None:
    assert error_of(lambda: cepheid.query(THEN).engine(schema)).code == "bad-argument"


def test_a_schema_with_a_repeated_name_is_refused() -> None:
    repeated = pa.schema([("ts", pa.int64()), ("ts", pa.int64())])
    assert error_of(lambda: cepheid.query(THEN).engine(repeated)).message.endswith("repeated: `ts`")


def test_after_the_end_nothing_can_be_pushed() -> None:
    engine = cepheid.query(THEN).engine(EVENTS.schema)
    engine.push(EVENTS)
    assert len(engine.finish()) == 0
    assert len(engine.finish()) == 0
    for ended in (engine, cepheid.load(engine.save())):
        error = error_of(lambda ended=ended: ended.push(EVENTS))
        assert error.code == "bad-argument"
        assert "`finish` ended the stream" in error.message


def test_after_a_push_that_failed_half_way_nothing_can_be_pushed() -> None:
    engine = cepheid.query("SELECT * FROM s WHERE (A AS x)+").engine(stream("A").schema)
    assert len(engine.push(stream("A"))) == 1
    saved = engine.save()
    more = stream("A" * 60, ts=range(1, 61))
    assert error_of(lambda: engine.push(more)).code == "too-many-matches"
    error = error_of(lambda: engine.push(stream("A", ts=[61])))
    assert error.code == "bad-argument"
    assert "an earlier push failed" in error.message
    assert len(cepheid.load(saved).push(stream("A", ts=[61]))) == 2


def test_a_limit_counts_over_all_batches_and_saves() -> None:
    events = stream("AB" * 10)
    engine = cepheid.query(THEN).engine(events.schema, limit=5)
    found = []
    for at in range(20):
        found.append(len(engine.push(events.slice(at, 1))))
        engine = cepheid.load(engine.save())
    assert sum(found) == 5
    assert len(pushed(THEN + " LIMIT 7", events, 3)) == 7
    assert len(pushed(THEN + " FILTER x.ts < y.ts LIMIT 7", events, 3)) == 7


def test_thousands_of_batches_of_one_row() -> None:
    rng = np.random.default_rng(5)
    events = pa.table({"ts": np.arange(2000), "type": pa.array(rng.choice(list("ABCD"), 2000))})
    query = "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z WITHIN 12"
    assert ids(pushed(query, events, 1)) == ids(cepheid.match(events, query))


def test_one_batch_of_a_million_rows() -> None:
    types = np.array(list("ABC"))[np.arange(1_000_000) % 3]
    events = pa.table({"ts": np.arange(1_000_000), "type": pa.array(types)})
    query = "SELECT NXT * FROM s WHERE A AS x : B AS y : C AS z WITHIN 2"
    assert cepheid.count(events, query) == 333_333
    found = cepheid.match(events, query, positions=True)
    starts = found["positions"].combine_chunks().flatten().to_numpy()[::3]
    assert np.array_equal(starts, np.arange(0, 999_999, 3))
    assert len(set(ids(found))) == 333_333
