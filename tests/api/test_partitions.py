"""PARTITION BY: each key is a stream of its own."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import cepheid
from support.small_streams import THEN, error_of, ids, positions, stream

EVALUATORS = ("compact", "semantics")
KEYS: dict[str, list[Any]] = {
    "text": ["é", "", "é", ""],
    "integers": [2**62, -1, 2**62, -1],
    "null and value": [None, 0, None, 0],
    "null and empty text": [None, "", None, ""],
    "nan and null": [float("nan"), None, float("nan"), None],
    "zeros": [0.0, 1.0, -0.0, 1.0],
    "booleans": [True, None, True, None],
    "bytes": [b"\xff", b"", b"\xff", b""],
}


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("name", KEYS)
def test_equal_keys_are_one_stream(name: str, evaluator: str) -> None:
    events = stream("AABB", k=KEYS[name])
    assert positions(events, THEN + " PARTITION BY k", evaluator=evaluator) == [[0, 2], [1, 3]]
    assert cepheid.count(events, THEN + " PARTITION BY k", evaluator=evaluator) == 2


@pytest.mark.parametrize("name", KEYS)
def test_keys_stay_the_same_across_batches_and_saves(name: str) -> None:
    events = stream("AABB", k=pa.array(KEYS[name]))
    whole = cepheid.match(events, THEN + " PARTITION BY k")
    for column in (events["k"], events["k"].dictionary_encode()):
        keyed = events.set_column(2, "k", column)
        engine = cepheid.query(THEN + " PARTITION BY k").engine(keyed.schema)
        parts = []
        for at in range(4):
            parts.append(engine.push(keyed.slice(at, 1)))
            engine = cepheid.load(engine.save())
        assert ids(pa.concat_tables(parts)) == ids(whole)


def test_several_keys_make_one() -> None:
    events = stream("AAABBB", k=["p", "p", None, "p", None, "p"], n=[1, 2, 1, 2, 1, None])
    found = cepheid.match(events, THEN + " PARTITION BY k, n", positions=True)
    assert found["positions"].to_pylist() == [[1, 3], [2, 4]]
    assert found.select(["k", "n"]).to_pylist() == [{"k": "p", "n": 2}, {"k": None, "n": 1}]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_contiguity_counts_and_strategies_apply_inside_a_partition(evaluator: str) -> None:
    events = stream("ABAB", k=[1, 2, 2, 1])
    assert positions(events, "SELECT * FROM s WHERE A AS x : B AS y PARTITION BY k", evaluator=evaluator) == [
        [0, 3]
    ]
    assert positions(events, THEN + " PARTITION BY k WITHIN 2 EVENTS", evaluator=evaluator) == [[0, 3]]
    strict = "SELECT STRICT * FROM s WHERE A AS x ; B AS y PARTITION BY k"
    assert positions(events, strict, evaluator=evaluator) == [[0, 3]]
    last = "SELECT LAST * FROM s WHERE A AS x ; B AS y PARTITION BY k"
    twice = stream("AAABB", k=[1, 1, 2, 1, 2])
    assert positions(twice, last, evaluator=evaluator) == [[1, 3], [2, 4]]


def test_the_time_and_the_type_can_be_keys() -> None:
    events = stream("AAB", ts=[1, 2, 2])
    assert positions(events, THEN + " PARTITION BY ts") == [[1, 2]]
    assert positions(events, "SELECT * FROM s WHERE A AS x ; A AS y PARTITION BY type") == [[0, 1]]


def test_many_keys_in_many_batches() -> None:
    keys = [f"key {number % 500}" for number in range(2000)]
    events = pa.table({"ts": range(2000), "type": ["A"] * 1000 + ["B"] * 1000, "k": keys})
    query = cepheid.query(THEN + " PARTITION BY k")
    engine = query.engine(events.schema)
    parts = pa.concat_tables([engine.push(events.slice(at, 170)) for at in range(0, 2000, 170)])
    assert ids(parts) == ids(cepheid.match(events, query))
    assert len(set(ids(parts))) == 500 * 4


def test_too_many_keys_are_refused() -> None:
    names = [f"k{number}" for number in range(70)]
    events = stream("AB", **{name: pa.array([0, None]) for name in names})
    listed = ", ".join(names)
    assert error_of(lambda: cepheid.match(events, f"{THEN} PARTITION BY {listed}")).code == "too-large"
    few = ", ".join(names[:62])
    assert positions(events, f"{THEN} PARTITION BY {few}") == []


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_a_limit_takes_the_first_matches_of_all_keys_by_their_end(evaluator: str) -> None:
    events = stream("AABBABAB", k=[2, 1, 1, 2, 2, 2, 1, 1])
    for limit in (1, 2, 3):
        found = positions(events, THEN + " PARTITION BY k", limit=limit, evaluator=evaluator)
        assert sorted(match[-1] for match in found) == [2, 3, 5][:limit]


def test_dictionaries_may_differ_between_batches_repeat_values_and_hold_null() -> None:
    def encoded(values: list[str | None]) -> pa.Array:
        return pa.array(values).dictionary_encode()

    repeated = pa.DictionaryArray.from_arrays(pa.array([1, 2], pa.int32()), pa.array(["x", None, "x"]))
    parts = [
        stream("AA", ts=[1, 2], k=encoded(["x", "y"])),
        stream("BB", ts=[3, 4], k=encoded(["y", None])),
        stream("BB", ts=[5, 6], k=repeated),
    ]
    expected = [[0, 5], [1, 2]]
    assert positions(pa.concat_tables(parts), THEN + " PARTITION BY k") == expected
    engine = cepheid.query(THEN + " PARTITION BY k").engine(parts[0].schema, positions=True)
    found = []
    for part in parts:
        found.append(engine.push(part))
        engine = cepheid.load(engine.save())
    assert sorted(pa.concat_tables(found)["positions"].to_pylist()) == expected


def test_dictionaries_of_many_batches_may_need_more_codes_than_each_has() -> None:
    small = pa.dictionary(pa.int8(), pa.string())
    parts = [
        pa.table({"ts": [number], "type": ["A"], "k": pa.array([f"key {number % 200}"]).cast(small)})
        for number in range(400)
    ]
    query = "SELECT * FROM s WHERE A AS x ; A AS y PARTITION BY k"
    assert cepheid.count(pa.concat_tables(parts), query) == 200
    engine = cepheid.query(query).engine(parts[0].schema)
    assert sum(len(engine.push(part)) for part in parts) == 200
