"""Counting with vectors of starts, and slots found by an index: the same numbers as by making every match."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine
from cepheid.evaluators.configurations.tables import Tables
from cepheid.kernels.loops.registers.layout import CELLS
from cepheid.pipeline import ParsedQuery, plan_for
from cepheid.schema import schema_of

NAMES = "ABCDEF"


def sequence(length: int, kleene: bool, compare: str = "price > r{}.price") -> str:
    """Every third part compares with the event stored two parts before."""
    parts = []
    for place, name in enumerate(NAMES[:length]):
        group, step = divmod(place, 3)
        condition = f"name = '{name}'"
        if step == 2:
            condition += " AND " + compare.format(group)
        parts.append(
            f"[{condition}]" + (f" > r{group}" if step == 0 else "+" if kleene and step == 1 else "")
        )
    return f"#({', '.join(parts)})"


def stream(seed: int, events: int, prices: int = 5) -> pa.Table:
    """Names that tend to come in the order of the pattern."""
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "ts": np.sort(draw.integers(0, events, events)),
            "name": [NAMES[(place + int(draw.integers(0, 2))) % 6] for place in range(events)],
            "price": draw.integers(0, prices, events).astype(float),
            "key": (draw.random(events) < 0.1).astype(int),
        }
    )


def counted_in_pieces(query: ParsedQuery, table: pa.Table, cuts: list[int]) -> int:
    """The count of a stream that is cut there, the engine saved and loaded after every piece."""
    schema = schema_of(table.schema, time="ts", type=None)
    engine, at = Engine(plan_for(query, schema, "configurations"), counting=True), 0
    for cut in [*cuts, len(table)]:
        engine.push(table.slice(at, cut - at))
        engine, at = cepheid.load(engine.save()), cut
    engine.finish()
    return engine.counted


@pytest.mark.parametrize("clauses", ["", " PARTITION BY key", " CONSUME", " PARTITION BY key CONSUME"])
@pytest.mark.parametrize("unit", ["", " EVENTS"])
@pytest.mark.parametrize("kleene", [False, True])
def test_counts_are_those_of_matches(kleene: bool, unit: str, clauses: str) -> None:
    some = 0
    for seed in range(6):
        draw = np.random.default_rng(seed)
        table = stream(seed, int(draw.integers(20, 60)))
        text = f"{sequence(6, kleene)} WITHIN {int(draw.integers(8, 40))}{unit}{clauses}"
        query = cepheid.query(text, language="sremo")
        made = len(cepheid.match(table, query, evaluator="configurations", columns=["positions"]))
        cuts = sorted(int(cut) for cut in draw.integers(0, len(table), 2))
        assert counted_in_pieces(query, table, cuts) == made, text
        assert cepheid.count(table, query, evaluator="configurations") == made, text
        some += made > 0
    assert some >= 2


@pytest.mark.parametrize("unit", ["", " EVENTS"])
def test_matches_come_back_to_their_starts_after_others_have_left(unit: str) -> None:
    """What remembers an event goes back to the slot of its start, wherever copies have put that."""
    some = 0
    parts = "[name = 'A'], [name = 'B'], [name = 'C'] > r, [name = 'E' AND price > r.price], [name = 'F']"
    query = cepheid.query(f"#({parts}) WITHIN 30{unit}", language="sremo")
    for seed in range(6):
        table = stream(seed, 120)
        expected = cepheid.match(table, query, evaluator="configurations", columns=["positions"])
        schema = schema_of(table.schema, time="ts", type=None)
        engine = Engine(plan_for(query, schema, "configurations"), columns=["positions"])
        found = []
        for at in range(0, len(table), 7):
            found += engine.push(table.slice(at, 7))["positions"].to_pylist()
            engine = cepheid.load(engine.save())
        assert found == expected["positions"].to_pylist()
        some += len(found)
    assert some > 100


@pytest.mark.parametrize("length", [3, 6])
def test_vectors_of_large_numbers(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    """Numbers far beyond a word, with starts that leave the window on the way."""
    names = "A" * 6 + "B" * 150 + "CCDDDD" + "E" * 180 + "FFF" + "A" + "B" * 90 + "CD" + "E" * 70 + "F"
    draw = np.random.default_rng(1)
    columns = {"ts": range(len(names)), "name": list(names), "price": draw.integers(0, 9, len(names))}
    query = cepheid.query(f"{sequence(length, True)} WITHIN {len(names) - 4}", language="sremo")
    count = cepheid.count(pa.table(columns), query, evaluator="configurations")
    monkeypatch.setattr(Tables, "_is_free_of_starts", lambda tables: False)
    assert cepheid.count(pa.table(columns), query, evaluator="configurations") == count
    assert count > 2**150


def test_slots_are_found_by_what_must_be_equal() -> None:
    draw = np.random.default_rng(3)
    events = 400
    columns = {
        "ts": np.arange(events),
        "type": np.array(list("ABC"))[draw.integers(0, 3, events)],
        "id": draw.integers(0, 12, events),
        "p": draw.integers(0, 50, events),
    }
    table = pa.table(columns)
    text = (
        "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z"
        " FILTER x.id = y.id AND x.id = z.id AND z.p > x.p WITHIN 60 EVENTS"
    )
    expected = [
        [a, b, c]
        for c in range(events)
        for b in range(max(0, c - 59), c)
        for a in range(max(0, c - 59), b)
        if columns["type"][a] == "A" and columns["type"][b] == "B" and columns["type"][c] == "C"
        if columns["id"][a] == columns["id"][b] == columns["id"][c] and columns["p"][c] > columns["p"][a]
    ]
    for limited in ("", " CONSUME"):
        found = cepheid.match(table, text + limited, evaluator="configurations", columns=["positions"])
        count = cepheid.count(table, text + limited, evaluator="configurations")
        assert count == len(found)
        if not limited:
            assert sorted(found["positions"].to_pylist()) == sorted(expected)
    assert len(expected) > 20


def test_slots_are_found_after_others_have_left_the_window() -> None:
    draw = np.random.default_rng(4)
    events, window = 3000, 100
    types, ids = draw.integers(0, 3, events), draw.integers(0, 5, events)
    prices = draw.integers(0, 50, events)
    table = pa.table({"ts": np.arange(events), "type": np.array(list("ABC"))[types], "id": ids, "p": prices})
    text = (
        "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z"
        f" FILTER x.id = y.id AND x.id = z.id AND z.p > x.p WITHIN {window} EVENTS"
    )
    expected = 0
    for last in np.flatnonzero(types == 2):
        seen = slice(max(0, last - window + 1), last)
        same = ids[seen] == ids[last]
        first = same & (types[seen] == 0) & (prices[seen] < prices[last])
        between = np.cumsum((same & (types[seen] == 1))[::-1])[::-1]
        expected += int(between[first].sum())
    found = cepheid.match(table, text, evaluator="configurations", columns=["positions"])
    assert len(found) == cepheid.count(table, text, evaluator="configurations") == expected > 5000


def test_events_of_other_keys_cost_nothing() -> None:
    """A thousand keys or two: an event asks only slots of its own."""
    met: list[int] = []
    for keys in (10, 1000):
        draw = np.random.default_rng(0)
        events = 4000
        table = pa.table(
            {
                "ts": np.arange(events),
                "type": np.array(list("AB"))[draw.integers(0, 2, events)],
                "id": draw.integers(0, keys, events),
                "p": draw.integers(0, 50, events),
            }
        )
        text = "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.id = y.id AND y.p > x.p WITHIN 2000 EVENTS"
        engine = cepheid.query(text).engine(table.schema, evaluator="configurations")
        engine.push(table)
        layout = engine._evaluator._store._layout  # type: ignore[attr-defined]
        assert layout.indexed[0] >= 0
        met.append(int(engine._evaluator._store._meta[CELLS]))  # type: ignore[attr-defined]
    assert met[0] <= 10 < met[1]
