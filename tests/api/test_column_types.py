"""Columns of every type: as attributes, times, types, order and keys; and columns with hostile names."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pytest

import cepheid
from support.small_streams import THEN, error_of, ids, positions, stream

EVALUATORS = ("compact", "semantics")

ATTRIBUTES: dict[str, pa.Array] = {
    **{str(dtype): pa.array([1, None], dtype) for dtype in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    **{str(dtype): pa.array([1, None], dtype) for dtype in (pa.uint8(), pa.uint16(), pa.uint32())},
    "uint64": pa.array([2**64 - 1, None], pa.uint64()),
    **{str(dtype): pa.array([1.5, None], dtype) for dtype in (pa.float16(), pa.float32(), pa.float64())},
    "decimal128": pa.array([Decimal("1.10"), None], pa.decimal128(10, 2)),
    "decimal256": pa.array([Decimal("1.10"), None], pa.decimal256(60, 2)),
    "bool": pa.array([True, None]),
    "string": pa.array(["é", None]),
    "binary": pa.array([b"\xff", None]),
    "fixed binary": pa.array([b"\xff\x00", None], pa.binary(2)),
    "date32": pa.array([1, None], pa.date32()),
    "date64": pa.array([86_400_000, None], pa.date64()),
    **{unit: pa.array([1, None], pa.timestamp(unit, tz="Europe/Paris")) for unit in ("s", "ms", "us", "ns")},
    "time32": pa.array([1, None], pa.time32("s")),
    "time64": pa.array([1000, None], pa.time64("ns")),
    "duration": pa.array([1, None], pa.duration("us")),
    "null": pa.array([None, None]),
    "dictionary": pa.array(["é", None]).dictionary_encode(),
}
NESTED: dict[str, pa.Array] = {
    "list": pa.array([[1], None]),
    "struct": pa.array([{"a": 1}, None]),
    "list of structs": pa.array([[{"a": "é"}], None]),
    "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
    "fixed list": pa.array([[1, 2], None], pa.list_(pa.int64(), 2)),
    "interval": pa.array([pa.MonthDayNano([1, 2, 3]), None]),
}


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("name", ATTRIBUTES | NESTED)
def test_attributes_of_every_type_come_out_as_they_went_in(name: str, evaluator: str) -> None:
    column = (ATTRIBUTES | NESTED)[name]
    found = cepheid.match(stream("AB", c=column), THEN, evaluator=evaluator)
    assert found["x"].type.field("c").type == column.type
    assert found["x"].combine_chunks().field("c").to_pylist() == column.slice(0, 1).to_pylist()
    assert found["y"].combine_chunks().field("c").null_count == 1


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("name", ATTRIBUTES | NESTED)
def test_every_type_can_be_tested_for_null(name: str, evaluator: str) -> None:
    events = stream("AB", c=(ATTRIBUTES | NESTED)[name])
    missing = "SELECT * FROM s WHERE (A AS x OR B AS x) FILTER x.c IS NULL"
    expected = [[0], [1]] if name == "null" else [[1]]
    assert positions(events, missing, evaluator=evaluator) == expected


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_every_type_of_single_values_is_a_partition_key_and_an_order(name: str) -> None:
    events = pa.concat_tables([stream("AB", c=ATTRIBUTES[name])] * 2)
    # A has the one key and B, NULL, the other, except where both are NULL.
    assert cepheid.count(events, THEN + " PARTITION BY c") == (4 if name == "null" else 0)
    found = cepheid.match(events, "SELECT * FROM s WHERE A AS x ; A AS y PARTITION BY c")
    assert found["c"].type == ATTRIBUTES[name].type
    assert found["c"].to_pylist() == ATTRIBUTES[name].slice(0, 1).to_pylist()
    assert cepheid.count(events, "SELECT * FROM s WHERE A AS x ; A AS y", order="c") == 1


@pytest.mark.parametrize("name", NESTED)
def test_nested_values_are_no_key_no_order_and_no_type(name: str) -> None:
    events = stream("AB", c=NESTED[name])
    error = error_of(lambda: cepheid.match(events, THEN + " PARTITION BY c"))
    assert (error.code, error.span.text if error.span else None) == ("type-mismatch", "c")
    for role in ("order", "type"):
        error = error_of(lambda role=role: cepheid.match(events, THEN, **{role: "c"}))
        assert error.code == "bad-argument"
        assert error.message.startswith(f"{role} column `c` has type")
        assert error.hint


def test_unions_come_out_as_structs() -> None:
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
    found = cepheid.match(stream("AB", c=union), THEN)
    assert [found[name].to_pylist()[0]["c"] for name in "xy"] == [{"0": 1, "1": None}, {"0": None, "1": "b"}]


def test_extension_types_come_out_as_what_they_store() -> None:
    uuids = pa.array([b"0123456789abcdef"] * 2, pa.uuid())
    found = cepheid.match(stream("AB", c=uuids), THEN + " PARTITION BY c")
    assert found["c"].to_pylist() == [b"0123456789abcdef"]


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2, 3], pa.int8()),
        pa.array([1, 2, 3], pa.uint64()),
        pa.array([1, 2, 3], pa.float32()),
        pa.array([1, 2, 3], pa.date32()),
        pa.array([day * 86_400_000 for day in (1, 2, 3)], pa.date64()),
        *(
            pa.array([1, 2, 3], pa.timestamp(unit, tz=zone))
            for unit in ("s", "ms", "us")
            for zone in (None, "Asia/Tokyo")
        ),
        pa.array([1000, 2000, 3000], pa.timestamp("ns")),
    ],
    ids=lambda column: str(column.type),
)
def test_times_of_every_type_order_events_and_come_out_as_they_went_in(
    column: pa.Array, evaluator: str
) -> None:
    shuffled = pa.table({"ts": column, "type": list("ABB")}).take([2, 0, 1])
    found = cepheid.match(shuffled, THEN, positions=True, evaluator=evaluator)
    assert found["positions"].to_pylist() == [[0, 1], [0, 2]]
    assert found["start"].type == column.type
    assert found["end"].combine_chunks() == column.slice(1)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["1", "2"]),
        pa.array([True, False]),
        pa.array([Decimal(1), Decimal(2)]),
        pa.array([1, 2], pa.duration("s")),
        pa.array([1, 2], pa.time32("s")),
        pa.array([None, None]),
        pa.array([[1], [2]]),
    ],
    ids=lambda column: str(column.type),
)
def test_what_is_no_time_is_refused_with_its_type(column: pa.Array) -> None:
    error = error_of(lambda: cepheid.match(pa.table({"ts": column, "type": ["A", "B"]}), THEN))
    assert error.code == "bad-time"
    assert str(column.type) in error.message
    assert ("add its date" if pa.types.is_time(column.type) else "cast") in str(error.hint)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([1, None], pa.int64()), "NULL in row 1"),
        (pa.array([float("nan"), 1.0]), "NaN in row 0"),
        (pa.array([1.0, float("-inf")]), "infinite in row 1"),
        (pa.array([1, 2**63], pa.uint64()), "outside the range of 64 bits with a sign in row 1"),
        (pa.array([1, 2**50], pa.timestamp("s")), "outside the range of microseconds in 64 bits in row 1"),
        (pa.array([-(2**31), 1], pa.date32()), "outside the range of microseconds in 64 bits in row 0"),
    ],
    ids=["null", "nan", "infinite", "uint64", "seconds", "days"],
)
def test_a_row_without_a_usable_time_is_named(column: pa.Array, words: str) -> None:
    events = pa.table({"ts": column, "type": ["A", "B"]})
    for call in (cepheid.match, cepheid.count):
        error = error_of(lambda call=call: call(events, THEN))
        assert error.code == "bad-time"
        assert words in error.message


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_windows_are_right_at_the_ends_of_64_bits(evaluator: str) -> None:
    least, most = -(2**63), 2**63 - 1
    events = pa.table({"ts": [least, least + 5, most - 5, most], "type": list("ABAB")})
    assert positions(events, THEN + " WITHIN 10", evaluator=evaluator) == [[0, 1], [2, 3]]
    assert positions(events, THEN + " WITHIN 5", evaluator=evaluator) == [[0, 1], [2, 3]]
    assert positions(events, THEN + " WITHIN 4", evaluator=evaluator) == []
    assert positions(events, THEN, evaluator=evaluator) == [[0, 1], [0, 3], [2, 3]]
    assert cepheid.count(events, THEN + " WITHIN 10", evaluator=evaluator) == 2
    keyed = events.append_column("k", pa.array([1, 1, 1, 1]))
    assert positions(keyed, THEN + " PARTITION BY k WITHIN 10", evaluator=evaluator) == [[0, 1], [2, 3]]


def test_the_widest_window_holds_what_is_that_far_apart() -> None:
    events = pa.table({"ts": [0, 2**62], "type": ["A", "B"]})
    assert positions(events, THEN + f" WITHIN {2**62}") == [[0, 1]]
    assert positions(events, THEN + f" WITHIN {2**62 - 1}") == []


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_times_outside_python_years_can_be_carried_and_compared(evaluator: str) -> None:
    events = stream("AB", far=pa.array([2**60, 1], pa.timestamp("s")))
    assert positions(events, THEN, evaluator=evaluator) == [[0, 1]]
    late = "SELECT * FROM s WHERE A AS x FILTER x.far > TIMESTAMP '2024-01-01'"
    assert positions(events, late, evaluator=evaluator) == [[0]]


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize(
    ("column", "name"),
    [
        (pa.array([1, 2]), '"1"'),
        (pa.array([1, 2]).dictionary_encode(), '"1"'),
        (pa.array([True, False]), '"True"'),
        (pa.array(["Ä日本", "b"]), "Ä日本"),
        (pa.array(["", "b"]), None),
        (pa.array([None, "b"]), None),
        (pa.array([None, None]), None),
    ],
    ids=["integer", "dictionary", "boolean", "non-ascii", "empty", "null", "all null"],
)
def test_types_are_compared_as_text_and_null_is_none(
    column: pa.Array, name: str | None, evaluator: str
) -> None:
    events = pa.table({"ts": [1, 2], "kind": column})
    query = f"SELECT * FROM s WHERE {name or 'None'} AS x"
    assert positions(events, query, type="kind", evaluator=evaluator) == ([[0]] if name else [])


@pytest.mark.parametrize(
    "name",
    ["\x00row", "__row", "__lane", "__tie", "match_id", "start", "positions", "", " ts", "a.b", "`", "日本"],
)
def test_columns_may_have_any_name_but_those_that_begin_with_nul(name: str) -> None:
    events = stream("AB", **{name: [7, 8]})
    if name.startswith("\x00"):
        assert error_of(lambda: cepheid.match(events, THEN)).code == "bad-data"
        return
    found = cepheid.match(events, THEN, positions=True)
    assert [event[name] for event in found["y"].to_pylist()] == [8]
    engine = cepheid.query(THEN).engine(events.schema)
    engine.push(events.slice(0, 1))
    assert cepheid.load(engine.save()).push(events.slice(1))["x"].to_pylist()[0][name] == 7


@pytest.mark.parametrize("name", ["match_id", "start", "end", "positions"])
def test_the_output_has_each_column_once(name: str) -> None:
    events = stream("AB", **{name: [1, 1]})
    for query in (THEN + f' PARTITION BY "{name}"', f'SELECT * FROM s WHERE A AS "{name}" ; B AS y'):
        error = error_of(lambda query=query: cepheid.match(events, query))
        assert error.code == "bad-argument"
        assert error.message == f"the output already has a column `{name}`"
        assert error.span is not None
        assert error.hint


def test_names_and_values_need_not_be_ascii() -> None:
    events = pa.table({"zeit": [1, 2], "größe": ["ß", "日本"], "typ": ["Ä", "Ö"]})
    query = "SELECT ü FROM σ WHERE Ä AS ü ; Ö AS ñ FILTER ñ.größe = '日本' AND ü.größe LIKE 'ß%' PARTITION BY zeit"
    assert cepheid.count(events, query, time="zeit", type="typ") == 0
    query = query.removesuffix(" PARTITION BY zeit")
    found = cepheid.match(events, query, time="zeit", type="typ")
    assert found["ü"].to_pylist() == [{"zeit": 1, "größe": "ß", "typ": "Ä"}]
    assert ids(cepheid.match(pl.from_arrow(events), query, time="zeit", type="typ").to_arrow()) == ids(found)


def test_a_table_without_columns_says_so() -> None:
    error = error_of(lambda: cepheid.match(pa.table({}), THEN))
    assert (error.code, error.hint) == ("unknown-column", "the data has no columns")


def test_dates_and_times_are_keys_by_value() -> None:
    days = [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2), dt.datetime(2024, 1, 1), None, None]
    for dtype in (pa.timestamp("s"), pa.timestamp("ns"), pa.date32(), pa.date64()):
        events = stream("AABAB", k=pa.array(days).cast(pa.timestamp("us")).cast(dtype))
        assert positions(events, THEN + " PARTITION BY k") == [[0, 2], [3, 4]]
