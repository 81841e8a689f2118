"""Expressions of several events without instructions: asked once per distinct combination, exactly, and boundedly."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

import cepheid
from cepheid.algebra.conditions import (
    Arithmetic,
    Attribute,
    Call,
    Comparison,
    Condition,
    Expression,
    Like,
    Literal,
    RLike,
)
from cepheid.evaluators.configurations import partition_store, python_fallback
from cepheid.evaluators.configurations.guards import CompiledTests
from cepheid.kernels.conditions import programs as kernel
from cepheid.semantics import values as definition
from support.condition_agreement import check, columns, schema_for
from support.random_conditions import TIMES

HERE, THERE, OTHER = (lambda name, var=var: Attribute(var, name) for var in (None, "r", "q"))

TEXTS = ["a", "b", "", None, "ab", "日本", " a ", "É"]
BOTH = Call("concat", (HERE("s"), THERE("s")))
EITHER_TIME = Call("coalesce", (HERE("t"), HERE("u")))
DIFFERENCE = Arithmetic("-", HERE("v"), THERE("v"))


def equals(left: Expression, right: Expression) -> Condition:
    return Comparison("=", left, right)


@pytest.mark.parametrize(
    "condition",
    [
        Like(BOTH, "a%b"),
        RLike(Call("coalesce", (HERE("s"), THERE("s"))), "^[ab]"),
        equals(BOTH, OTHER("s")),
        equals(Call("upper", (BOTH,)), Call("trim", (Call("concat", (OTHER("s"), THERE("s"))),))),
        Comparison("<", Call("replace", (HERE("s"), THERE("s"), OTHER("s"))), Literal("b")),
        equals(Call("length", (Call("substr", (HERE("s"), THERE("i"), OTHER("i"))),)), Literal(1)),
        equals(Call("round", (DIFFERENCE, Literal(-1))), Literal(10)),
        Comparison(">", Call("round", (HERE("v"), THERE("i"))), OTHER("v")),
        Comparison("<", Call("round", (HERE("big"), THERE("i"))), OTHER("big")),
        equals(Call("round", (Call("coalesce", (HERE("i"), THERE("v"))), THERE("i"))), HERE("v")),
        Comparison("<", Call("hour", (Call("least", (HERE("t"), THERE("t"))),)), Literal(12)),
        Comparison("<", Call("hour", (Call("greatest", (EITHER_TIME, THERE("t"))),)), Literal(12)),
        equals(Call("dayofweek", (Call("coalesce", (HERE("d"), THERE("d"))),)), Call("day", (OTHER("d"),))),
        equals(Call("minute", (Call("greatest", (HERE("n"), THERE("n"))),)), Call("hour", (OTHER("t"),))),
        equals(Call("concat", (HERE("s"), Call("substr", (THERE("nothing"), Literal(1))))), Literal("a")),
    ],
)
def test_what_has_no_instructions_is_what_the_definition_says(condition: Condition) -> None:
    days = [dt.date(2024, 2, 29), None, dt.date(1969, 12, 31), dt.date(2000, 1, 1)]
    table = columns(
        s=(TEXTS, pa.string()),
        i=([0, 1, 2, None, -1, -3, 5, 2**62], pa.int64()),
        v=([0.5, 2.675, float("nan"), None, -0.0, 1e300, 25.0, float("inf")], pa.float64()),
        big=([0, 2**64 - 1, None, 15, 2**63], pa.uint64()),
        t=(TIMES, pa.timestamp("ms", "Asia/Kolkata")),
        u=([*TIMES[3:], *TIMES], pa.timestamp("us", "Asia/Kolkata")),
        n=(TIMES, pa.timestamp("ns")),
        d=(days, pa.date32()),
        nothing=([None], pa.null()),
    )
    check([condition], table, most=600)


def asked(
    table: pa.Table, condition: Condition, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, CompiledTests]:
    """How often Python is called when every row is asked about every other."""
    ours = CompiledTests([condition], schema_for(table))
    rows = ours.of(table, np.arange(len(table)))
    calls = []
    answers = python_fallback.PythonFallback._answers
    monkeypatch.setattr(
        python_fallback.PythonFallback,
        "_answers",
        lambda self, keys: calls.append(len(keys)) or answers(self, keys),
    )
    events = table.to_pylist()
    for now in range(len(events)):
        for place in range(len(events)):
            stored = rows[place].copy()
            holds = kernel.holds(ours.program, 0, rows, now, stored, np.zeros(1, np.int64), 1)
            assert holds == definition.holds(condition, {None: events[now], "r": events[place]})
    return len(calls), ours


def test_a_combination_is_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = columns(s=([f"t{number % 10}" for number in range(60)], pa.string()))
    assert asked(table, Like(BOTH, "%1t2"), monkeypatch)[0] <= 20  # of 3600 pairs, 100 of them distinct


def test_calls_grow_with_the_values_and_not_with_their_combinations(monkeypatch: pytest.MonkeyPatch) -> None:
    table = columns(s=([f"t{number}" for number in range(100)], pa.string()))
    assert asked(table, Like(BOTH, "%1t%"), monkeypatch)[0] <= 200


def test_texts_that_answers_make_are_found_where_all_have_moved_to(monkeypatch: pytest.MonkeyPatch) -> None:
    table = columns(s=([f"{number}" * 9 for number in range(100, 160)], pa.string()))
    asked(table, Call("startswith", (BOTH, THERE("s"))), monkeypatch)
    asked(table, Call("startswith", (BOTH, HERE("s"))), monkeypatch)


def test_answers_that_were_forgotten_are_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_fallback, "MOST_ANSWERS", 512)
    table = columns(s=([f"t{number}" for number in range(60)], pa.string()))
    calls, ours = asked(table, Like(BOTH, "%1t%"), monkeypatch)
    assert calls <= 400
    assert sum(question.memory for question in ours._fallbacks) == 1024 * 7 * 8


def test_an_error_while_answering_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(python_fallback.PythonFallback, "_answers", fails)
    with pytest.raises(MemoryError):
        cepheid.match(STREAM, QUERY)


STREAM = pa.table({"ts": range(6), "type": list("ABABAB"), "s": ["x", "yz", "xy", "z", "", "xyz"]})
QUERY = "SELECT * FROM s WHERE A AS a ; B AS b ; B AS c FILTER concat(a.s, b.s) = c.s WITHIN 10"


def test_texts_that_were_made_are_texts_like_others() -> None:
    assert cepheid.match(STREAM, QUERY, positions=True)["positions"].to_pylist() == [[0, 1, 5], [2, 3, 5]]
    assert cepheid.count(STREAM, QUERY) == 2


def test_answers_are_no_part_of_what_is_saved() -> None:
    engine = cepheid.query(QUERY).engine(STREAM.schema, positions=True)
    found = []
    for at in range(len(STREAM)):
        found += engine.push(STREAM.slice(at, 1))["positions"].to_pylist()
        engine = cepheid.load(engine.save())
    assert sorted(found) == [[0, 1, 5], [2, 3, 5]]


def test_texts_get_other_numbers_and_answers_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts that no partial match holds are dropped between batches."""
    monkeypatch.setattr(partition_store, "_SPARE_TEXTS", 256)
    words = [f"w{number}" for number in range(2_000)]
    table = pa.table({"ts": range(2_000), "type": ["A", "B"] * 1_000, "s": words})
    engine = cepheid.query(
        "SELECT * FROM s WHERE A AS a ; B AS b FILTER concat(a.s, b.s) LIKE 'w%4w%5' WITHIN 3"
    ).engine(table.schema, positions=True)
    pieces = [engine.push(table.slice(at, 100)) for at in range(0, 2_000, 100)]
    ends = [[at, end] for at in range(4, 2_000, 10) for end in (at + 1, at + 3) if end % 10 == 5]
    assert sorted(row for piece in pieces for row in piece["positions"].to_pylist()) == ends
    assert engine._evaluator._tests.numbered < 1_000
