"""Windows of many events, against programs of a few lines: exact counts far beyond 64 bits, and every match.

The oracle cannot go this far. Here every start is followed on its own, with Python's integers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine
from cepheid.evaluators.compact.evaluator import CompactEvaluator

Row = tuple[int, str, int]  # time, type, key
Follows = Callable[[list[str]], Iterator[int]]


def stream(rows: int, letters: str, seed: int, keys: int = 3) -> pa.Table:
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "ts": np.cumsum(random.choice([0, 0, 1, 1, 2], rows)),
            "type": random.choice(list(letters), rows),
            "key": random.integers(0, keys, rows),
        }
    )


def abc(types: list[str]) -> Iterator[int]:
    """How many matches of A ; B ; C end at each event and begin with the first."""
    with_b = 0
    for type in types[1:]:
        yield with_b if type == "C" else 0
        with_b += type == "B"


def rounds(types: list[str]) -> Iterator[int]:
    """The same for (A+ ; B)+ ; C."""
    with_a, with_b = 1, 0
    for type in types[1:]:
        yield with_b if type == "C" else 0
        if type == "A":
            with_a += with_a + with_b
        elif type == "B":
            with_b += with_a


def counted_by_hand(rows: list[Row], follows: Follows, window: str) -> int:
    amount = int(window.split()[0])
    times, types = [row[0] for row in rows], [row[1] for row in rows]
    total = 0
    for first, type in enumerate(types):
        if type != "A":
            continue
        end = (
            first + amount
            if "EVENTS" in window
            else int(np.searchsorted(times, times[first] + amount, "right"))
        )
        total += sum(follows(types[first:end]))
    return total


def by_key(table: pa.Table, partitioned: bool) -> list[list[Row]]:
    partitions: dict[int, list[Row]] = defaultdict(list)
    for row in zip(*(table[name].to_pylist() for name in ("ts", "type", "key")), strict=True):
        partitions[row[2] if partitioned else 0].append(row)
    return list(partitions.values())


def counted(text: str, table: pa.Table, piece: int) -> int:
    """By an engine that is saved and loaded between pieces, with either loop."""
    numbers = []
    for dense in (True, False):
        engine = Engine(cepheid.query(text).engine(table.schema).plan, counting=True)
        assert isinstance(engine._evaluator, CompactEvaluator)
        engine._evaluator._is_dense = dense
        for begin in range(0, len(table), piece):
            engine.push(table.slice(begin, piece))
            engine = cepheid.load(engine.save())
        numbers.append(engine.counted)
    assert numbers[0] == numbers[1]
    return numbers[0]


PATTERNS: dict[str, Follows] = {"A ; B ; C": abc, "(A+ ; B)+ ; C": rounds}


@pytest.mark.parametrize("partition", ["", "PARTITION BY key"])
@pytest.mark.parametrize("window", ["300", "600 EVENTS", "40 EVENTS"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_counts_in_long_windows_are_exact(pattern: str, window: str, partition: str) -> None:
    table = stream(2_000, "AABCD", seed=11)
    expected = sum(
        counted_by_hand(rows, PATTERNS[pattern], window) for rows in by_key(table, bool(partition))
    )
    assert pattern == "A ; B ; C" or window == "40 EVENTS" or expected.bit_length() > 64
    assert counted(f"SELECT * FROM s WHERE {pattern} {partition} WITHIN {window}", table, 371) == expected


def test_partitions_grow_beyond_a_word_at_different_times() -> None:
    """One partition's numbers are large when others have just begun, or have turned since."""
    parts = [stream(200, "AAAB", seed, keys=1) for seed in range(4)]
    lengths = [200, 30, 120, 10]
    rows = [
        {**row, "key": key, "ts": row["ts"] + 40 * key}
        for key, part in enumerate(parts)
        for row in part.slice(0, lengths[key]).to_pylist()
    ]
    table = pa.Table.from_pylist(rows).sort_by("ts")
    for key in range(4):
        table = pa.concat_tables(
            [table, pa.table({"ts": [400], "type": ["C"], "key": [key]}, schema=table.schema)]
        )
    for window in ("1000", "90", "25 EVENTS", "70 EVENTS"):
        expected = sum(counted_by_hand(partition, rounds, window) for partition in by_key(table, True))
        text = f"SELECT * FROM s WHERE (A+ ; B)+ ; C PARTITION BY key WITHIN {window}"
        assert counted(text, table, 7) == counted(text, table, 1_000) == expected
    assert counted("SELECT * FROM s WHERE (A+ ; B)+ ; C PARTITION BY key", table, 50) > 2**150


TENFOLD = "SELECT * FROM s WHERE (" + " OR ".join(f"A AS x{n}" for n in range(9)) + ")+ ; B {}"


@pytest.mark.parametrize(
    "window", ["", *(f"WITHIN {amount} EVENTS" for amount in (17, 20, 25, 31, 38, 45, 60))]
)
def test_numbers_that_grow_tenfold_with_every_event_do_not_overflow(window: str) -> None:
    """Every A is left out or is one of nine variables: before a B, n As in the window make 10ⁿ - 1 matches."""
    most = int(window.split()[1]) - 1 if window else 1_000
    types = "".join("A" * (n % 23) + "B" for n in range(40))
    expected = sum(
        10 ** types[max(0, end - most) : end].count("A") - 1 for end, type in enumerate(types) if type == "B"
    )
    assert window or len(str(expected)) > 300
    table = pa.table({"ts": range(len(types)), "type": list(types)})
    assert counted(TENFOLD.format(window), table, 33) == expected


