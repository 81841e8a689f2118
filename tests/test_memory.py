"""Memory is bounded by the window: not by the length of the stream, nor by the number of keys it has seen."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine

ROWS = 20_000
PIECES = 40


@cache
def piece(number: int, keys: int, key_type: str = "text") -> pa.Table:
    """A stretch of the stream; each has keys of its own."""
    rng = np.random.default_rng(number)
    partitions = number * keys + rng.integers(0, keys, ROWS)
    return pa.table(
        {
            "ts": np.arange(number * ROWS, (number + 1) * ROWS),
            "type": rng.choice(list("ABCDE"), ROWS),
            "key": pa.array([f"key {partition}" for partition in partitions])
            if key_type == "text"
            else pa.array(partitions),
        }
    )


def engine_for(text: str, evaluator: str, *, counting: bool) -> Engine:
    return Engine(cepheid.query(text).engine(piece(0, 1).schema, evaluator=evaluator).plan, counting=counting)


QUERIES = {
    "time": "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z WITHIN 30",
    "count": "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z WITHIN 30 EVENTS",
    "next": "SELECT NXT * FROM s WHERE (A AS x)+ ; C AS z WITHIN 30",
    "last, no window": "SELECT LAST * FROM s WHERE A AS x ; B AS y ; C AS z",
    "consumed": "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z CONSUME",
    "keys": "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z PARTITION BY key WITHIN 3000",
    "registers": "#([type = 'A'] > r, [type = 'B']+, [type = 'C' AND key > r.key]) WITHIN 9",
}


@pytest.mark.parametrize("counting", [False, True], ids=["matches", "count"])
@pytest.mark.parametrize(
    ("name", "evaluator"),
    [
        *((name, "compact") for name in ("time", "count", "next", "last, no window", "consumed", "keys")),
        *((name, "chain") for name in ("time", "count", "consumed", "keys")),
        *((name, "configurations") for name in ("time", "count", "consumed", "keys", "registers")),
    ],
)
def test_memory_does_not_grow_with_the_stream(name: str, evaluator: str, counting: bool) -> None:
    engine = engine_for(QUERIES[name], evaluator, counting=counting)
    held = []
    for number in range(PIECES):
        engine.push(piece(number, 4000))
        held.append(engine.memory)
    assert max(held[PIECES // 2 :]) <= 1.3 * max(held[: PIECES // 2])


@pytest.mark.parametrize("evaluator", ["compact", "chain", "configurations"])
@pytest.mark.parametrize("key_type", ["text", "number"])
def test_forgetting_silent_keys_changes_no_match(key_type: str, evaluator: str) -> None:
    """A key that comes back after its partition was forgotten is matched as if it had been there all the time."""
    text = "SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY key WITHIN 3000"
    pieces = [piece(number, 9000, key_type) for number in range(6)]
    late = pieces[0].set_column(0, "ts", pa.array(np.arange(6 * ROWS, 7 * ROWS)))
    pieces.append(late)
    engine = cepheid.query(text).engine(pieces[0].schema, positions=True, evaluator=evaluator)
    cut = pa.concat_tables([engine.push(part) for part in pieces])
    assert engine._partitions.count < 5 * 9000
    small = cepheid.query(text).engine(pieces[0].schema, positions=True, evaluator=evaluator)
    small._active = 10**9  # never forgets
    whole = small.push(pa.concat_tables(pieces))
    assert sorted(cut["match_id"].to_pylist()) == sorted(whole["match_id"].to_pylist())
    assert sorted(cut["positions"].to_pylist()) == sorted(whole["positions"].to_pylist())
    assert len(cut) > 1000


def test_matches_after_much_has_been_forgotten_show_the_right_events() -> None:
    engine = cepheid.query(QUERIES["time"]).engine(piece(0, 1).schema, positions=True)
    for number in range(PIECES):
        found = engine.push(piece(number, 4000))
        starts = found["start"].to_pylist()
        assert [match[0] for match in found["positions"].to_pylist()] == starts
        assert [event["ts"] for event in found["x"].to_pylist()] == starts
        assert {event["type"] for event in found["y"].to_pylist()} == {"B"}


@pytest.mark.parametrize("evaluator", ["compact", "chain", "configurations"])
@pytest.mark.parametrize("window", ["30", "30 EVENTS"])
def test_an_engine_that_is_saved_after_every_batch_drops_what_has_left_the_window(
    window: str, evaluator: str
) -> None:
    query = cepheid.query(f"SELECT * FROM s WHERE A AS x ; B AS y ; C AS z WITHIN {window}")
    events = piece(0, 1).slice(0, 3000)
    engine = query.engine(events.schema, evaluator=evaluator)
    held = []
    for at in range(0, len(events), 50):
        engine.push(events.slice(at, 50))
        engine.expire(at + 49)
        saved = engine.save()
        held.append(len(saved))
        engine = cepheid.load(saved)
    assert max(held[len(held) // 2 :]) <= 1.3 * max(held[: len(held) // 2])
