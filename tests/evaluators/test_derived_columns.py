"""Absence at the edges of matches, by columns derived from the stream, against the definition."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest

import cepheid
from cepheid.algebra.nodes import Not, walk
from cepheid.evaluators.derived_columns import DerivedColumns
from support.agreement import differences, is_declined, plan_of
from support.generators import Limits
from support.varied_patterns import ABSENCE, ANY, CONJUNCTION, seeded_varied


def test_absence_anywhere_runs_on_automata_and_finds_what_the_definition_says() -> None:
    """By seeds, which can be counted: in cuts, saved and loaded, counted; partitions, strategies, CONSUME, LIMIT."""
    ran = Counter[str]()
    for seed in range(800):
        choice = random.Random(seed)
        limits = Limits(events=choice.choice((6, 9, 12)), atoms=3, nary=seed % 3 == 0, sets=seed % 7 == 0)
        case = seeded_varied(seed, limits, choice.choice(((ABSENCE,), (ABSENCE, CONJUNCTION, ANY))))
        if not any(isinstance(node, Not) for node in walk(case.query.pattern)):
            continue
        cuts = [choice.randint(0, len(case.table)) for _ in range(choice.randint(0, 4))]
        for evaluator in ("compact", "configurations"):
            plan = None if is_declined(case, evaluator) else plan_of(case, evaluator)
            if plan is not None and plan.automaton is not None and plan.automaton.derived:
                ran[evaluator] += 1
                assert differences(case, cuts, evaluator, saved=choice.random() < 0.5) is None, (seed, case)
    assert (ran["compact"] > 20, ran["configurations"] > 30) == (True, True), ran


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
