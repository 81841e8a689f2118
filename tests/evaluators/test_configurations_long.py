"""Configurations over long streams, many keys and huge counts: against programs of a few lines that know one query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine
from support.small_streams import error_of, positions

RISING = "SELECT * FROM s WHERE (A AS x ; B AS y ; C AS z) FILTER x.v < z.v"
REGISTERS = "#([type = 'A'] > r, [type = 'B'], [type = 'C' AND v > r.v])"
BETWEEN = "SELECT * FROM s WHERE (A AS x ; (B AS y)+ ; C AS z) FILTER x.v < z.v"
BETWEEN_REGISTERS = "#([type = 'A'] > r, [type = 'B']+, [type = 'C' AND v > r.v])"
# Each round reads what the round before it stored, so that slots are as many as there are values.
CLIMB = (
    "SELECT * FROM s WHERE (A AS x ; B AS y ; A AS w ; C AS z) FILTER x.v < y.v AND y.v < z.v AND x.v = w.v"
)


def events(rows: int, keys: int = 1, seed: int = 5, types: str = "ABCD", values: int = 9) -> pa.Table:
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "ts": np.sort(random.integers(0, 2 * rows, rows)),
            "type": random.choice(list(types), rows),
            "k": random.integers(0, keys, rows),
            "v": random.integers(0, values, rows),
        }
    )


def engine_for(text: str, table: pa.Table, counting: bool = False) -> Engine:
    engine = cepheid.query(text).engine(table.schema, positions=True, evaluator="configurations")
    return Engine(engine.plan, counting=counting, positions=True)


def pieces(table: pa.Table, size: int) -> Iterator[pa.Table]:
    for begin in range(0, len(table), size):
        yield table.slice(begin, size)


def found_by(text: str, table: pa.Table, size: int = 10**9) -> list[list[int]]:
    engine = engine_for(text, table)
    return sorted(
        match for part in pieces(table, size) for match in engine.push(part)["positions"].to_pylist()
    )


def counted_by(text: str, table: pa.Table, size: int = 10**9, saved: bool = False) -> int:
    engine = engine_for(text, table, counting=True)
    for part in pieces(table, size):
        engine.push(part)
        engine = cepheid.load(engine.save()) if saved else engine
    return engine.counted


def rising(table: pa.Table, keyed: bool, within: int, by_position: bool = False) -> list[list[int]]:
    """The matches of RISING, one key and one end at a time."""
    partitions: dict[int, list[int]] = defaultdict(list)
    times, types, keys, values = (table[name].to_pylist() for name in ("ts", "type", "k", "v"))
    found = []
    for row in range(len(table)):
        partition = partitions[keys[row] if keyed else 0]
        partition.append(row)
        place = {row: place for place, row in enumerate(partition)}
        if types[row] != "C":
            continue
        clock = place if by_position else times
        edge = clock[row] - within
        inside = [other for other in partition if clock[other] >= edge]
        for first, second in combinations(inside, 2):
            if types[first] + types[second] == "AB" and values[first] < values[row]:
                found.append([first, second, row])
    return sorted(found)


@pytest.mark.parametrize("query", [RISING, REGISTERS], ids=["cel", "sremo"])
@pytest.mark.parametrize("size", [10**9, 701])
def test_hundreds_of_keys_in_one_push(query: str, size: int) -> None:
    table = events(3_000, keys=300)
    expected = rising(table, keyed=True, within=3_000)
    text = (
        f"{query} WITHIN 3000 PARTITION BY k" if query == REGISTERS else f"{query} PARTITION BY k WITHIN 3000"
    )
    assert len(expected) > 200
    assert found_by(text, table, size) == expected
    assert counted_by(text, table, size) == len(expected)


@pytest.mark.parametrize("query", [RISING, REGISTERS], ids=["cel", "sremo"])
@pytest.mark.parametrize("size", [10**9, 97])
@pytest.mark.parametrize(("window", "within"), [("WITHIN 40", 40), ("WITHIN 25 EVENTS", 24)])
def test_windows_of_many_events_move_on(query: str, size: int, window: str, within: int) -> None:
    table = events(2_000)
    expected = rising(table, keyed=False, within=within, by_position="EVENTS" in window)
    assert len(expected) > 1_000
    assert found_by(f"{query} {window}", table, size) == expected
    assert counted_by(f"{query} {window}", table, size) == len(expected)


def climbing(table: pa.Table, within: int) -> int:
    """The number of matches of CLIMB."""
    times, types, values = (table[name].to_pylist() for name in ("ts", "type", "v"))
    total = 0
    for first in range(len(table)):
        if types[first] != "A":
            continue
        waiting: dict[int, int] = defaultdict(int)  # y, by its value
        ready: dict[int, int] = defaultdict(int)  # w after y, by the value of y
        for row in range(first + 1, len(table)):
            if times[row] > times[first] + within:
                break
            if types[row] == "C":
                total += sum(number for value, number in ready.items() if value < values[row])
            elif types[row] == "A" and values[row] == values[first]:
                for value, number in waiting.items():
                    ready[value] += number
            elif types[row] == "B" and values[row] > values[first]:
                waiting[values[row]] += 1
    return total


@pytest.mark.parametrize("size", [10**9, 333])
@pytest.mark.parametrize("values", [9, 1_000])
def test_two_registers_of_many_values(size: int, values: int) -> None:
    """Hundreds of slots wait at once, for so many pairs of values."""
    table = events(1_500, values=values, types="ABC")
    table = table.set_column(3, "v", pa.array(np.where(np.arange(1_500) % 3, table["v"].to_numpy(), 4)))
    expected = climbing(table, 200)
    assert expected > 1_000
    assert counted_by(f"{CLIMB} WITHIN 200", table, size) == expected
    assert counted_by(f"{CLIMB} WITHIN 200", table, size, saved=True) == expected
    assert len(found_by(f"{CLIMB} WITHIN 200", table, size)) == expected


KLEENE = [BETWEEN, BETWEEN_REGISTERS]


def kleene(between: int, ends: int = 1) -> pa.Table:
    return pa.table(
        {
            "ts": range(between + ends + 1),
            "type": ["A", *("B" * between), *("C" * ends)],
            "k": [0] * (between + ends + 1),
            "v": [1, *([0] * between), *([2] * ends)],
        }
    )


@pytest.mark.parametrize("query", KLEENE, ids=["cel", "sremo"])
@pytest.mark.parametrize("clause", ["", "WITHIN 100000", "WITHIN 100000 EVENTS", "PARTITION BY k"])
@pytest.mark.parametrize("between", [1, 62, 63, 64, 65, 127, 128, 300, 700])
def test_counts_are_exact_however_large(query: str, clause: str, between: int) -> None:
    table = kleene(between, ends=3)
    assert counted_by(f"{query} {clause}", table) == 3 * (2**between - 1)


@pytest.mark.parametrize("query", KLEENE, ids=["cel", "sremo"])
def test_large_counts_survive_batches_and_saved_states(query: str) -> None:
    table = kleene(300, ends=2)
    assert counted_by(f"{query} WITHIN 500", table, 37, saved=True) == 2 * (2**300 - 1)


KEYS = {1: (230, 2), 2: (5, 9)}


def test_keys_of_small_and_huge_counts_share_an_evaluator() -> None:
    """One key's numbers outgrow their words in the middle of another's matches, and beyond 64 bits they add up."""
    of_key = {
        key: kleene(*size).set_column(2, "k", pa.array([key] * (sum(size) + 1))) for key, size in KEYS.items()
    }
    parts = []
    for turn in range(24):
        parts += [of_key[1].slice(10 * turn, 10), of_key[2].slice(turn, 1)]
    table = pa.concat_tables(parts)
    table = table.set_column(0, "ts", pa.array(range(len(table))))
    expected = 2 * (2**230 - 1) + 9 * (2**5 - 1)
    for clause in ("PARTITION BY k", "PARTITION BY k WITHIN 99999"):
        assert counted_by(f"{BETWEEN} {clause}", table) == expected
        assert counted_by(f"{BETWEEN} {clause}", table, 7) == expected


def sliding_kleene(table: pa.Table, within: int) -> int:
    """The number of matches of BETWEEN."""
    times, types, values = (table[name].to_pylist() for name in ("ts", "type", "v"))
    total = 0
    for first in range(len(table)):
        between = 0
        for row in range(first + 1, len(table)) if types[first] == "A" else ():
            if times[row] > times[first] + within:
                break
            if types[row] == "C" and values[first] < values[row]:
                total += 2**between - 1
            between += types[row] == "B"
    return total


@pytest.mark.parametrize("query", KLEENE, ids=["cel", "sremo"])
def test_large_counts_shrink_again_as_the_window_moves(query: str) -> None:
    """Stretches of many Bs, in which a window counts hundreds of bits, and of none."""
    random = np.random.default_rng(2)
    types = [
        kind
        for _ in range(6)
        for kind in [*random.choice(list("ABC"), 60), *("B" * 150), *random.choice(list("AC"), 60)]
    ]
    table = pa.table(
        {
            "ts": range(len(types)),
            "type": types,
            "k": [0] * len(types),
            "v": random.integers(0, 9, len(types)),
        }
    )
    expected = sliding_kleene(table, 220)
    assert expected > 2**150
    assert counted_by(f"{query} WITHIN 220", table) == expected
    assert counted_by(f"{query} WITHIN 220", table, 50) == expected


def test_a_long_match_grows_every_stack() -> None:
    """Strict neighbours only, so that there are few matches, each of hundreds of events."""
    query = "[type = 'A'] > r . [type = 'B']+ . [type = 'C' AND v > r.v]"
    assert found_by(query, kleene(5_000, ends=1)) == [list(range(5_002))]


def test_enumeration_grows_its_output() -> None:
    table = kleene(12, ends=4)
    found = found_by(BETWEEN, table)
    expected = [
        [0, *chosen, end]
        for end in range(13, 17)
        for size in range(1, 13)
        for chosen in combinations(range(1, 13), size)
    ]
    assert found == sorted(expected)


@pytest.mark.parametrize("counting", [False, True], ids=["matches", "count"])
@pytest.mark.parametrize("query", [RISING, BETWEEN, CLIMB])
@pytest.mark.parametrize("clause", ["WITHIN 30", "WITHIN 15 EVENTS", "PARTITION BY k WITHIN 300", "CONSUME"])
def test_memory_is_bounded_by_the_window(
    query: str, clause: str, counting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepheid.engine._SPARE", 1_000)
    monkeypatch.setattr("cepheid.engine._SPARE_PARTITIONS", 200)
    held = []
    engine = None
    for number in range(24):
        table = events(4_000, keys=100, seed=number, types="ABCDEFGH")
        keys = pa.array(table["k"].to_numpy() + 100 * number)
        times = pa.array(table["ts"].to_numpy() + 8_000 * number)
        table = table.set_column(0, "ts", times).set_column(2, "k", keys)
        engine = engine or engine_for(f"{query} {clause}", table, counting)
        for part in pieces(table, 1_000):
            for _ in engine.pieces(part):
                pass
        held.append(engine.memory)
    assert max(held[12:]) <= 2 * max(held[:12])  # after twelve times the window and more


@pytest.mark.parametrize("counting", [False, True], ids=["matches", "count"])
def test_a_state_shrinks_when_its_window_has_passed(counting: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dense stretch fills the state; what is saved after it is small again."""
    monkeypatch.setattr("cepheid.engine._SPARE", 1_000)
    table = events(6_000, types="AAB", values=1_000)
    engine = engine_for(f"{CLIMB} WITHIN 500", table, counting)
    engine.push(table)
    full = size_of(engine)
    quiet = pa.table(
        {"ts": range(50_000, 90_000, 2), "type": ["B"] * 20_000, "k": [0] * 20_000, "v": [0] * 20_000}
    )
    few = quiet.set_column(1, "type", pa.array(["A" if row % 100 == 0 else "B" for row in range(20_000)]))
    for part in pieces(few, 1_000):
        engine.push(part)
    assert size_of(engine) < full / 4


