"""Automata that would take too long to make leave a query to the next candidate."""

from __future__ import annotations

import pytest

import cepheid
from cepheid.automata import construct_registers
from cepheid.automata.construct_chain import MOST_STATES
from cepheid.pipeline import plan_for
from cepheid.schema import schema_of
from support.hostile_texts import SCHEMA

STREAM = schema_of(SCHEMA, time="ts", type="type", stream="s")
ROUNDS = "SELECT * FROM s WHERE (A AS x : B AS y FILTER x.v = y.v){{{}}}"
WIDE = "SELECT * FROM s WHERE ({}) : ({}) FILTER x.v = y.v"
LATER = "SELECT * FROM s WHERE A AS x ; C{{{}}} ; B AS y FILTER x.v + 1 < y.v"


def _evaluator(text: str) -> str:
    return plan_for(cepheid.query(text), STREAM).evaluator


def test_a_chain_has_so_many_states() -> None:
    assert _evaluator(ROUNDS.format(MOST_STATES // 2)) == "chain"
    assert _evaluator(ROUNDS.format(MOST_STATES // 2 + 1)) != "chain"


def test_a_chain_has_so_many_transitions(monkeypatch: pytest.MonkeyPatch) -> None:
    text = WIDE.format(
        *(" OR ".join(f"{type}{k} AS {name}" for k in range(5)) for type, name in ("Ax", "By"))
    )
    monkeypatch.setattr("cepheid.automata.construct_chain.MOST_EDGES", 25)
    assert _evaluator(text) == "chain"
    monkeypatch.setattr("cepheid.automata.construct_chain.MOST_EDGES", 24)
    assert _evaluator(text) != "chain"


def test_an_automaton_with_registers_has_so_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(construct_registers, "MOST_STATES", 12)
    assert _evaluator(LATER.format(10)) == "configurations"
    assert _evaluator(LATER.format(11)) == "semantics"
