"""The engine between batches: order, limits, guards, ids, and all of it across a saved state."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine

PAIRS = "SELECT * FROM s WHERE A AS x ; B AS y"
SOME = pa.table({"ts": [1, 2, 2, 3], "type": ["A", "A", "B", "B"], "n": [1, 1, 2, 1], "k": [7, 8, 8, 7]})


def engine_for(text: str, **options: str | bool) -> Engine:
    return cepheid.query(text).engine(SOME.schema, positions=True, **options)


def saved(engine: Engine) -> Engine:
    return cepheid.load(engine.save())


@pytest.mark.parametrize("between", [lambda engine: engine, saved], ids=["kept", "saved"])
@pytest.mark.parametrize(
    ("order", "later", "row"),
    [
        (None, {"ts": [2], "type": ["A"], "n": [9], "k": [7]}, 4),
        (None, {"ts": [3, 5, 4], "type": ["A"] * 3, "n": [9] * 3, "k": [7] * 3}, 6),
        ("n", {"ts": [3], "type": ["A"], "n": [0], "k": [7]}, 4),
        ("n", {"ts": [3, 3, 3], "type": ["A"] * 3, "n": [1, 2, 1], "k": [7] * 3}, 6),
    ],
)
def test_rows_out_of_order_are_refused_by_number(between, order, later, row) -> None:
    engine = engine_for(PAIRS, order=order) if order else engine_for(PAIRS)
    engine.push(SOME if order is None else SOME.sort_by([("ts", "ascending"), ("n", "ascending")]))
    with pytest.raises(cepheid.CepheidError, match=rf"(?s)unsorted.*row {row} "):
        between(engine).push(pa.table(later))


def test_rows_that_tie_with_the_last_batch_are_taken() -> None:
    engine = engine_for(PAIRS, order="n")
    engine.push(SOME.slice(0, 3))
    assert len(engine.push(pa.table({"ts": [2], "type": ["B"], "n": [2], "k": [7]}))) == 2


@pytest.mark.parametrize("between", [lambda engine: engine, saved], ids=["kept", "saved"])
@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 9])
def test_a_limit_is_for_all_batches_together(limit: int, between) -> None:
    engine = engine_for(f"{PAIRS} LIMIT {limit}")
    found = []
    for at in range(len(SOME)):
        found += engine.push(SOME.slice(at, 1))["positions"].to_pylist()
        engine = between(engine)
    assert [match[-1] for match in found] == [2, 2, 3, 3][:limit]
    assert len({tuple(match) for match in found}) == len(found)


def test_matches_of_many_keys_come_by_their_end() -> None:
    found = engine_for(f"{PAIRS} PARTITION BY k").push(SOME)
    assert found["positions"].to_pylist() == [[1, 2], [0, 3]]
    assert found["k"].to_pylist() == [8, 7]


def test_rows_that_are_not_reported_may_still_begin_a_match() -> None:
    engine = engine_for(PAIRS)
    assert len(engine.push(SOME.slice(0, 3), report=False)) == 0
    assert sorted(engine.push(SOME.slice(3))["positions"].to_pylist()) == [[0, 3], [1, 3]]
    counting = Engine(engine.plan, counting=True)
    counting.push(SOME.slice(0, 3), report=False)
    counting.push(SOME.slice(3))
    assert counting.counted == 2


@pytest.mark.parametrize("guard", [7, 8])
def test_more_events_than_memory_can_hold_are_an_error(guard: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The four matches have eight events."""
    monkeypatch.setattr("cepheid.evaluators.compact.evaluator.GUARD", guard)
    if guard == 8:
        assert len(engine_for(PAIRS).push(SOME)) == 4
        return
    with pytest.raises(cepheid.CepheidError, match=r"(?s)too-many-matches.*row 3"):
        engine_for(PAIRS).push(SOME)


def test_matches_that_would_fill_the_memory_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepheid.engine.MOST_BYTES", 100)
    with pytest.raises(cepheid.CepheidError, match=r"(?s)too-many-matches.*LIMIT"):
        engine_for(PAIRS).push(SOME)
    assert sum(len(piece) for piece in engine_for(PAIRS).pieces(SOME)) == 4


def test_an_id_is_for_ever() -> None:
    """An id is of the key, and of each event's time, rank among ties and variable: written down here once."""
    found = engine_for(f"{PAIRS} PARTITION BY k").push(SOME)
    assert found["match_id"].to_pylist() == [
        "83f653e26e82e1246fe4c13089e6267c",
        "201215d2301f47749b485e43c7da418b",
    ]
    texts = SOME.set_column(3, "k", pa.array(["ü", None, None, "ü"]))
    found = cepheid.match(texts, f"{PAIRS} PARTITION BY k", time="ts")
    assert found["match_id"].to_pylist() == [
        "9d52807c6dfa97ee3e27ec015a92096d",
        "224eb9337694d4ae737f5a14ff3e67d8",
    ]


def test_an_id_depends_on_the_binding() -> None:
    one, two = (
        cepheid.match(SOME, f"SELECT {names} FROM s WHERE A AS x ; B AS y", time="ts")["match_id"].to_pylist()
        for names in ("x", "x, y")
    )
    assert set(one).isdisjoint(two)


@pytest.mark.parametrize(("unit", "ticks"), [("s", 1), ("ms", 1_000), ("us", 10**6), ("ns", 10**9)])
def test_windows_and_ids_do_not_depend_on_the_unit_of_time(unit: str, ticks: int) -> None:
    def in_unit(unit: str, ticks: int) -> pa.Table:
        times = pa.array([second * ticks for second in (0, 3, 6, 9)], pa.timestamp(unit))
        return pa.table({"ts": times, "type": ["A", "B", "A", "B"]})

    found = cepheid.match(in_unit(unit, ticks), f"{PAIRS} WITHIN 3 seconds", time="ts", positions=True)
    assert found["positions"].to_pylist() == [[0, 1], [2, 3]]
    expected = cepheid.match(in_unit("us", 10**6), f"{PAIRS} WITHIN 3 seconds", time="ts")
    assert found["match_id"].to_pylist() == expected["match_id"].to_pylist()