def size_of(engine: Engine) -> int:
    return sum(array.nbytes for array in engine._evaluator.save().values())


def names(number: int, rows: int = 1_000) -> pa.Table:
    random = np.random.default_rng(number)
    texts = [f"name {number}/{row // 4}" for row in range(rows)]
    return pa.table(
        {
            "ts": np.arange(number * rows, (number + 1) * rows),
            "type": random.choice(list("AB"), rows),
            "s": texts,
        }
    )


@pytest.mark.parametrize("counting", [False, True], ids=["matches", "count"])
def test_texts_that_have_left_the_window_are_forgotten(
    counting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepheid.evaluators.configurations.partition_store._SPARE_TEXTS", 100)
    monkeypatch.setattr("cepheid.engine._SPARE", 1_000)
    text = "SELECT * FROM s WHERE (A AS x ; B AS u ; B AS y) FILTER x.s = y.s OR x.s = u.s WITHIN 40"
    engine, held, found = engine_for(text, names(0), counting), [], []
    for number in range(16):
        for part in pieces(names(number), 250):
            found += engine.push(part)["positions"].to_pylist()
            held.append(engine.memory)
    half = len(held) // 2
    assert max(held[half:]) <= 1.3 * max(held[:half])
    whole = pa.concat_tables([names(number) for number in range(16)])
    monkeypatch.undo()
    expected = positions(whole, text, evaluator="configurations")
    if counting:
        assert engine.counted == len(expected)
    else:
        assert sorted(found) == expected
    types, texts = whole["type"].to_pylist(), whole["s"].to_pylist()
    by_hand = [
        [x, u, y]
        for x in range(len(whole))
        if types[x] == "A"
        for u, y in combinations(
            [row for row in range(x + 1, min(x + 41, len(whole))) if types[row] == "B"], 2
        )
        if texts[x] in (texts[u], texts[y])
    ]
    assert sorted(by_hand) == expected


def test_keys_that_come_back_are_matched_as_if_never_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepheid.engine._SPARE_PARTITIONS", 50)
    parts = []
    for number in range(20):
        table = events(400, keys=60, seed=number)
        parts.append(
            table.set_column(0, "ts", pa.array(table["ts"].to_numpy() + 800 * number)).set_column(
                2, "k", pa.array(table["k"].to_numpy() + 40 * (number % 7))
            )
        )
    whole = pa.concat_tables(parts)
    text = f"{RISING} PARTITION BY k WITHIN 700"
    engine, counting = engine_for(text, whole), engine_for(text, whole, counting=True)
    found = []
    for part in parts:
        found += engine.push(part)["positions"].to_pylist()
        counting.push(part)
        assert engine._partitions.count < 300
    assert sorted(found) == rising(whole, keyed=True, within=700)
    assert counting.counted == len(found) > 500


@pytest.mark.parametrize("query", [RISING, REGISTERS], ids=["cel", "sremo"])
@pytest.mark.parametrize("window", ["", "WITHIN 60"])
def test_rows_that_are_not_reported_may_still_begin_a_match(query: str, window: str) -> None:
    table = events(300)
    text = f"{query} {window}"
    every = found_by(text, table)
    engine, counting = engine_for(text, table), engine_for(text, table, counting=True)
    found = []
    for number, part in enumerate(pieces(table, 50)):
        found += engine.push(part, report=number % 2 == 1)["positions"].to_pylist()
        counting.push(part, report=number % 2 == 1)
    expected = [match for match in every if match[-1] // 50 % 2 == 1]
    assert sorted(found) == expected
    assert counting.counted == len(expected) > 10


@pytest.mark.parametrize("guard", [15, 14])
def test_more_events_than_memory_can_hold_are_an_error(guard: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The five matches of one batch have fifteen events; the last of them ends in row 6."""
    monkeypatch.setattr("cepheid.evaluators.configurations.evaluator.GUARD", guard)
    table = pa.table({"ts": range(7), "type": list("ABCCCCC"), "k": [0] * 7, "v": [0, *([1] * 6)]})
    if guard == 15:
        assert len(found_by(RISING, table)) == 5
        return
    error = error_of(lambda: found_by(RISING, table))
    assert (error.code, "at row 6" in error.message) == ("too-many-matches", True)


def test_ends_of_the_window_are_inside_it() -> None:
    table = pa.table({"ts": [0, 3, 5, 6], "type": list("ABCC"), "k": [0] * 4, "v": [0, 0, 1, 1]})
    assert found_by(f"{RISING} WITHIN 5", table) == [[0, 1, 2]]
    assert found_by(f"{RISING} WITHIN 6", table) == [[0, 1, 2], [0, 1, 3]]
    assert found_by(f"{RISING} WITHIN 3 EVENTS", table) == [[0, 1, 2]]
    assert found_by(f"{RISING} WITHIN 2 EVENTS", table) == []


def test_states_met_late_find_room_beside_those_in_use() -> None:
    """Classes of events, and with them states, that only later batches show."""
    text = (
        "SELECT * FROM s WHERE (A AS x ; (B AS y OR C AS y OR D AS y)+ ; A AS z) FILTER x.v < z.v WITHIN 50"
    )
    types = "A" + "B" * 9 + "A" + "C" * 9 + "A" + "D" * 3 + "A"
    table = pa.table(
        {"ts": range(len(types)), "type": list(types), "k": [0] * len(types), "v": range(len(types))}
    )
    starts = [row for row, kind in enumerate(types) if kind == "A"]
    between = [row for row, kind in enumerate(types) if kind != "A"]
    expected = sum(
        2 ** len([row for row in between if one < row < two]) - 1 for one, two in combinations(starts, 2)
    )
    for size in (1, 4, 99):
        assert counted_by(text, table, size) == expected
        assert counted_by(text, table, size, saved=True) == expected
    assert all(two - one > 1 for one, two in pairwise(starts))
