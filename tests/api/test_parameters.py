"""Parameters: `:name` in conditions, and the values given for them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.errors import CepheidError

EVENTS = pa.table(
    {
        "ts": pa.array([dt.datetime(2024, 1, day) for day in (1, 2, 3, 4)], pa.timestamp("us")),
        "type": list("ABAB"),
        "v": [1, 2, None, 4],
        "s": ["a", None, "it's", "c"],
        "cost": pa.array([Decimal("0.10"), Decimal("0.30"), None, Decimal("2.50")]),
    }
)


def positions(condition: str, **params: Any) -> list[list[int]]:
    text = f"SELECT * FROM s WHERE (A AS x OR B AS x) FILTER {condition}"
    found = cepheid.match(EVENTS, text, positions=True, params=params)["positions"].to_pylist()
    assert cepheid.count(EVENTS, text, params=params) == len(found)
    return found


@pytest.mark.parametrize(
    ("condition", "value", "found"),
    [
        ("x.v = :p", 2, [[1]]),
        ("x.v = :p", np.int64(2), [[1]]),
        ("x.v > :p", 1.5, [[1], [3]]),
        ("x.v > -:p", -2, [[3]]),
        ("x.cost = :p", Decimal("0.1"), [[0]]),
        ("x.cost + :p = 0.4", 0.1, [[1]]),
        ("x.s = :p", "it's", [[2]]),
        ("x.s = :p", "' OR TRUE --", []),
        ("x.ts = :p", dt.datetime(2024, 1, 2), [[1]]),
        ("x.ts >= :p", dt.date(2024, 1, 3), [[2], [3]]),
        ("x.ts < :p", "2024-01-02", [[0]]),
        ("(x.v = 2) = :p", True, [[1]]),
        ("x.v IN :p", [1, 4], [[0], [3]]),
        ("x.v NOT IN :p", (1, 4), [[1]]),
        ("x.s IN (:p, 'c')", ["a"], [[0], [3]]),
        ("x.v NOT IN :p", [], [[0], [1], [2], [3]]),
        ("x.v IN :p", list(range(2, 1000)), [[1], [3]]),
    ],
)
def test_a_value_is_what_the_same_literal_would_be(
    condition: str, value: object, found: list[list[int]]
) -> None:
    assert positions(condition, p=value) == found


def test_a_colon_outside_of_conditions_is_the_next_event() -> None:
    text = "SELECT * FROM s WHERE (A AS x FILTER x.v = :B) :B AS y"
    assert cepheid.match(EVENTS, text, positions=True, params={"B": 1})["positions"].to_pylist() == [[0, 1]]


@pytest.mark.parametrize(
    ("params", "code", "message"),
    [
        (None, "unknown-parameter", "the parameter `:limit` has no value"),
        ({"limits": 1}, "unknown-parameter", "the query has no parameter `:limits`"),
        ({"limit": [1]}, "bad-argument", "the parameter `:limit` is a list"),
        ({"limit": b"1"}, "bad-argument", "which no literal can be"),
        ({"limit": float("nan")}, "bad-argument", "which no literal can be"),
        ({"limit": 2**64}, "bad-argument", "which no literal can be"),
        ({"limit": "1"}, "type-mismatch", "they cannot be compared"),
        ([("limit", 1)], "bad-argument", "`params` requires a dict"),
    ],
)
def test_what_is_no_value_is_an_error(params: Any, code: str, message: str) -> None:
    with pytest.raises(CepheidError, match=message) as caught:
        cepheid.match(EVENTS, "SELECT * FROM s WHERE A AS x FILTER x.v > :limit", params=params)
    assert caught.value.code == code


@pytest.mark.parametrize(("condition", "value"), [("x.v = :p", None), ("x.v IN :p", [])])
def test_a_value_with_which_a_condition_is_never_true_is_refused_as_the_literal_is(
    condition: str, value: Any
) -> None:
    with pytest.raises(CepheidError, match="is never true") as caught:
        positions(condition, p=value)
    assert caught.value.code == "unsatisfiable"


def test_the_error_of_a_missing_value_points_at_it() -> None:
    with pytest.raises(CepheidError) as caught:
        cepheid.query("SELECT * FROM s WHERE A AS x FILTER x.v > :limit", params={})
    assert caught.value.span is not None
    assert caught.value.span.text == ":limit"


def test_a_query_that_was_read_takes_no_more_values() -> None:
    parsed = cepheid.query("SELECT * FROM s WHERE A AS x FILTER x.v > :limit", params={"limit": 0})
    assert cepheid.count(EVENTS, parsed) == 1
    with pytest.raises(CepheidError, match="this one was read before"):
        cepheid.count(EVENTS, parsed, params={"limit": 1})


def test_a_saved_state_is_of_the_query_with_its_values() -> None:
    parsed = cepheid.query("SELECT * FROM s WHERE A AS x ; B AS y FILTER y.v > :limit", params={"limit": 3})
    engine = parsed.engine(EVENTS.schema, positions=True)
    engine.push(EVENTS.slice(0, 2))
    again = cepheid.load(engine.save())
    assert "y.v > 3" in parsed.text
    assert sorted(again.push(EVENTS.slice(2))["positions"].to_pylist()) == [[0, 3], [2, 3]]


def test_sremo_takes_them_too() -> None:
    text = "#([type = :first], [v > :least])"
    assert cepheid.count(EVENTS, text, params={"first": "A", "least": 3}) == 2
