"""Room: what one event writes is never more than was asked for before it.

The loop is given one event at a time, and of every array just as much as it asks for; behind that lies what it must not
touch. Everything else is as ever, so that what is found can be held beside the definition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine
from cepheid.errors import CepheidError
from cepheid.evaluators.configurations import slot_store, vector_store
from cepheid.evaluators.configurations.vector_store import VectorStore
from cepheid.kernels.loops.registers.capacity import room_for_one
from cepheid.kernels.loops.registers.layout import (
    CELLS,
    I_WORDS,
    NEED,
    NEED_NODES,
    NEED_SLOTS,
    TOP,
    ConfigBatch,
)
from cepheid.kernels.loops.vectors import layout as count_shape
from cepheid.kernels.loops.vectors.loop import room_needed
from cepheid.kernels.matches.nodes import N_WORDS, NODES
from cepheid.kernels.memory.status import DONE
from support.agreement import differences, is_taken
from support.compared_queries import seeded_compared
from support.generators import SREMO, Case, seeded_sremo
from support.random_sremo import case_of, crossed, reading_case, remembering, seeded_reading
from support.small_streams import stream
from support.vector_queries import drawn

UNTOUCHED = 0x5AFE
SPARE = 1 << 12

Loop = Callable[..., tuple[int, ...]]


class Cut:
    """The first words of an array, with a border behind them."""

    def __init__(self, array: np.ndarray[Any, Any], words: int) -> None:
        self._whole, self._words = array, min(words, len(array))
        self._copy = np.full(self._words + SPARE, UNTOUCHED, array.dtype)
        self._copy[: self._words] = array[: self._words]
        self.given = self._copy[: self._words]

    def put_back(self) -> None:
        assert np.all(self._copy[self._words :] == UNTOUCHED)
        self._whole[: self._words] = self.given


def with_no_more_than_asked(loop: Loop) -> Loop:
    def run(tables: Any, batch: Any, at: int, options: Any, space: Any, out: Any) -> Any:
        meta, status = space.meta, DONE
        while at < len(batch.partition) and status == DONE:
            one = ConfigBatch(*(array[at : at + 1] for array in batch))
            room_for_one(
                tables.transitions,
                tables.layout,
                space.partitions,
                batch.partition[at],
                batch.klass[at],
                meta,
            )
            most = 0 if options.counting else int(meta[NODES] + meta[NEED_NODES]) * N_WORDS
            cuts = (
                Cut(space.heap, int(meta[TOP] + meta[NEED])),
                Cut(space.nodes, most),
                Cut(space.cells, len(space.cells)),
                Cut(space.made, len(space.made)),
            )
            before = [int(meta[word]) for word in (TOP, NODES, CELLS)]
            cells_of_slots = 2 * int(
                meta[NEED_SLOTS]
            )  # by all that tells it apart, and by the word that must be equal
            bound = [int(meta[NEED]), int(meta[NEED_NODES]), cells_of_slots]
            heap, nodes, cells, made = (cut.given for cut in cuts)
            cut_space = space._replace(heap=heap, nodes=nodes, cells=cells, made=made)
            status, done = loop(tables, one, 0, options, cut_space, out)
            for cut in cuts:
                cut.put_back()
            used = [int(meta[word]) - was for word, was in zip((TOP, NODES, CELLS), before, strict=True)]
            assert all(number <= most for number, most in zip(used, bound, strict=True))
            assert 2 * I_WORDS * int(meta[CELLS]) <= len(space.cells)
            at += done
        return status, at

    return run


def counting_with_no_more_than_asked(loop: Loop) -> Loop:
    def run(tables: Any, batch: Any, at: int, options: Any, space: Any) -> Any:
        transitions, turns, layout, _ = tables
        status = DONE
        while at < len(batch.partition) and status == DONE:
            one, meta = ConfigBatch(*(array[at : at + 1] for array in batch)), space.meta
            room_needed(
                transitions,
                turns,
                layout,
                space.partitions,
                batch.partition[at],
                batch.klass[at],
                layout.size.max(),
                meta,
            )
            bound = [int(meta[count_shape.NEED]), int(meta[count_shape.NEED_CELLS])]
            before = [int(meta[word]) for word in (0, count_shape.CELLS)]
            places = 2 * int(space.partitions[batch.partition[at], count_shape.C_ROOM]) + 4
            cuts = {
                "heap": Cut(space.heap, before[0] + bound[0]),
                "bits": Cut(space.bits, places),
                "mask": Cut(space.mask, places),
                "sums": Cut(space.sums, int(meta[count_shape.WIDEST]) + 8),
            }
            given = space._replace(**{name: cut.given for name, cut in cuts.items()})
            status, done = loop(tables, one, 0, options, given)
            for cut in cuts.values():
                cut.put_back()
            used = [int(meta[word]) - was for word, was in zip((0, count_shape.CELLS), before, strict=True)]
            assert all(number <= most for number, most in zip(used, bound, strict=True))
            at += done
        return status, at

    return run


@pytest.fixture(autouse=True)
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_store, "configurations", with_no_more_than_asked(slot_store.configurations))
    monkeypatch.setattr(
        vector_store, "count_events", counting_with_no_more_than_asked(vector_store.count_events)
    )


def check(text: str, table: pa.Table) -> int:
    """How many matches there are; counted and made, both are watched."""
    plan = cepheid.query(text).engine(table.schema, evaluator="configurations").plan
    engines = [Engine(plan, counting=counting, positions=not counting) for counting in (False, True)]
    found = engines[0].push(table)
    engines[1].push(table)
    assert engines[1].counted == len(found)
    return len(found)


@pytest.mark.parametrize("clause", ["", "WITHIN 30", "WITHIN 12 EVENTS"])
def test_every_state_of_a_slot_may_take_the_event(clause: str) -> None:
    """Seven states of each slot move at once, and each move is a node."""
    text = f"SELECT * FROM s WHERE (B AS x ; A ; A ; A ; A ; A ; A ; A ; B AS y) FILTER x.v < y.v {clause}"
    assert check(text, stream("B" * 6 + "A" * 10 + "B", v=[*range(6), *range(10), 9])) > 100


@pytest.mark.parametrize("clause", ["", "WITHIN 30", "WITHIN 12 EVENTS"])
def test_every_state_of_a_slot_may_leave_it(clause: str) -> None:
    text = f"#([type = 'B'] > r, [v > r.v] > s, [v > s.v] > t, [v > t.v AND v > r.v]) {clause}"
    assert check(text, stream("BBABABBABAB", v=[3, 1, 2, 4, 0, 5, 7, 6, 9, 8, 9])) > 10


def test_starts_stay_in_the_ring_when_their_slots_are_gone() -> None:
    """Nothing lives but the last event, and the ring grows to the window."""
    text = "[type = 'A'] > r . !(any* . -[type = 'A'] . any*) . [type = 'B' AND v > r.v] WITHIN 500"
    assert check(text, stream("A" * 3000 + "B", v=[1] * 3000 + [2])) == 1


@pytest.mark.parametrize("clause", ["WITHIN 40", "WITHIN 40 PARTITION BY k", "WITHIN 25 EVENTS CONSUME"])
def test_a_vector_comes_back_to_all_its_starts(clause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    by_vectors: list[VectorStore] = []
    run = VectorStore.run
    monkeypatch.setattr(
        VectorStore, "run", lambda store, *given: by_vectors.append(store) or run(store, *given)
    )
    types = "AB" * 6 + "D" * 3 + "ABCDBC" * 9
    table = stream(
        types, v=[row * 7 % 11 for row in range(len(types))], k=[row % 2 for row in range(len(types))]
    )
    text = "#([type = 'A'], [type = 'B'] > r, [type = 'C' AND v > r.v], [type = 'D'] > s, [v > s.v])"
    assert check(f"{text} {clause}", table) > 0
    assert by_vectors


KINDS = {
    "sremo": lambda seed: seeded_sremo(seed, SREMO),
    "compared": seeded_compared,
    "anything": lambda seed: case_of(seeded_reading(seed, reading_case)),
    "crossed": lambda seed: case_of(seeded_reading(seed, crossed)),
    "remembering": lambda seed: case_of(seeded_reading(seed, remembering)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_random_case_needs_more(kind: str) -> None:
    checked = 0
    for seed in range(7_000, 7_060):
        case: Case = KINDS[kind](seed)
        if is_taken(case, "configurations"):
            checked += 1
            difference = differences(case, [len(case.table) // 2], "configurations")
            assert difference is None, f"seed {seed}: {difference}\n{case}"
    assert checked > 20


def test_numbers_of_many_starts_become_longer() -> None:
    text = "#([type = 'A'] > r, [type = 'B']+, [type = 'C' AND v > r.v]) WITHIN 1000"
    table = stream("A" * 300 + "B" * 200 + "C", v=[0] * 500 + [1])
    engine = Engine(cepheid.query(text).engine(table.schema).plan, counting=True)
    engine.push(table)
    assert engine.counted == 300 * (2**200 - 1)


def test_no_random_count_needs_more() -> None:
    checked = 0
    for seed in range(9_000, 9_060):
        text, table = drawn(seed)
        try:
            plan = cepheid.query(text, language="sremo").engine(table.schema, evaluator="configurations").plan
        except CepheidError:
            continue
        engine = Engine(plan, counting=True)
        if isinstance(getattr(engine._evaluator, "_store", None), VectorStore):
            checked += 1
            engine.push(table)
    assert checked > 30
