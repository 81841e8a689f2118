"""Saved states that anybody could have made are refused, or harmless (`crafted_states`): none crashes the process."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine
from cepheid.kernels.loops.linked.layout import C_PREV, FIRST, I_CELL, META_BITS, V_FROM, V_LATEST, V_META
from cepheid.kernels.loops.registers import layout as config_shape
from cepheid.kernels.loops.registers.layout import B_AT, B_COUNT, L_BLOCKS, NOWHERE, S_CELL
from cepheid.kernels.loops.sliding.partition_state import (
    EVENTS,
    EVENTS_K,
    LOW,
    N_BACK,
    N_EVENTS,
    N_NODES,
    NODES,
    PIVOT,
)
from cepheid.kernels.loops.vectors.layout import C_HI, C_LO, C_STARTS
from cepheid.kernels.matches import nodes
from cepheid.pipeline import plan_for
from cepheid.schema import schema_of
from cepheid.state_checks import bytes_of
from programs.crafted_states import outcome_apart, run_apart
from support.crafted_states import (
    QUERIES,
    Parts,
    events,
    outcome,
    put_together,
    real,
    taken_apart,
)
from support.small_streams import error_of


def test_states_with_anything_changed_are_refused_or_harmless() -> None:
    """In a process of their own, so that a crash is a failure. `make fuzz` makes more."""
    results, found = run_apart(first=20_000, count=100, warm=False)
    assert found == []
    assert results["refused"] > 40
    assert results["taken"] > 10


def test_states_that_nobody_changed_are_taken() -> None:
    rng = random.Random(5)
    for text, evaluators in QUERIES:
        for evaluator in evaluators.split():
            state, rest = real(rng, text, evaluator, {})
            header, parts = taken_apart(state)
            found = outcome(put_together(header, parts, rng), rest)
            assert found in ("taken", "taken, then too-many-matches")


def state_of(text: str, evaluator: str, **options: Any) -> tuple[dict[str, Any], Parts]:
    return taken_apart(real(random.Random(1), text, evaluator, options)[0])


def code_of(header: dict[str, Any], parts: Parts, bent: str = "") -> str:
    state = put_together(header, parts, random.Random(0), bent)
    return error_of(lambda: cepheid.load(state)).code


THEN = "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z WITHIN 30"
COMPARED = "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.v < z.v WITHIN 30"


@pytest.mark.parametrize("value", [-1, 1 << 20, 1 << 62, -(1 << 63)])
@pytest.mark.parametrize(
    ("text", "evaluator", "options", "name"),
    [
        (THEN, "compact", {}, "lanes"),
        (THEN, "compact", {"counting": True}, "lanes"),
        (THEN, "chain", {}, "store:heap"),
        (COMPARED, "configurations", {}, "store:lanes"),
        (COMPARED, "configurations", {}, "store:graph"),
        (COMPARED, "configurations", {"counting": True}, "store:lanes"),
        (THEN, "semantics", {}, "rows"),
        (THEN, "semantics", {}, "lanes"),
    ],
)
def test_numbers_that_lead_outside_are_refused(
    text: str, evaluator: str, options: dict[str, Any], name: str, value: int
) -> None:
    """All numbers of an array at once: whichever of them are indices, one is outside."""
    header, parts = state_of(text, evaluator, **options)
    part = f"array:evaluator:{name}"
    parts[part] = np.full_like(parts[part], value)
    assert code_of(header, parts) == "bad-state"


@pytest.mark.parametrize("bent", ["json", "header", "cut", "size", "bomb"])
def test_a_form_that_is_wrong_is_refused(bent: str) -> None:
    header, parts = state_of(THEN, "compact")
    for seed in range(12):
        state = put_together(header, parts, random.Random(seed), bent)
        assert error_of(lambda state=state: cepheid.load(state)).code == "bad-state"


def _without_history(header: dict[str, Any], parts: Parts) -> None:
    table = pa.ipc.open_stream(parts["table:history"].tobytes()).read_all()
    parts["table:history"] = bytes_of(table.slice(0, 0))


def _compressed(header: dict[str, Any], parts: Parts) -> None:
    table = pa.ipc.open_stream(parts["table:history"].tobytes()).read_all()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    parts["table:history"] = np.frombuffer(sink.getvalue(), np.uint8)


def _many_rows(header: dict[str, Any], parts: Parts) -> None:
    header["rows"] = 1 << 62


def _other_options(header: dict[str, Any], parts: Parts) -> None:
    header["options"]["counting"] = "yes"


def _no_time(header: dict[str, Any], parts: Parts) -> None:
    header["names"]["time"] = "k"


def _a_number_as_a_name(header: dict[str, Any], parts: Parts) -> None:
    header["names"]["order"] = 2


def _a_text_outside(header: dict[str, Any], parts: Parts) -> None:
    parts["array:lanes:lanes.keys"] = parts["array:lanes:lanes.keys"] + 1000


@pytest.mark.parametrize(
    "change",
    [
        _without_history,
        _compressed,
        _many_rows,
        _other_options,
        _no_time,
        _a_number_as_a_name,
        _a_text_outside,
    ],
)
def test_parts_that_do_not_belong_together_are_refused(
    change: Callable[[dict[str, Any], Parts], None],
) -> None:
    header, parts = state_of("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z PARTITION BY k", "compact")
    change(header, parts)
    assert code_of(header, parts) == "bad-state"


def _before_any_event(text: str, evaluator: str, **options: Any) -> tuple[dict[str, Any], Parts]:
    schema = events(random.Random(0)).schema
    engine = Engine(
        plan_for(cepheid.query(text), schema_of(schema, time="ts", stream="s"), evaluator), **options
    )
    return taken_apart(engine.save())


def _after(text: str, evaluator: str, rows: pa.Table) -> tuple[dict[str, Any], Parts]:
    engine = cepheid.query(text).engine(rows.schema, evaluator=evaluator)
    engine.push(rows)
    return taken_apart(engine.save())


def _cells_of_slots() -> tuple[dict[str, Any], Parts]:
    """Slots of a start say where in the index they are, which is not saved. A match that consumes reads it."""
    text = "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.k = y.k WITHIN 1000000 CONSUME"
    header, parts = state_of(text, "configurations")
    partitions, heap = parts["array:evaluator:store:lanes"], parts["array:evaluator:store:heap"]
    at, count = partitions[0, L_BLOCKS + B_AT], partitions[0, L_BLOCKS + B_COUNT]
    size = cepheid.load(put_together(header, parts, random.Random(0)))._evaluator._store._layout.size[0]
    cells = at + np.arange(count) * size + S_CELL
    assert heap[cells].tolist() == [NOWHERE] * count != []
    heap[cells] = 1 << 40
    return header, parts


def _a_negative_length_of_a_heap() -> tuple[dict[str, Any], Parts]:
    header, parts = _before_any_event(THEN, "compact")
    parts["array:evaluator:meta"][0] = -5
    return header, parts


def _cells_of_a_partition_that_nothing_is_active_in() -> tuple[dict[str, Any], Parts]:
    rows = pa.table({"ts": np.arange(99_999), "type": ["A", "B", "A"] * 33_333})
    header, parts = _after("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z", "compact", rows)
    parts["array:evaluator:lanes"][0, N_BACK] = 0
    return header, parts


def _a_decimal_of_no_bytes() -> tuple[dict[str, Any], Parts]:
    rows = events(random.Random(0)).slice(0, 1).set_column(1, "type", pa.array(["A"]))
    rows = rows.set_column(7, "w", pa.array([Decimal(10) ** 20], pa.decimal128(38, 9)))
    header, parts = _after(
        "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.w * y.w > 7", "configurations", rows
    )
    prefix = "array:evaluator:tests:texts"
    ends = parts[f"{prefix}.ends"]
    ends[-1] = ends[-2]
    parts[f"{prefix}.store"] = parts[f"{prefix}.store"][: ends[-1]]
    return header, parts


def _a_text_that_is_none() -> tuple[dict[str, Any], Parts]:
    text = "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER concat(x.k, y.k) = z.k"
    header, parts = state_of(text, "configurations")
    parts["array:evaluator:tests:texts.store"] |= 0x80  # all differ as before
    return header, parts


@pytest.mark.parametrize(
    ("craft", "wanted"),
    [
        (_cells_of_slots, "taken"),
        (_a_negative_length_of_a_heap, "refused"),
        (_cells_of_a_partition_that_nothing_is_active_in, "taken"),
        (_a_decimal_of_no_bytes, "refused"),
        (_a_text_that_is_none, "refused"),
    ],
)
def test_numbers_that_once_crashed_the_process_are_refused_or_worked_out_anew(
    craft: Callable[[], tuple[dict[str, Any], Parts]], wanted: str, tmp_path: Path
) -> None:
    header, parts = craft()
    rest = events(random.Random(3), 2_000)
    columns = pa.ipc.open_stream(parts["table:schema"].tobytes()).schema.names
    rest = rest.set_column(0, "ts", pa.array(np.arange(200_000, 202_000))).select(columns)
    found = outcome_apart(put_together(header, parts, random.Random(0)), rest, tmp_path)
    assert found.startswith(wanted)


def _blocks_that_two_partitions_share() -> tuple[dict[str, Any], Parts]:
    header, parts = state_of(
        "SELECT y FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.v < z.v PARTITION BY f WITHIN 40",
        "configurations",
    )
    partitions = parts["array:evaluator:store:lanes"]
    assert partitions[0, config_shape.L_HI] > partitions[0, config_shape.L_LO]
    partitions[1] = partitions[0]
    return header, parts


def _starts_whose_end_is_no_word() -> tuple[dict[str, Any], Parts]:
    header, parts = state_of(COMPARED, "configurations", counting=True)
    partitions = parts["array:evaluator:store:lanes"]
    assert partitions[0, C_HI] > partitions[0, C_LO]
    partitions[0, C_STARTS] = (1 << 63) - 1
    return header, parts


def _events_of_a_partition_that_has_no_window() -> tuple[dict[str, Any], Parts]:
    """Its numbers would be read as those of a matrix where the automaton grows."""
    header, parts = state_of("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z", "compact", counting=True)
    partitions, meta = parts["array:evaluator:lanes"], parts["array:evaluator:meta"]
    assert parts["array:evaluator:dense"].all()
    parts["array:evaluator:heap"] = np.append(parts["array:evaluator:heap"], np.zeros(8, np.int64))
    partitions[0] = 0
    partitions[0, [EVENTS, EVENTS_K, N_EVENTS]] = meta[0], 3, 1
    meta[0] += 8
    return header, parts


def _a_window_that_ends_before_it_begins() -> tuple[dict[str, Any], Parts]:
    header, parts = state_of(THEN, "compact")
    partitions = parts["array:evaluator:lanes"]
    assert partitions[0, N_EVENTS] > 1
    partitions[0, [LOW, PIVOT]] = 1, 0
    return header, parts


def _a_node_that_leads_to_itself() -> tuple[dict[str, Any], Parts]:
    header, parts = state_of("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z", "compact")
    partitions, heap = parts["array:evaluator:lanes"], parts["array:evaluator:heap"]
    node = partitions[0, N_NODES] - 1
    assert node >= nodes.FIRST
    heap[partitions[0, NODES] - nodes.FIRST_AT + node * nodes.N_WORDS + nodes.N_BEFORE] = node
    return header, parts


def _vertices(header: dict[str, Any], parts: Parts) -> tuple[Any, dict[int, int]]:
    """The shape of a chain's vertices, and the states of all by where they begin."""
    shape = cepheid.load(put_together(header, parts, random.Random(0)))._evaluator._arena._shape
    heap, vertex, states = parts["array:evaluator:store:heap"], FIRST, {}
    while vertex < len(heap):
        states[vertex] = int(heap[vertex + V_META] >> META_BITS)
        vertex += int(shape.size[states[vertex]])
    return shape, states


