"""Fields of structs, items of lists and values of maps in conditions."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

import cepheid
from cepheid.errors import CepheidError

PLACE = pa.struct(
    [
        ("city", pa.string()),
        ("at", pa.timestamp("ns", "UTC")),
        ("geo", pa.struct([("lat", pa.float64()), ("steps", pa.list_(pa.int64()))])),
    ]
)
PLACES = [
    {"city": "Rome", "at": 1, "geo": {"lat": 41.9, "steps": [1, 2]}},
    {"city": None, "at": 3_600_000_000_001, "geo": {"lat": None, "steps": None}},
    None,
    {"city": "Oslo", "at": None, "geo": None},
]
EVENTS = pa.table(
    {
        "ts": [0, 1, 2, 3],
        "type": ["A", "B", "A", "B"],
        "place": pa.array(PLACES, PLACE),
        "tags": pa.array([["a", "b"], [], None, ["c", None]], pa.list_(pa.string())),
        "large": pa.array([[1], [2, 3], [4], None], pa.large_list(pa.int64())),
        "pair": pa.array([[1, 2], [3, 4], None, [5, 6]], pa.list_(pa.int32(), 2)),
        "codes": pa.array([[("k", 1), ("l", 2)], [], None, [("k", None)]], pa.map_(pa.string(), pa.int64())),
        "days": pa.array([[(7, "x")], [(8, "y")], None, []], pa.map_(pa.int32(), pa.string())),
        "costs": pa.array([[Decimal("0.10")], [Decimal("0.30")], None, []], pa.list_(pa.decimal128(5, 2))),
        "items": pa.array(
            [[{"n": 1}], [{"n": 2}, {"n": 3}], None, []], pa.list_(pa.struct([("n", pa.int64())]))
        ),
        "unread": pa.array([[[b"x"]], None, [], [None]], pa.list_(pa.list_(pa.binary()))),
    }
)
CHUNKED = pa.concat_tables([EVENTS.slice(0, 1), EVENTS.slice(1, 2), EVENTS.slice(3)])


def found(formula: str, evaluator: str = "auto", table: pa.Table = EVENTS) -> list[list[int]]:
    text = f"SELECT * FROM s WHERE {formula}"
    parsed = cepheid.query(text)
    assert cepheid.query(str(parsed)).query == parsed.query
    return sorted(cepheid.match(table, parsed, positions=True, evaluator=evaluator)["positions"].to_pylist())


@pytest.mark.parametrize(
    ("condition", "events"),
    [
        ("x.place.city = 'Rome'", [0]),
        ("x.place.city IS NULL", [1, 2]),
        ("x.place IS NULL", [2]),
        ("upper(x.place.city) LIKE '%O%'", [0, 3]),
        ("x.place.at > '1970-01-01 00:30'", [1]),
        ("hour(x.place.at) = 1", [1]),
        ("x.place.geo.lat > 41", [0]),
        ("x.place.geo.lat IS NULL", [1, 2, 3]),
        ("x.place.geo.steps[1] = 2", [0]),
        ("x.tags[0] IN ('a', 'c')", [0, 3]),
        ("x.tags[1] IS NULL", [1, 2, 3]),
        ("x.tags[7] IS NULL", [0, 1, 2, 3]),
        ("x.tags[-1] IS NULL", [0, 1, 2, 3]),
        ("concat(x.tags[0], x.place.city) = 'aRome'", [0]),
        ("x.large[1] = 3", [1]),
        ("x.pair[0] + x.pair[1] > 6", [1, 3]),
        ("x.pair[2] IS NULL", [0, 1, 2, 3]),
        ("x.codes['k'] = 1", [0]),
        ("x.codes.l = 2", [0]),
        ("x.codes['missing'] IS NULL", [0, 1, 2, 3]),
        ("x.days[8] = 'y'", [1]),
        ("x.costs[0] * 3 = 0.30", [0]),
        ("x.items[1].n = 3", [1]),
        ("x.items[0].n IS NOT NULL", [0, 1]),
        ("CASE WHEN x.tags[0] = 'a' THEN x.pair[0] ELSE x.large[0] END > 0", [0, 1, 2]),
    ],
)
def test_elements_are_values_as_others(condition: str, events: list[int]) -> None:
    formula = f"(A AS x OR B AS x) FILTER {condition}"
    wanted = [[event] for event in events]
    for evaluator in ("auto", "compact", "configurations", "semantics"):
        assert found(formula, evaluator) == wanted
        assert found(formula, evaluator, CHUNKED) == wanted


@pytest.mark.parametrize(
    ("condition", "matches"),
    [
        ("x.pair[1] + 1 = y.pair[0]", [[0, 1]]),
        ("x.place.city < y.place.city", []),
        ("x.place.city > y.place.city", [[0, 3]]),
        ("y.place.at - x.place.at = INTERVAL 1 HOUR", [[0, 1]]),
        ("x.costs[0] + y.costs[0] = 0.40", [[0, 1]]),
        ("concat(x.tags[0], y.tags[0]) = 'ac'", [[0, 3]]),
        ("x.items[0].n < y.items[1].n OR x.codes['k'] = y.pair[0]", [[0, 1]]),
    ],
)
def test_elements_of_several_events_are_compared(condition: str, matches: list[list[int]]) -> None:
    formula = f"A AS x ; B AS y FILTER {condition}"
    for evaluator in ("auto", "configurations", "semantics"):
        assert found(formula, evaluator) == matches
        assert found(formula, evaluator, CHUNKED) == matches


def test_elements_of_a_set() -> None:
    assert found("(A OR B)+ IN X FILTER X.pair[0] > prev(X.pair[0]) AND sum(X.pair[1]) = 12") == [[0, 1, 3]]


@pytest.mark.parametrize(
    ("condition", "code", "message"),
    [
        ("x.place.town = 'Rome'", "unknown-attribute", "did you mean|no one field `town`"),
        ("x.places.city = 'Rome'", "unknown-attribute", "no attribute `places`"),
        ("x.tags['a'] = 'a'", "type-mismatch", "this is a list"),
        ("x.days['a'] = 'a'", "type-mismatch", "a map whose keys are int32"),
        ("x.type[0] = 'A'", "type-mismatch", "of type string"),
        ("x.tags = 'a'", "type-mismatch", "cannot be compared"),
        ("x.place.geo > 1", "type-mismatch", "cannot be compared"),
        ("x.place.city > 1", "type-mismatch", "cannot be compared"),
    ],
)
def test_what_has_no_such_element_is_an_error(condition: str, code: str, message: str) -> None:
    with pytest.raises(CepheidError, match=message) as caught:
        found(f"A AS x FILTER {condition}")
    assert caught.value.code == code


def test_a_saved_state_keeps_what_later_events_are_compared_with() -> None:
    parsed = cepheid.query("SELECT * FROM s WHERE A AS x ; B AS y FILTER x.pair[1] + 1 = y.pair[0]")
    engine = parsed.engine(EVENTS.schema, positions=True)
    engine.push(EVENTS.slice(0, 1))
    assert cepheid.load(engine.save()).push(EVENTS.slice(1))["positions"].to_pylist() == [[0, 1]]


def test_times_inside_are_exact() -> None:
    at = pa.array([{"at": 1}, {"at": 2}], pa.struct([("at", pa.timestamp("ns"))]))
    events = pa.table({"ts": [dt.datetime(2024, 1, 1)] * 2, "type": ["A", "B"], "place": at})
    assert found("A AS x ; B AS y FILTER y.place.at - x.place.at = INTERVAL 1 ns", table=events) == [[0, 1]]
