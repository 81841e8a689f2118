"""Saved states that anybody could have made are refused, or harmless (`crafted_states`): none crashes the process."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid import saved
from crafted_states import QUERIES, Parts, events, outcome, put_together, real, run_apart, taken_apart
from small import error_of


def test_states_with_anything_changed_are_refused_or_harmless() -> None:
    """In a process of their own, so that a crash is a failure. `make fuzz` and `tests/crafted_states.py` make more."""
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
        (COMPARED, "configurations", {}, "store:nodes"),
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
    parts["table:history"] = saved._stream(table.slice(0, 0))


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


def _a_text_outside(header: dict[str, Any], parts: Parts) -> None:
    parts["array:lanes:lanes.keys"] = parts["array:lanes:lanes.keys"] + 1000


@pytest.mark.parametrize(
    "change", [_without_history, _compressed, _many_rows, _other_options, _no_time, _a_text_outside]
)
def test_parts_that_do_not_belong_together_are_refused(
    change: Callable[[dict[str, Any], Parts], None],
) -> None:
    header, parts = state_of("SELECT * FROM s WHERE A AS x ; B AS y ; C AS z PARTITION BY k", "compact")
    change(header, parts)
    assert code_of(header, parts) == "bad-state"


def test_a_state_larger_than_memory_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = cepheid.query(THEN).engine(events(random.Random(0)).schema)
    state = engine.save()
    size = struct.unpack("<Q", state[24:32])[0]
    monkeypatch.setenv("CEPHEID_MAX_MEMORY", str(2 * size - 2))
    assert "CEPHEID_MAX_MEMORY" in str(error_of(lambda: cepheid.load(state)))