def _a_list_of_two_states() -> tuple[dict[str, Any], Parts]:
    header, parts = state_of(THEN, "chain")
    shape, states = _vertices(header, parts)
    newest = max(states)
    other = next(vertex for vertex, state in states.items() if state != states[newest])
    cell = shape.indices[shape.of_state[states[newest], 0], I_CELL]
    parts["array:evaluator:store:heap"][newest + cell + C_PREV] = other
    return header, parts


def _a_start_that_is_not_that_of_what_came_before() -> tuple[dict[str, Any], Parts]:
    header, parts = state_of(THEN, "chain")
    heap = parts["array:evaluator:store:heap"]
    goes_on = max(vertex for vertex in _vertices(header, parts)[1] if heap[vertex + V_FROM] != 0)
    heap[goes_on + V_LATEST] += 1
    return header, parts


@pytest.mark.parametrize(
    "craft",
    [
        _blocks_that_two_partitions_share,
        _starts_whose_end_is_no_word,
        _events_of_a_partition_that_has_no_window,
        _a_window_that_ends_before_it_begins,
        _a_node_that_leads_to_itself,
        _a_list_of_two_states,
        _a_start_that_is_not_that_of_what_came_before,
    ],
)
def test_blocks_that_are_none_are_refused(craft: Callable[[], tuple[dict[str, Any], Parts]]) -> None:
    assert code_of(*craft()) == "bad-state"


