"""Saving and loading an engine: every kind of query goes on where it was, and damaged bytes are noticed."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

import cepheid
import cepheid.saved
from cepheid.engine import Engine
from cepheid.pipeline import plan_for
from cepheid.schema import schema_of
from support.small_streams import THEN, error_of, ids, stream

EVENTS = stream(
    "ABCAABBCABCC",
    v=[1.5, None, float("nan"), 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
    k=["p", "q", None] * 4,
    o=list(range(12)),
)

QUERIES = {
    "all": THEN,
    "repeated": "SELECT * FROM s WHERE (A AS x)+ ; (B AS y){1,2} ; C AS z",
    "directly": "SELECT * FROM s WHERE A AS x : B AS y",
    "optional": "SELECT * FROM s WHERE A AS x ; B? ; C AS z",
    "or": "SELECT * FROM s WHERE (A AS x OR B AS y) ; C AS z",
    "filter": "SELECT * FROM s WHERE A AS x ; C AS z FILTER x.v > 2 AND z.k IS NULL",
    "n-ary": "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.v < y.v",
    "time": THEN + " WITHIN 3",
    "fraction": THEN + " WITHIN 2.5",
    "events": THEN + " WITHIN 4 EVENTS",
    "partition": THEN + " PARTITION BY k",
    "partition, window": THEN + " PARTITION BY k WITHIN 9",
    "strict": "SELECT STRICT * FROM s WHERE A AS x ; B AS y",
    "next": "SELECT NXT * FROM s WHERE (A AS x)+ ; B AS y WITHIN 9",
    "last": "SELECT LAST * FROM s WHERE (A AS x)+ ; B AS y PARTITION BY k",
    "max": "SELECT MAX * FROM s WHERE (A AS x)+ ; B AS y WITHIN 8",
    "consume": THEN + " CONSUME",
    "consume, partition": THEN + " PARTITION BY k WITHIN 9 CONSUME",
    "limit": THEN + " LIMIT 3",
    "selected": "SELECT y FROM s WHERE A AS x ; B AS y",
}


def run_saved(events: pa.Table, query: str, **options: Any) -> pa.Table:
    """The matches when the engine is saved and loaded before and after every event."""
    engine = cepheid.query(query).engine(events.schema, positions=True, **options)
    parts = []
    for at in range(len(events)):
        engine = cepheid.load(engine.save())
        parts.append(engine.push(events.slice(at, 1)))
    return pa.concat_tables([*parts, cepheid.load(engine.save()).finish()])


@pytest.mark.parametrize("name", QUERIES)
def test_every_kind_of_query_goes_on_after_loading(name: str) -> None:
    expected = cepheid.match(EVENTS, QUERIES[name], positions=True)
    found = run_saved(EVENTS, QUERIES[name])
    assert len(expected) > 0
    assert ids(found) == ids(expected)
    assert sorted(found["positions"].to_pylist()) == sorted(expected["positions"].to_pylist())
    assert found.schema == expected.schema


def test_options_and_names_are_saved() -> None:
    events = EVENTS.rename_columns(["zeit", "typ", "v", "k", "o"])
    engine = cepheid.query(THEN).engine(
        events.schema, time="zeit", type="typ", order="o", positions=True, limit=2
    )
    again = cepheid.load(engine.save())
    assert again.output_schema == engine.output_schema
    assert len(again.push(events)) == 2
    assert error_of(lambda: cepheid.load(again.save()).push(events.slice(0, 1))).code == "unsorted"
    semantics = cepheid.query(THEN).engine(EVENTS.schema, evaluator="semantics")
    assert cepheid.load(semantics.save()).plan.evaluator == "semantics"


@pytest.mark.parametrize(
    "column",
    [
        pa.array(range(12), pa.timestamp("s")),
        pa.array(range(12), pa.timestamp("ns", tz="UTC")),
        pa.array(range(12), pa.date32()),
        pa.array([float(number) for number in range(12)]),
    ],
    ids=lambda column: str(column.type),
)
def test_times_of_every_type_go_on_after_loading(column: pa.Array) -> None:
    events = EVENTS.set_column(0, "ts", column)
    window = (
        "3"
        if pa.types.is_floating(column.type)
        else "3 days"
        if pa.types.is_date(column.type)
        else "3 seconds"
    )
    query = f"{THEN} WITHIN {window}"
    for evaluator in ("compact", "semantics"):
        assert ids(run_saved(events, query, evaluator=evaluator)) == ids(cepheid.match(events, query))


def test_a_state_is_bytes_that_do_not_depend_on_when_it_was_saved() -> None:
    engine = cepheid.query(THEN).engine(EVENTS.schema)
    engine.push(EVENTS)
    state = engine.save()
    assert isinstance(state, bytes)
    assert cepheid.load(state).save() == cepheid.load(state).save()
    assert len(cepheid.load(memoryview(state)).finish()) == 0


@pytest.mark.parametrize("saved", [None, 5, "state", [1]], ids=str)
def test_what_is_not_bytes_is_refused(saved: Any) -> None:
    assert error_of(lambda: cepheid.load(saved)).code == "bad-argument"


def test_damaged_bytes_are_refused() -> None:
    engine = cepheid.query(THEN).engine(EVENTS.schema)
    engine.push(EVENTS)
    state = engine.save()
    rng = random.Random(3)
    cut = [state[: rng.randrange(len(state))] for _ in range(50)]
    flipped = []
    for _ in range(200):
        at = rng.randrange(len(state))
        flipped.append(state[:at] + bytes([state[at] ^ rng.randrange(1, 256)]) + state[at + 1 :])
    for damaged in (b"", b"not a state", b"PK\x03\x04", state + b"x", b"x" + state, *cut, *flipped):
        assert error_of(lambda damaged=damaged: cepheid.load(damaged)).code == "bad-state"


def test_the_state_of_another_release_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = cepheid.query(THEN).engine(EVENTS.schema)
    monkeypatch.setattr("cepheid.saved.VERSION", 99)
    state = engine.save()
    monkeypatch.undo()
    error = error_of(lambda: cepheid.load(state))
    assert error.code == "bad-state"
    assert "format 99" in error.message


def test_a_state_goes_on_with_the_evaluator_that_ran() -> None:
    """Whatever `auto` would choose now; states of releases that did not say what ran tell it by their arrays."""
    query = "#(-[type = 'B'] > r, [type = 'A'], [type = 'C' AND v > r.v]) WITHIN 6"
    schema = schema_of(EVENTS.schema, time="ts", stream="s")
    expected = cepheid.match(EVENTS, query, positions=True)
    assert plan_for(cepheid.query(query), schema).evaluator == "configurations"
    for said in (True, False):
        engine = Engine(plan_for(cepheid.query(query), schema, ran="semantics"), positions=True)
        first = engine.push(EVENTS.slice(0, 7))
        header, tables, arrays = cepheid.saved.unpack(engine.save())
        if not said:
            del header["ran"]
        gone_on = cepheid.load(cepheid.saved.pack(header, tables, arrays))
        assert gone_on.plan.evaluator == "semantics"
        found = pa.concat_tables([first, gone_on.push(EVENTS.slice(7))])
        assert ids(found) == ids(expected) != []


def test_a_state_of_an_evaluator_that_does_not_take_its_query_is_refused() -> None:
    engine = cepheid.query(QUERIES["n-ary"]).engine(EVENTS.schema)
    header, tables, arrays = cepheid.saved.unpack(engine.save())
    header["ran"] = "compact"
    error = error_of(lambda: cepheid.load(cepheid.saved.pack(header, tables, arrays)))
    assert error.code == "bad-state"
    assert "FILTER x.v < y.v compares events" in error.message
