"""Absence at the edges of matches, by columns derived from the stream, against the definition."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.algebra.nodes import Not, walk
from cepheid.automata.rivals import RivalCheck
from cepheid.evaluators.derived_columns import DerivedColumns
from support.agreement import differences, is_declined, plan_of
from support.generators import Limits
from support.varied_patterns import ABSENCE, ANY, CONJUNCTION, seeded_varied


def test_absence_anywhere_runs_on_automata_and_finds_what_the_definition_says() -> None:
    """By seeds, which can be counted: in cuts, saved and loaded, counted; partitions, strategies, CONSUME, LIMIT."""
    ran = Counter[str]()
    for seed in range(800):
        choice = random.Random(seed)
        limits = Limits(events=choice.choice((6, 9, 12)), atoms=3, nary=seed % 3 > 0, sets=seed % 7 == 0)
        case = seeded_varied(seed, limits, choice.choice(((ABSENCE,), (ABSENCE, CONJUNCTION, ANY))))
        if not any(isinstance(node, Not) for node in walk(case.query.pattern)):
            continue
        cuts = [choice.randint(0, len(case.table)) for _ in range(choice.randint(0, 4))]
        for evaluator in ("compact", "configurations"):
            plan = None if is_declined(case, evaluator) else plan_of(case, evaluator)
            if plan is None or plan.automaton is None:
                continue
            checks = any(isinstance(check, RivalCheck) for check in plan.automaton.checks)
            if plan.automaton.derived or checks:
                ran[evaluator] += 1
                ran["checks"] += checks
                assert differences(case, cuts, evaluator, saved=choice.random() < 0.5) is None, (seed, case)
    assert (ran["compact"] > 20, ran["configurations"] > 40, ran["checks"] > 15) == (True, True, True), ran


STREAM = pa.table(
    {
        "ts": [0, 1, 2, 2, 3, 5, 8, 8, 9],
        "type": ["A", "A", "C", "B", "A", "C", "B", "A", "D"],
        "id": [1, 2, 1, 1, 2, 2, 2, 1, 1],
    }
)


@pytest.mark.parametrize(
    ("pattern", "evaluator"),
    [
        ("A ; NOT B WITHIN 2", "compact"),
        ("A ; NOT B FOR 2", "compact"),
        ("NOT B FOR 1 ; C", "compact"),
        ("A ; C ; NOT B FOR 2", "compact"),
        ("A AND NOT B AND C", "compact"),
        ("A ; C ; NOT B WITHIN 3", "configurations"),
        ("NOT B ; A ; C WITHIN 3", "configurations"),
        ("A AND NOT B AND C WITHIN 5", "configurations"),
        ("A ; NOT B FOR 2 ; C", "configurations"),
    ],
)
def test_what_runs(pattern: str, evaluator: str) -> None:
    text = f"SELECT * FROM s WHERE {pattern} PARTITION BY id"
    text = text.replace(" PARTITION BY id", "").replace(" WITHIN", " PARTITION BY id WITHIN", 1)
    engine = cepheid.query(text).engine(STREAM.schema)
    assert engine.plan.evaluator == evaluator
    assert isinstance(engine._evaluator, DerivedColumns)
    fast, slow = (
        sorted(cepheid.match(STREAM, text, positions=True, evaluator=runs)["positions"].to_pylist())
        for runs in ("auto", "semantics")
    )
    assert fast == slow


@pytest.mark.parametrize(
    "pattern",
    [
        "A AS a ; NOT B AS b FILTER b.v < a.v",
        "NOT B AS b ; A AS a FILTER b.v < a.v",
        "A AS a ; NOT B AS b ; C AS c FILTER b.v < c.v AND b.id <> a.id",
        "A AS a AND NOT B AS b AND C AS c FILTER b.v < c.v",
        "A AS a ; NOT B AS b FOR 9 ; C AS c FILTER b.v < c.v",
        "A AS a ; NOT B{2,} ; C AS c",
        "A AS a ; (NOT B{2,} ; C AS c)? ; D AS d",
        "(A AS a ; NOT (B AS b OR C AS b) OR A AS a ; C) ; D AS d FILTER b.v > d.v",
    ],
)
@pytest.mark.parametrize("clauses", ["", "WITHIN 40", "WITHIN 12 EVENTS", "PARTITION BY id WITHIN 90"])
@pytest.mark.parametrize("strategy", ["", "MAX"])
def test_rivals_in_longer_streams(pattern: str, clauses: str, strategy: str) -> None:
    """Most pairs of match and rival are far apart."""
    assert runs_in_pieces(f"SELECT {strategy} * FROM s WHERE {pattern} {clauses}", 90 if clauses else 40) > 0


@pytest.mark.parametrize(
    "pattern",
    ["NOT B FOR 9 ; A AS a", "NOT B ; A ; C", "A ; C ; NOT B FOR 9", "A AND NOT B AND C", "A ; C ; NOT B"],
)
@pytest.mark.parametrize("clauses", ["WITHIN 12", "PARTITION BY id WITHIN 30"])
def test_edges_in_longer_streams(pattern: str, clauses: str) -> None:
    """The nearest forbidden event is in another piece, often."""
    assert runs_in_pieces(f"SELECT * FROM s WHERE {pattern} {clauses}", 150) > 0


def runs_in_pieces(text: str, count: int) -> int:
    """How many matches a fast evaluator finds in small pieces, saved and loaded, as the definition does at once."""
    choice = np.random.default_rng(len(text))
    table = pa.table(
        {
            "ts": np.cumsum(choice.integers(0, 4, count)),
            "type": choice.choice(list("ABCD"), count, p=[0.3, 0.1, 0.3, 0.3]),
            "id": choice.integers(0, 3, count),
            "v": pa.array(choice.normal(size=count), mask=choice.random(count) < 0.1),
        }
    )
    query = cepheid.query(text)
    engine = query.engine(table.schema, positions=True)
    assert engine.plan.evaluator in ("compact", "configurations")
    found = []
    for at in range(0, count, 7):
        found += engine.push(table.slice(at, 7))["positions"].to_pylist()
        engine = cepheid.load(engine.save())
    found += engine.finish()["positions"].to_pylist()
    slow = cepheid.match(table, query, positions=True, evaluator="semantics")["positions"].to_pylist()
    assert sorted(found) == sorted(slow)
    assert cepheid.count(table, query) == len(slow)
    return len(slow)


def test_events_are_held_for_as_long_as_a_match_waits_and_no_longer() -> None:
    """Memory does not grow with the stream, and a batch costs the same whatever is held."""
    query = cepheid.query("SELECT * FROM s WHERE A ; NOT B PARTITION BY id WITHIN 50")
    many = 40_000
    table = pa.table(
        {
            "ts": range(many),
            "type": ["AB"[number % 7 == 0] for number in range(many)],
            "id": [number % 11 for number in range(many)],
        }
    )
    engine = query.engine(table.schema)
    held = []
    for at in range(0, many, 500):
        engine.push(table.slice(at, 500))
        held.append(len(engine._evaluator._events))
    assert max(held) <= 51
    assert len(engine.finish()) > 0
    assert len(engine._evaluator._events) == 0


def test_rows_that_come_one_by_one_are_given_on_together() -> None:
    """A thousand tables of one row do not become a thousand batches at the end."""
    table = pa.table({"ts": range(1000), "type": ["A"] * 1000})
    engine = cepheid.query("SELECT * FROM s WHERE A ; NOT B").engine(table.schema)
    for at in range(1000):
        assert len(engine.push(table.slice(at, 1))) == 0
    batches = []
    inner = engine._evaluator._inner
    advance = inner.advance
    inner.advance = lambda events: (batches.append(len(events.times)), advance(events))[1]
    assert len(engine.finish()) == 1000
    assert len(batches) == 1


@pytest.mark.parametrize("evaluator", ["compact", "configurations"])
def test_a_state_that_was_tampered_with_is_refused(evaluator: str) -> None:
    query = cepheid.query("SELECT * FROM s WHERE A ; NOT B PARTITION BY id WITHIN 4")
    engine = query.engine(STREAM.schema, evaluator=evaluator)
    engine.push(STREAM)
    saved = engine._evaluator.save()
    from cepheid.evaluators.interface import Bounds

    bounds = Bounds(len(STREAM), 2, pa.int64())
    harmful = {
        "held:events": lambda array: array + 5,
        "newest0": lambda array: array + 100,
        "held:runs": lambda array: array + 1,
    }
    for name, change in harmful.items():
        fresh = query.engine(STREAM.schema, evaluator=evaluator)
        with pytest.raises(cepheid.CepheidError, match="bad-state"):
            fresh._evaluator.load({**saved, name: change(saved[name])}, bounds)


def test_explain_says_what_runs() -> None:
    """The columns, what guards ask of them, how long matches wait, and what is left for whole matches."""
    one = cepheid.explain("SELECT * FROM s WHERE A ; C ; NOT B WITHIN 5", STREAM)
    assert 'mark C if "⊢".⟨row⟩ < ⟨least row within 5 of the next B⟩ as C' in one
    assert "derived: ⟨row⟩, ⟨least row within 5 of the next B⟩" in one
    assert "waits: a match is known when 5 from its last event are over" in one
    two = cepheid.explain("SELECT * FROM s WHERE A ; NOT B AS b ; C AS c FILTER b.id = c.id", STREAM)
    assert "checked on whole matches: NOT (B AS b FILTER b.id = c.id)" in two
    assert "waits" not in two
    assert "time grows with the pairs" in two
    three = cepheid.explain("SELECT * FROM s WHERE A ; NOT (B ; B) ; C", STREAM)
    assert "evaluator: semantics" in three
    assert "not configurations: NOT (B ; B) forbids more than single events" in three