def test_partitions_by_numbers_have_no_texts() -> None:
    """A text would make numbers of later partitions indices of texts."""
    header, parts = state_of(f"{THEN} PARTITION BY f", "compact")
    parts["array:lanes:lanes.texts0.ends"] = np.array([0, 1])
    parts["array:lanes:lanes.texts0.store"] = np.array([120], np.uint8)
    parts["array:lanes:lanes.keys"][:, 0] = 0
    assert code_of(header, parts) == "bad-state"


def test_a_chain_has_edges_of_partitions_only_where_its_window_counts_positions() -> None:
    """Rows before an edge are not kept, though without a window all matches may contain them."""
    text = "SELECT * FROM s WHERE (A AS x ; B AS y) PART-BY [k]"
    header, parts = state_of(text, "chain")
    assert code_of(header, {**parts, "array:evaluator:store:edges": np.array([64])}) == "bad-state"
    assert header["ran"] == "chain"
    header, parts = state_of(f"{text} WITHIN 9 EVENTS", "chain")
    cepheid.load(put_together(header, parts, random.Random(0)))


def test_a_state_larger_than_memory_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = cepheid.query(THEN).engine(events(random.Random(0)).schema)
    state = engine.save()
    size = struct.unpack("<Q", state[24:32])[0]
    monkeypatch.setenv("CEPHEID_MAX_MEMORY", str(2 * size - 2))
    assert "CEPHEID_MAX_MEMORY" in str(error_of(lambda: cepheid.load(state)))
