"""What a match looks like: its columns, their types, and which variables they show."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cepheid
from support.small_streams import THEN, positions, stream

EVENTS = stream("AABBC", v=[1, 2, 3, 4, 5], k=["p", "q", "p", "q", "p"])
EVENT = pa.struct([("ts", pa.int64()), ("type", pa.string()), ("v", pa.int64()), ("k", pa.string())])


def test_columns_come_in_one_order_with_fixed_types() -> None:
    query = "SELECT * FROM s WHERE A AS x ; (B AS y)+ ; C? PARTITION BY k"
    found = cepheid.match(EVENTS, query, positions=True)
    expected = {
        "match_id": pa.string(),
        "k": pa.string(),
        "start": pa.int64(),
        "end": pa.int64(),
        "x": EVENT,
        "y": pa.list_(EVENT),
        "C": EVENT,
        "positions": pa.list_(pa.int64()),
    }
    assert dict(zip(found.column_names, found.schema.types, strict=True)) == expected
    assert cepheid.query(query).engine(EVENTS.schema, positions=True).output_schema == found.schema
    assert all(len(item) == 32 and int(item, 16) >= 0 for item in found["match_id"].to_pylist())


def test_a_match_shows_its_events_with_all_their_columns() -> None:
    found = cepheid.match(
        EVENTS, "SELECT * FROM s WHERE A AS x ; (B AS y)+ ; C PARTITION BY k", positions=True
    )
    (match,) = found.drop_columns("match_id").to_pylist()
    first, last = {"ts": 0, "type": "A", "v": 1, "k": "p"}, {"ts": 4, "type": "C", "v": 5, "k": "p"}
    middle = {"ts": 2, "type": "B", "v": 3, "k": "p"}
    expected = {"k": "p", "start": 0, "end": 4, "x": first, "y": [middle], "C": last, "positions": [0, 2, 4]}
    assert match == expected


def test_a_part_that_may_be_left_out_is_null_or_an_empty_list() -> None:
    found = cepheid.match(stream("AC"), "SELECT * FROM s WHERE A AS x ; B? ; (B AS y)* ; C AS z")
    (match,) = found.to_pylist()
    assert match["B"] is None
    assert match["y"] == []


@pytest.mark.parametrize("evaluator", ["compact", "semantics"])
def test_selecting_some_variables_shows_those_and_drops_what_then_is_the_same(evaluator: str) -> None:
    either = "FROM s WHERE (A AS x OR A AS y) ; C AS z"
    every = cepheid.match(EVENTS, "SELECT * " + either, evaluator=evaluator)
    assert every.column_names[3:] == ["x", "y", "z"]
    assert len(every) == 4
    some = cepheid.match(EVENTS, "SELECT z " + either, evaluator=evaluator)
    assert some.column_names[3:] == ["z"]
    assert len(some) == 2
    order = cepheid.match(EVENTS, "SELECT z, x " + either, evaluator=evaluator)
    assert order.column_names[3:] == ["z", "x"]
    assert len(order) == 4


def test_unnamed_atoms_are_shown_under_their_type() -> None:
    found = cepheid.match(EVENTS, "SELECT * FROM s WHERE A ; B+ ; C WITHIN 3")
    assert found.column_names[3:] == ["A", "B", "C"]
    assert found["A"].to_pylist()[0]["v"] == 2
    middles = sorted([event["v"] for event in events] for events in found["B"].to_pylist())
    assert middles == [[3], [3, 4], [4]]


def test_one_type_twice_is_a_list() -> None:
    found = cepheid.match(EVENTS, "SELECT * FROM s WHERE A ; A")
    assert [event["v"] for event in found["A"].to_pylist()[0]] == [1, 2]


def test_a_type_that_never_occurs_matches_nothing() -> None:
    for query in ("SELECT * FROM s WHERE Z AS x", "SELECT * FROM s WHERE A AS x ; Z AS y"):
        assert positions(EVENTS, query) == []
        assert cepheid.count(EVENTS, query) == 0
    assert positions(EVENTS, "SELECT * FROM s WHERE Z AS x OR C AS x") == [[4]]


def test_types_are_told_apart_by_case() -> None:
    assert positions(stream("aA"), "SELECT * FROM s WHERE a AS x") == [[0]]


def test_positions_are_those_of_the_whole_stream_in_its_order() -> None:
    shuffled = EVENTS.take([4, 3, 2, 1, 0])
    query = "SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY k"
    assert positions(EVENTS, query) == positions(shuffled, query) == [[0, 2], [1, 3]]
    assert "positions" not in cepheid.match(EVENTS, query).column_names


def test_one_event_is_a_match_on_its_own() -> None:
    found = cepheid.match(stream("A"), "SELECT * FROM s WHERE A AS x", positions=True)
    assert found["positions"].to_pylist() == [[0]]
    assert found["start"] == found["end"]
    assert len(cepheid.match(stream("A"), THEN)) == 0


@pytest.mark.parametrize("evaluator", ["compact", "semantics"])
def test_consuming_forgets_what_came_before_in_the_same_partition_only(evaluator: str) -> None:
    events = stream("AABABB", k=[1, 2, 1, 1, 2, 1])
    assert positions(events, THEN + " CONSUME", evaluator=evaluator) == [[0, 2], [1, 2], [3, 4]]
    keyed = positions(events, THEN + " PARTITION BY k CONSUME", evaluator=evaluator)
    assert keyed == [[0, 2], [1, 4], [3, 5]]
    assert cepheid.count(events, THEN + " CONSUME", evaluator=evaluator) == 3


@pytest.mark.parametrize("evaluator", ["compact", "semantics"])
def test_null_and_nan_satisfy_no_comparison_but_nan_differs(evaluator: str) -> None:
    events = stream("AAA", v=pa.array([None, float("nan"), 1.0]))

    def matching(condition: str) -> list[list[int]]:
        return positions(events, f"SELECT * FROM s WHERE A AS x FILTER {condition}", evaluator=evaluator)

    assert matching("x.v = x.v") == [[2]]
    assert matching("x.v <> 1") == [[1]]
    assert matching("NOT x.v > 0") == [[1]]
    assert matching("x.v > 0 OR x.v <= 0") == [[2]]
    assert matching("x.v IS NULL") == [[0]]
    assert matching("x.v / 0 IS NULL") == [[0], [1], [2]]
