"""How much the configurations evaluator does and holds, counted and not timed: events that change nothing are not
looked at, and partial matches that nothing later can tell apart are one, however many they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine
from cepheid.evaluators.configurations.evaluator import ConfigurationsEvaluator
from cepheid.evaluators.configurations.slot_store import SlotStore
from cepheid.evaluators.configurations.vector_store import VectorStore
from cepheid.kernels.loops.registers.layout import L_SLOTS
from cepheid.kernels.loops.vectors.layout import C_HI, C_LO, C_SLOTS
from cepheid.kernels.matches.nodes import N_WORDS

SEQUENCE = "SELECT * FROM s WHERE (A AS x ; B AS y ; C AS z) FILTER x.v < z.v"
KLEENE = "SELECT * FROM s WHERE (A AS x ; (B AS y)+ ; C AS z) FILTER x.v < z.v"
NESTED = "SELECT * FROM s WHERE (A AS x ; (B AS y ; (D AS w)+)+ ; C AS z) FILTER x.v < z.v"
REGISTERS = "#([type = 'A'] > r, [type = 'B']+, [type = 'C' AND v > r.v])"


def stream(types: str, values: list[int] | None = None, keys: int = 1) -> pa.Table:
    number = len(types)
    return pa.table(
        {
            "ts": range(number),
            "type": list(types),
            "k": [row % keys for row in range(number)],
            "v": values if values is not None else [0] * number,
        }
    )


def engine_for(text: str, counting: bool = True) -> tuple[Engine, ConfigurationsEvaluator]:
    plan = cepheid.query(text).engine(stream("A").schema, evaluator="configurations").plan
    engine = Engine(plan, counting=counting)
    assert isinstance(engine._evaluator, ConfigurationsEvaluator)
    return engine, engine._evaluator


def slots(evaluator: ConfigurationsEvaluator) -> int:
    """How many sets of partial matches are kept apart, in all partitions; a start is one."""
    partitions = evaluator._store._partitions
    if isinstance(evaluator._store, VectorStore):
        return int((partitions[:, C_HI] - partitions[:, C_LO] + partitions[:, C_SLOTS]).sum())
    return int(partitions[:, L_SLOTS].sum())


def held(evaluator: ConfigurationsEvaluator) -> int:
    return sum(array.nbytes for array in evaluator.save().values())


def is_near(types: str, place: int, clauses: str) -> bool:
    """Whether a match could begin at or before an event and end at or after it; after the last, anything may come. The
    last relevant one is looked at in any case: it moves the window on."""
    if "WITHIN" not in clauses or not any(kind in "ABC" for kind in types[place + 1 :]):
        return True
    begin, end = types.rfind("A", 0, place + 1), types.find("C", place)
    last = end if end >= 0 else len(types) - 1
    return begin >= 0 and last - begin <= (49 if "EVENTS" in clauses else 50)


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What enters the loop."""
    found: list[Any] = []
    runs = {kind: kind.run for kind in (SlotStore, VectorStore)}

    def looked_at(store: SlotStore | VectorStore, batch: Any, options: Any) -> Any:
        found.append(batch)
        return runs[type(store)](store, batch, options)

    for kind in runs:
        monkeypatch.setattr(kind, "run", looked_at)
    return found


@pytest.mark.parametrize("counting", [True, False])
@pytest.mark.parametrize("clauses", ["WITHIN 50 EVENTS", "WITHIN 50", "PARTITION BY k WITHIN 50", ""])
@pytest.mark.parametrize("query", [SEQUENCE, KLEENE, REGISTERS])
def test_what_no_match_can_reach_never_enters_the_loop(
    query: str, clauses: str, counting: bool, batches: list[Any]
) -> None:
    types = "".join(np.random.default_rng(3).choice(list("ABC" + "D" * 97), 4_000))
    engine, _ = engine_for(f"{query} {clauses}", counting)
    engine.push(stream(types, keys=5))
    relevant = sum(kind in "ABC" for kind in types)
    assert 0 < relevant < 200
    expected = [place for place, kind in enumerate(types) if kind in "ABC" and is_near(types, place, clauses)]
    assert (len(expected) < relevant / 2) == ("WITHIN" in clauses)
    assert [int(row) for batch in batches for row in batch.row] == expected


@pytest.mark.parametrize("counting", [True, False])
@pytest.mark.parametrize("clauses", ["", "WITHIN 5000", "PARTITION BY k WITHIN 5000"])
def test_of_events_that_only_end_something_the_first_is_looked_at(
    clauses: str, counting: bool, batches: list[Any]
) -> None:
    """Events in between end all that is strict; a second one finds nothing."""
    then = "[type = 'D' AND v > r.v]"
    engine, _ = engine_for(f"[type = 'A'] > r . {then} . {then} {clauses}", counting)
    types = ("A" + "E" * 400 + "ADDE") * 5
    found = engine.push(stream(types, [int(kind == "D") for kind in types]))
    assert (engine.counted if counting else len(found)) == 5
    assert sum(len(batch.row) for batch in batches) <= len("AEADDE") * 5 + 1


@pytest.mark.parametrize("query", [KLEENE, REGISTERS], ids=["cel", "sremo"])
@pytest.mark.parametrize("between", [1, 7, 40])
def test_two_to_the_forty_partial_matches_are_one_slot_per_start(query: str, between: int) -> None:
    """With `x ; y+ ; z` where z is compared with x only, a window holds one entry per x, not 2^40 runs."""
    engine, evaluator = engine_for(f"{query} WITHIN 1000")
    engine.push(stream("AAA" + "B" * between))
    assert slots(evaluator) == 3
    engine.push(stream("C", [1]).set_column(0, "ts", pa.array([500])))
    assert engine.counted == 3 * (2**between - 1)


