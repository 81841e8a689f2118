"""Thousands of keys: each its own stream, however the tables that hold them grow."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.streams.partitions import Partitions

ROWS, KEYS = 12_000, 3_000


def keyed(columns: dict[str, pa.Array]) -> pa.Table:
    random = np.random.default_rng(2)
    times = np.cumsum(random.integers(0, 2, ROWS))
    return pa.table({"ts": times, "type": random.choice(["A", "B", "C"], ROWS), **columns})


def some(values: list[Any], seed: int, dtype: pa.DataType | None = None) -> pa.Array:
    chosen = np.random.default_rng(seed).integers(0, len(values), ROWS)
    return pa.array([values[at] for at in chosen], dtype)


TEXTS = [None, "", "\0", "ü", *(f"key {n}" * (1 + n % 5) for n in range(KEYS))]
REALS = [None, 0.0, -0.0, float("nan"), *(n / 8 for n in range(KEYS))]
COLUMNS = {
    "texts": {"k": some(TEXTS, 3)},
    "whole": {"k": some([None, 0, *(n * 2**40 for n in range(-KEYS // 2, KEYS // 2))], 4)},
    "real": {"k": some(REALS, 5, pa.float64())},
    "equal but not alike": {
        "k": some([None, 0.0, -0.0, float("nan"), -float("nan"), 5e-324], 10, pa.float64())
    },
    "two": {"k": some([None, *"abcdefgh"], 6), "j": some([None, *range(KEYS // 8)], 7)},
    "one of two NULL": {"k": some([None, "a"], 8), "j": some([None, "a"], 9)},
}


def key_of(row: dict[str, Any], names: list[str]) -> tuple[object, ...]:
    """Where Python's equality is not that of keys: NaN is one key, and 0 is not NULL."""
    return tuple("NaN" if row[name] != row[name] else row[name] for name in names)


@pytest.mark.parametrize("evaluator", ["compact", "chain"])
@pytest.mark.parametrize("name", COLUMNS)
def test_every_key_is_a_stream_of_its_own(name: str, evaluator: str) -> None:
    table = keyed(COLUMNS[name])
    names = list(COLUMNS[name])
    text = f"SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY {', '.join(names)} WITHIN 4 EVENTS"
    engine = cepheid.query(text).engine(table.schema, positions=True, evaluator=evaluator)
    found: Counter[tuple[int, ...]] = Counter()
    ids = set()
    for begin in range(0, ROWS, 2_500):
        matches = engine.push(table.slice(begin, 2_500))
        found.update(map(tuple, matches["positions"].to_pylist()))
        ids |= set(matches["match_id"].to_pylist())
        engine = cepheid.load(engine.save())
    partitions: dict[tuple[object, ...], list[tuple[int, str]]] = defaultdict(list)
    for at, row in enumerate(table.to_pylist()):
        partitions[key_of(row, names)].append((at, row["type"]))
    expected = Counter(
        (a, b)
        for partition in partitions.values()
        for place, (a, one) in enumerate(partition)
        if one == "A"
        for b, two in partition[place + 1 : place + 4]
        if two == "B"
    )
    assert found == expected
    assert len(ids) == found.total() > 500


def test_a_partition_keeps_its_number_and_its_hash() -> None:
    table = keyed(COLUMNS["texts"])
    whole, pieces = Partitions(("k",)), Partitions(("k",))
    numbers = whole.of(table)
    for begin in range(0, ROWS, 700):
        part = pieces.of(table.slice(begin, 700))
        assert part.tolist() == numbers[begin : begin + 700].tolist()
    assert whole.count == len(set(table["k"].to_pylist()))
    partitions = np.arange(whole.count)
    low, high = whole.hashes(partitions)
    assert len(set(zip(low.tolist(), high.tolist(), strict=True))) == whole.count
    assert [part.tolist() for part in pieces.hashes(partitions)] == [low.tolist(), high.tolist()]


def test_equal_times_are_told_apart_by_their_rank_in_the_partition() -> None:
    partitions = Partitions(("k",))
    table = pa.table({"k": [1, 2, 1, 1, 2, 1]})
    numbers = partitions.of(table)
    positions, ranks = partitions.number(numbers, np.array([5, 5, 5, 6, 6, 6]))
    assert positions.tolist() == [0, 0, 1, 2, 1, 3]
    assert ranks.tolist() == [0, 0, 1, 0, 0, 1]
    positions, ranks = partitions.number(partitions.of(table.slice(0, 2)), np.array([6, 7]))
    assert (positions.tolist(), ranks.tolist()) == ([4, 2], [2, 0])


@pytest.mark.parametrize("time", [0, 0.0, -1])
def test_the_first_event_of_a_partition_ties_with_nothing(time: float) -> None:
    partitions = Partitions(("k",))
    numbers = partitions.of(pa.table({"k": [1, 2]}))
    _, ranks = partitions.number(numbers, np.array([time, time]))
    assert ranks.tolist() == [0, 0]
