"""The pointers and findNext of `partition-by-chain-cea`, section 6: its examples, and lists walked one by
one."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cepheid.automata.automaton import Link
from cepheid.evaluators.chain.keys import Keys
from cepheid.evaluators.chain.layout import Layout
from cepheid.evaluators.compact.classes import Classes
from cepheid.kernels.loops.linked import difference_pointers as differ
from cepheid.kernels.loops.linked.index import enter_lists
from cepheid.kernels.loops.linked.layout import (
    C_MAX,
    C_SKIP,
    FIRST,
    I_BACK,
    I_CELL,
    META_BITS,
    V_CODES,
    V_LATEST,
    V_META,
    V_PARTITION,
    Shape,
)
from cepheid.schema import schema_of
from support.chain_automata import by_table, mark

# Figure 3; where the text leaves a value open, any that fits it.
FIGURE = [(1, 4), (2, 4), (2, 4), (2, 4), (2, 3), (5, 3), (5, 3)]


class List:
    """One list of tuples, numbered from 1 as in the paper; 0 is none."""

    def __init__(self, links: int) -> None:
        names = "abcdef"[:links]
        automaton = by_table(
            tuple(Link(name, name) for name in names),
            "A",
            {(0, "A"): (mark(1, 1),), (1, "A"): (mark(1, None, (), tuple(range(links)), True),)},
        )
        columns = {"ts": pa.int64(), "type": pa.string(), **{name: pa.int64() for name in names}}
        schema = schema_of(pa.schema(columns), time="ts")
        classes = Classes(automaton.predicates, schema)
        classes.of(pa.table({name: pa.array(["A"] if name == "type" else [0]) for name in columns}))
        layout = Layout(automaton, classes, Keys(automaton.links, schema))
        layout.fit()
        layout.reach(1)
        layout.fit()
        self.shape: Shape = layout.shape(0)
        self.size = int(self.shape.size[1])
        self.heap = np.zeros(1 << 16, np.int64)
        self.slots = np.zeros(64, np.int64)
        self.count = 0
        self.all = (1 << links) - 1

    def add(self, values: tuple[int, ...], latest: int = 0) -> None:
        at = FIRST + self.count * self.size
        self.heap[at + V_META] = 1 << META_BITS
        self.heap[at + V_PARTITION] = 0
        self.heap[at + V_LATEST] = latest
        self.heap[at + V_CODES : at + V_CODES + len(values)] = values
        enter_lists(self.heap, self.slots, np.zeros(1, np.int64), self.shape, at, np.zeros(64, np.int64))
        self.count += 1

    def vertex(self, number: int) -> int:
        return FIRST + (number - 1) * self.size

    def number(self, vertex: int) -> int:
        return 0 if vertex == 0 else (vertex - FIRST) // self.size + 1

    def back(self, number: int, sequence: tuple[int, ...]) -> int:
        place = differ._sequences(int(self.shape.indices[0, 6])).index(sequence)
        return self.number(int(self.heap[self.vertex(number) + self.shape.indices[0, I_BACK] + place]))

    def newest(self, before: int, values: tuple[int, ...], mask: int, find: Any = None) -> int:
        """findNext: the last tuple at or before this one that differs from the values in all links of the
        set."""
        find = find or differ.newest_different
        return self.number(find(self.heap, self.shape, 0, self.vertex(before), np.array(values), mask))

    def latest(self, before: int, values: tuple[int, ...], mask: int) -> int:
        return self.number(
            differ.latest_different(self.heap, self.shape, 0, self.vertex(before), np.array(values), mask)
        )


def figure() -> List:
    made = List(2)
    for values in FIGURE:
        made.add(values)
    return made


A, B = 0, 1


def test_example_14_pointers_of_the_last_tuple() -> None:
    made = figure()
    assert made.back(7, (A,)) == 5
    assert made.back(7, (A, B)) == 4
    assert made.back(7, (B,)) == 4
    assert made.back(7, (B, A)) == 1


def test_example_15_a_tuple_is_added() -> None:
    made = figure()
    assert made.newest(7, (2, 0), 0b01) == 7
    assert made.newest(7, (0, 3), 0b10) == 4
    assert made.newest(7, (2, 3), 0b11) == 1
    made.add((2, 3))
    assert made.back(8, (A,)) == 7
    assert made.back(8, (B,)) == 4
    assert made.back(8, (A, B)) == 1
    assert made.back(8, (B, A)) == 1


@pytest.mark.parametrize("links", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(12))
def test_what_differs_is_found_as_by_walking(links: int, seed: int) -> None:
    chance = random.Random(seed)
    made, tuples, starts = List(links), [], []
    for _ in range(30):
        tuples.append(tuple(chance.randrange(3) if chance.random() < 0.7 else 0 for _ in range(links)))
        starts.append(chance.randrange(20))
        made.add(tuples[-1], starts[-1])
    for _ in range(60):
        before, mask = chance.randint(1, 30), chance.randint(1, made.all)
        values = tuple(chance.randrange(3) for _ in range(links))
        differing = [
            number
            for number in range(1, before + 1)
            if all(tuples[number - 1][k] != values[k] for k in range(links) if mask >> k & 1)
        ]
        assert made.newest(before, values, mask) == max(differing, default=0)
        found = made.latest(before, values, mask)
        assert (found != 0) == bool(differing)
        if differing:
            assert found in differing
            assert starts[found - 1] == max(starts[number - 1] for number in differing)


@pytest.mark.parametrize("links", [1, 2, 3])
@pytest.mark.parametrize("length", [10, 1_000])
def test_as_many_steps_as_links_however_long_the_list(
    links: int, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = List(links)
    made.heap = np.zeros(200 * (length + 1) + 64, np.int64)
    made.add((9,) * links)
    for number in range(length):  # each is equal in one link
        made.add(tuple(0 if number % links == k else 7 for k in range(links)))
    looked = Counter[str]()
    compiled = differ.first_equal

    def counted(*arguments: Any) -> Any:
        looked["at"] += 1
        return compiled(*arguments)

    monkeypatch.setattr(differ, "first_equal", counted)
    assert made.newest(length + 1, (0,) * links, made.all, differ.newest_different.py_func) == 1
    assert looked["at"] <= links + 1


@pytest.mark.parametrize("seed", range(12))
def test_skipping_leads_straight_to_the_next_older_with_a_later_start(seed: int) -> None:
    chance = random.Random(seed)
    made, starts = List(1), []
    for _ in range(40):
        starts.append(chance.randrange(8))
        made.add((0,), starts[-1])
    cell = int(made.shape.indices[0, I_CELL])
    for number, start in enumerate(starts, 1):
        later = [older for older in range(1, number) if starts[older - 1] > start]
        assert made.number(int(made.heap[made.vertex(number) + cell + C_SKIP])) == max(later, default=0)
        assert made.heap[made.vertex(number) + cell + C_MAX] == max(starts[:number])