@pytest.mark.parametrize("query", [KLEENE, NESTED, REGISTERS])
def test_a_count_holds_no_more_where_there_are_more_matches(query: str) -> None:
    sizes, counts = [], []
    for rounds in (2, 20):
        engine, evaluator = engine_for(f"{query} WITHIN 1000")
        engine.push(stream("AAA" + "BD" * rounds + "C", [0] * (3 + 2 * rounds) + [1]))
        sizes.append(held(evaluator))
        counts.append(engine.counted)
    assert counts[1] > 10_000 * counts[0] > 0
    # A state's number may take three words where it took one.
    assert sizes[1] <= 2 * sizes[0]


@pytest.mark.parametrize("query", [KLEENE, REGISTERS], ids=["cel", "sremo"])
def test_matches_hold_two_nodes_per_event_and_start(query: str) -> None:
    """2^200 partial matches of two starts: for each B and start one that marks it and one that joins."""
    engine, evaluator = engine_for(f"{query} WITHIN 1000", counting=False)
    engine.push(stream("AA" + "B" * 200))
    nodes = evaluator.save()["store:graph"]
    assert nodes.nbytes <= 8 * N_WORDS * (2 * 2 * 200 + 4)


def test_a_window_that_has_passed_leaves_no_slot() -> None:
    engine, evaluator = engine_for(f"{SEQUENCE} WITHIN 100")
    engine.push(stream("A" * 500))
    assert slots(evaluator) >= 100
    later = stream("C" * 3).set_column(0, "ts", pa.array([5_000, 5_001, 5_002]))
    engine.push(later)
    held(evaluator)  # saving keeps what lives
    assert slots(evaluator) == 0


TWO = "SELECT * FROM s WHERE (A AS x ; B AS y) FILTER x.v < y.v"
THREE = "SELECT * FROM s WHERE (A AS x ; B AS y ; A AS z) FILTER x.v < y.v AND y.v < z.v"
CLIMBING = "#([type = 'A'] > r, ([v > r.v] > r)+)"


def seven_values(events: int) -> pa.Table:
    return stream("AB" * (events // 2), np.random.default_rng(1).integers(0, 7, events).tolist())


@pytest.mark.parametrize("counting", [True, False])
@pytest.mark.parametrize("query", [TWO, THREE, CLIMBING])
def test_a_value_remembered_a_thousand_times_is_one_slot(query: str, counting: bool) -> None:
    """Without a window what is held grows with the values that later conditions read, not with the events."""
    most = []
    for events in (400, 10_000) if counting else (100, 150):
        engine, evaluator = engine_for(f"{query} LIMIT 1", counting)
        engine.push(seven_values(events))
        most.append(slots(evaluator))
    assert most[0] == most[1] <= 2 * 7 + 1


def test_values_that_nothing_reads_any_more_tell_nothing_apart() -> None:
    """Seven values of v in x, then two keys of y: nine slots, not fourteen of both."""
    text = "SELECT * FROM s WHERE (A AS x ; B AS y ; A AS z) FILTER x.v < y.v AND y.k <> z.k"
    engine, evaluator = engine_for(text)
    values = np.random.default_rng(2).integers(0, 7, 2_000).tolist()
    engine.push(stream("AB" * 1_000, values, keys=3))
    assert slots(evaluator) == 7 + 3


def test_a_start_in_a_window_has_one_slot_per_value() -> None:
    text = "SELECT * FROM s WHERE (C AS w ; A AS x ; B AS y) FILTER x.v < y.v AND w.v < y.v WITHIN 100000"
    engine, evaluator = engine_for(text)
    engine.push(stream("CC" + "A" * 3_000, [0, 1, *np.random.default_rng(3).integers(0, 7, 3_000).tolist()]))
    assert slots(evaluator) == 2 + 2 * 7


@pytest.mark.parametrize("counting", [True, False])
def test_what_remembers_nothing_more_is_with_its_start(counting: bool) -> None:
    """A start, and a slot for each value of B; after C none is needed: all matches of a start go on together."""
    text = "SELECT * FROM s WHERE (A AS w ; B AS x ; C AS y ; D AS z) FILTER x.v < y.v WITHIN 1000"
    engine, evaluator = engine_for(text, counting)
    engine.push(stream("A" + "B" * 5 + "CC", [0, 1, 2, 3, 4, 5, 9, 9]))
    assert slots(evaluator) == 1 + 5
    alone, with_one_more = evaluator._tables.layout(1).states
    assert (alone, with_one_more) == (2, 1)


def test_a_vector_of_starts_is_one_per_value() -> None:
    text = "SELECT * FROM s WHERE (C AS w ; A AS x ; B AS y) FILTER x.v < y.v WITHIN 100000"
    engine, evaluator = engine_for(text)
    values = np.random.default_rng(4).integers(0, 7, 3_000).tolist()
    engine.push(stream("CCA" * 1_000, values))
    assert slots(evaluator) == 2_000 + 7


@pytest.mark.parametrize(
    "query", ["[type = 'A'] > r . [v > r.v]", "@([type = 'A'] > r, [type = 'B' AND v > r.v])"]
)
def test_starts_that_hold_nothing_any_more_are_not_kept(query: str) -> None:
    engine, evaluator = engine_for(f"{query} WITHIN 100000")
    assert isinstance(evaluator._store, VectorStore)
    engine.push(stream("AB" * 1_000, list(range(2_000))))
    assert engine.counted >= 1_000
    assert slots(evaluator) <= 2
