"""Filters on whole sets that levels decide: the pattern they become, and that every evaluator then takes."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cepheid
from cepheid.algebra.printing import print_pattern
from cepheid.errors import CepheidError
from cepheid.pipeline import plan_for
from cepheid.schema import schema_of

NAN = float("nan")
EVENTS = pa.table(
    {"ts": range(7), "type": [*"TTTTHTT"], "v": [1.0, 3.0, None, 5.0, 4.0, NAN, 3.0], "s": [*"abcabca"]}
)
SCHEMA = schema_of(EVENTS.schema, time="ts")

BOUNDED = {
    "T+ IN X FILTER count(X) >= 3": "T{3,} IN X",
    "T+ IN X FILTER 2.5 > count(X)": "T{1,2} IN X",
    "T{2,5} IN X ; H FILTER count(X) = 4": "T{4} IN X ; H",
    "(T OR H)+ IN X FILTER count(X) < 3 AND count(X) > 1": "(T OR H){2} IN X",
    "(T+ IN X ; H)+ IN Y FILTER count(Y) > 1": None,
    "(T* IN X ; H) FILTER count(X) = 0": "H",
    "((T+ IN X ; H) FILTER count(X) = 1)+": "(T IN X ; H)+",
}


@pytest.mark.parametrize("formula", BOUNDED)
def test_a_count_bounds_the_rounds_of_a_repetition(formula: str) -> None:
    plan = plan_for(cepheid.query(f"SELECT * FROM s WHERE {formula}"), SCHEMA)
    if BOUNDED[formula] is not None:
        assert print_pattern(plan.rewritten.pattern) == BOUNDED[formula]
    assert plan.evaluator == "compact"


DECIDED = (
    "max(X.v) > 3",
    "max(X.v) < 4",
    "max(X.v) <= 3",
    "max(X.v) = 3",
    "max(X.v) <> 3",
    "min(X.v) >= 3",
    "min(X.v) <> 3",
    "3 > min(X.v)",
    "first(X.v) >= 3",
    "last(X.v) < 4",
    "last(X.v) IS NULL",
    "max(X.s) = 'c'",
    "min(X.s) < 'b' AND last(X.s) = 'a'",
    "NOT (max(X.v) > 3)",
    "coalesce(max(X.v) > 3, TRUE)",
    "count(X.v * 2) >= 2 AND max(X.v * X.v) > 8",
)

# Levels of several aggregates may be too many, in all but the smallest of patterns.
LARGER = (
    "NOT (max(X.v) > 3 AND min(X.v) < 2)",
    "min(X.v) < 2 OR count(X.v) <> 2",
    "CASE WHEN count(X) = 2 THEN max(X.v) < 4 ELSE min(X.v) = 1 END",
    "first(X.v) < 2 OR last(X.v) < 4 AND max(X.v) <> 5 OR min(X.v) = 3",
)


@pytest.mark.parametrize("shape", ["T+ IN X", "(T* IN X ; H) OR T IN X", "(T? IN X ; (H ; T+) IN X)"])
@pytest.mark.parametrize("condition", DECIDED + LARGER)
def test_what_levels_decide_is_no_filter_any_more(condition: str, shape: str) -> None:
    text = f"SELECT * FROM s WHERE ({shape}) FILTER {condition}"
    wanted = cepheid.match(EVENTS, text, evaluator="semantics", positions=True)
    found = cepheid.match(EVENTS, text, positions=True)
    assert sorted(found["positions"].to_pylist()) == sorted(wanted["positions"].to_pylist())
    if condition in DECIDED:
        assert plan_for(cepheid.query(text), SCHEMA).evaluator == "compact"


def test_what_is_never_true_is_an_error_that_says_so() -> None:
    with pytest.raises(CepheidError, match="`count\\(X\\) > 3` is never true of these sets"):
        cepheid.match(EVENTS, "SELECT * FROM s WHERE T{2} IN X FILTER count(X) > 3")


def test_long_runs_are_counted_without_being_enumerated() -> None:
    events = pa.table({"ts": range(300), "type": ["T"] * 300, "v": [k % 10 for k in range(300)]})
    at_least = "SELECT * FROM s WHERE T+ IN X FILTER "
    assert cepheid.count(events, at_least + "count(X) >= 2") == 2**300 - 301
    assert cepheid.count(events, at_least + "max(X.v) < 5") == 2**150 - 1
    assert cepheid.count(events, at_least + "max(X.v) > 4") == 2**300 - 2**150
    assert cepheid.count(events, at_least + "min(X.v) = 5") == 2**150 - 2**120