def test_numbers_of_every_length_are_handed_over() -> None:
    """Each key has one A more than the last, so that every number of digits is there at once."""
    partitions = [["A"] * key + ["B"] for key in range(1, 100)]
    rows = [(at, type, key) for key, partition in enumerate(partitions) for at, type in enumerate(partition)]
    times, types, keys = zip(*sorted(rows, key=lambda row: row[0]), strict=True)
    table = pa.table({"ts": times, "type": types, "key": keys})
    assert counted(TENFOLD.format("PARTITION BY key"), table, 500) == sum(10**n - 1 for n in range(1, 100))


@pytest.mark.parametrize("consume", ["", "CONSUME"])
@pytest.mark.parametrize("window", ["25", "60 EVENTS"])
@pytest.mark.parametrize("then", [";", ":"])
def test_every_match_of_a_long_stream_is_found(then: str, window: str, consume: str) -> None:
    """With `:` a turn must remember which of the events it holds were neighbours."""
    table = stream(6_000, "ABC" + "D" * (20 if then == ";" else 5), seed=4)
    text = f"SELECT * FROM s WHERE A AS x {then} B AS y ; C AS z WITHIN {window} {consume}"
    engine = cepheid.query(text).engine(table.schema, positions=True)
    pieces = []
    for begin in range(0, len(table), 999):
        pieces.append(engine.push(table.slice(begin, 999)))
        engine = cepheid.load(engine.save())
    found = pa.concat_tables(pieces)
    [rows] = by_key(table, False)
    by_hand = matches_by_hand(rows, then == ":", window, bool(consume))
    assert found["positions"].to_pylist() == sorted(
        found["positions"].to_pylist(), key=lambda match: match[-1]
    )
    assert Counter(map(tuple, found["positions"].to_pylist())) == Counter(by_hand)
    assert len(by_hand) > 50
    assert counted(text, table, 999) == len(by_hand)
    for match in found.to_pylist():
        assert [match[name]["type"] for name in "xyz"] == ["A", "B", "C"]
        assert [match[name]["ts"] for name in "xyz"] == [rows[at][0] for at in match["positions"]]


def matches_by_hand(rows: list[Row], strict: bool, window: str, consume: bool) -> list[tuple[int, int, int]]:
    amount = int(window.split()[0])
    found: list[tuple[int, int, int]] = []
    forgotten = 0
    for end, (time, type, _) in enumerate(rows):
        if type != "C":
            continue
        inside = [
            at
            for at in range(forgotten, end)
            if (end - at < amount if "EVENTS" in window else time - rows[at][0] <= amount)
        ]
        new = [
            (a, b, end)
            for a in inside
            if rows[a][1] == "A"
            for b in range(a + 1, a + 2 if strict else end)
            if b < end and rows[b][1] == "B"
        ]
        found += new
        if new and consume:
            forgotten = end + 1
    return found


@pytest.mark.parametrize("spare", [0, 1 << 16])
@pytest.mark.parametrize("strategy", ["NXT", "LAST"])
def test_without_a_window_what_a_strategy_has_dropped_is_forgotten(
    strategy: str, spare: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells are collected and rows dropped many times; the matches show the events they always did."""
    monkeypatch.setattr("cepheid.engine._SPARE", spare)
    table = stream(20_000, "A" * 20 + "B" * 20 + "CD", seed=8)
    engine = cepheid.query(f"SELECT {strategy} * FROM s WHERE A AS x ; B AS y ; C AS z").engine(
        table.schema, positions=True
    )
    found = pa.concat_tables([engine.push(table.slice(begin, 777)) for begin in range(0, len(table), 777)])
    types = table["type"].to_pylist()
    first_a = types.index("A")
    chosen: tuple[int, ...] | None = None
    expected = []
    latest_a: int | None = None
    for at, type in enumerate(types):
        if type == "A":
            latest_a = at
        elif type == "B" and latest_a is not None and (strategy == "LAST" or chosen is None):
            chosen = (latest_a if strategy == "LAST" else first_a, at)
        elif type == "C" and chosen is not None:
            expected.append((*chosen, at))
    assert list(map(tuple, found["positions"].to_pylist())) == expected
    times = table["ts"].to_pylist()
    assert [event["ts"] for event in found["y"].to_pylist()] == [times[match[1]] for match in expected]
    assert len(engine._history) < 5_000 or spare


@pytest.mark.parametrize("spare", [0, 1 << 16])
def test_what_waits_survives_the_collection_of_what_does_not(
    spare: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every B begins something that dies at the next event; the As and Ds from before wait for the Cs."""
    monkeypatch.setattr("cepheid.engine._SPARE", spare)
    lengths = np.random.default_rng(6).integers(0, 300, (20, 3)).tolist()
    types = [
        type for one, two, three in lengths for type in "B" * one + "A" + "B" * two + "D" + "B" * three + "BC"
    ]
    table = pa.table({"ts": range(len(types)), "type": types})
    engine = cepheid.query("SELECT * FROM s WHERE A AS x ; D AS w ; B AS y : C AS z").engine(
        table.schema, positions=True
    )
    found = pa.concat_tables([engine.push(table.slice(begin, 777)) for begin in range(0, len(table), 777)])
    places = {letter: [at for at, type in enumerate(types) if type == letter] for letter in "ADC"}
    expected = [(a, d, c - 1, c) for c in places["C"] for d in places["D"] for a in places["A"] if a < d < c]
    assert Counter(map(tuple, found["positions"].to_pylist())) == Counter(expected)
    for name, place in (("x", 0), ("w", 1), ("y", 2), ("z", 3)):
        assert [event["ts"] for event in found[name].to_pylist()] == [
            match[place] for match in found["positions"].to_pylist()
        ]
