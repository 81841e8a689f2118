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
    monkeypatch.setenv("CEPHEID_MAX_MEMORY", "200")
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


KEYED = " PARTITION BY k WITHIN 5"
BOTH = pytest.mark.parametrize("clause", [" WITHIN 5", KEYED], ids=["stream", "keys"])


@BOTH
def test_what_has_left_the_window_is_forgotten(clause: str) -> None:
    """The last events are at 3: up to 8 a match may contain them."""
    engine = cepheid.query(PAIRS + clause).engine(SOME.schema)
    assert not engine.expire(99), "there is nothing yet"
    engine.push(SOME)
    assert engine.expire(3)
    assert engine.expire(8)
    assert not engine.expire(9)
    assert len(engine._history) == 0
    assert engine.numbers == (4, 2 if clause == KEYED else 4)


@BOTH
@pytest.mark.parametrize("now", [3, 7, 8])
def test_an_engine_that_has_expired_in_part_finds_the_same(clause: str, now: int) -> None:
    later = pa.table({"ts": [8, 8, 20, 21], "type": ["B", "B", "A", "B"], "n": [1] * 4, "k": [7, 8, 7, 7]})
    one, two = (cepheid.query(PAIRS + clause).engine(SOME.schema) for _ in range(2))
    for engine in (one, two):
        engine.push(SOME)
    assert two.expire(3)
    assert two.expire(now)
    assert saved(two).push(later).equals(one.push(later))


@BOTH
def test_an_expired_engine_is_as_good_as_a_new_one_that_resumes(clause: str) -> None:
    """Positions, LIMIT and ids go on."""
    later = pa.table({"ts": [20, 21, 21], "type": ["A", "B", "B"], "n": [1] * 3, "k": [7, 7, 7]})
    text = f"{PAIRS}{clause} LIMIT 5"
    engines = [cepheid.query(text).engine(SOME.schema, positions=True) for _ in range(3)]
    given = [engine.push(SOME) for engine in engines[:2]]
    assert not engines[1].expire(15)
    engines[2].resume(engines[1].numbers)
    found = [engine.push(later) for engine in engines]
    assert found[1].equals(found[0])
    assert found[2].equals(found[0])
    assert found[0]["positions"].to_pylist() == [[4, 5], [4, 6]][: 5 - len(given[0])]


@pytest.mark.parametrize(
    ("text", "positions"),
    [
        (PAIRS, False),
        (f"{PAIRS} WITHIN 9 EVENTS", False),
        (f"{PAIRS} PARTITION BY k", False),
        (PAIRS + KEYED, True),
        ("-[type = 'A'] . [type = 'B'] WITHIN 5", False),
    ],
)
def test_what_always_may_play_a_part_never_expires(text: str, positions: bool) -> None:
    """No window by time, positions counted inside partitions, events that come before the first of a match."""
    engine = Engine(
        cepheid.query(text).engine(SOME.schema).plan, positions=positions, partition_positions=positions
    )
    engine.push(SOME)
    assert engine.expire(10**9)
    assert engine.remembers_until(10**9) is None


def test_rows_that_no_match_can_contain_are_forgotten_without_a_window() -> None:
    engine = cepheid.query("SELECT LAST * FROM s WHERE A AS x ; B AS y").engine(SOME.schema)
    engine.push(SOME)
    assert engine.expire(3)
    assert len(engine._history) == 1


@pytest.mark.parametrize(
    ("window", "times", "until"), [("5", pa.int64(), 8), ("2.5", pa.int64(), 5), ("2.5", pa.float64(), 5.5)]
)
def test_an_engine_says_until_when_it_remembers(window: str, times: pa.DataType, until: float) -> None:
    table = SOME.set_column(0, "ts", SOME["ts"].cast(times))
    engine = cepheid.query(f"{PAIRS} WITHIN {window}").engine(table.schema)
    engine.push(table)
    now = 3 if times == pa.int64() else 3.0
    assert engine.remembers_until(now) == until
    assert type(engine.remembers_until(now)) is type(now)


def test_times_at_the_ends_of_what_there_is_expire_too() -> None:
    first, last = -(2**63), 2**63 - 1
    engine = cepheid.query(f"{PAIRS} WITHIN 5").engine(SOME.schema)
    engine.push(pa.table({"ts": [first], "type": ["A"], "n": [1], "k": [7]}))
    assert engine.expire(first + 5)
    assert engine.remembers_until(last - 2) == last + 3
    assert not engine.expire(last)
