"""NXT, LAST and MAX over conditions of several events: the strategy chooses among all matches of an end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import cepheid
from cepheid.algebra.nodes import Strategy
from cepheid.engine import Engine
from cepheid.errors import CepheidError
from cepheid.evaluators.configurations import evaluator as configurations
from cepheid.evaluators.configurations import selection
from cepheid.evaluators.configurations.match_filter import Sizes
from cepheid.evaluators.configurations.selection import HOW, Selection, best_of
from cepheid.matches.match_arrays import Found
from cepheid.semantics.strategies import choose
from support.agreement import differences, expected, numbered, plan_of
from support.generators import Case, Limits, cases, of_two_types
from support.small_streams import error_of, positions

COMPARING = (Strategy.NXT, Strategy.LAST, Strategy.MAX)
NARY = Limits(events=10, atoms=4, strategies=COMPARING, compared=35)
CUTS = st.lists(st.integers(0, 10), max_size=3)
some = settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], print_blob=True)

STOCKS = pa.table(
    {
        "ts": [0, 1, 2, 3, 4, 5, 6, 7],
        "type": list("AABABBAB"),
        "k": [0, 1, 0, 1, 1, 0, 0, 1],
        "v": [5, 4, 6, 3, 5, 9, 1, 2],
    }
)
RISING = "SELECT {} * FROM s WHERE (A AS x ; (A)* ; B AS y) FILTER y.v > x.v"


def is_run(case: Case) -> bool:
    try:
        return plan_of(case, "configurations") is not None
    except CepheidError as error:
        if error.code != "unsupported-evaluator":
            raise
        return False


@some
@given(case=cases(NARY), cuts=CUTS, saved=st.booleans())
def test_strategies_choose_what_the_definition_chooses(case: Case, cuts: list[int], saved: bool) -> None:
    case = of_two_types(case)
    if is_run(case):
        difference = differences(case, [min(cut, len(case.table)) for cut in cuts], "configurations", saved)
        note(repr(case))
        assert difference is None, difference


@some
@given(case=cases(replace(NARY, events=14)), limit=st.integers(0, 4), saved=st.booleans())
def test_a_limit_counts_what_was_chosen(case: Case, limit: int, saved: bool) -> None:
    case = of_two_types(case)
    if not is_run(case):
        return
    plan = plan_of(case, "configurations")
    assert plan is not None
    wanted = expected(case)
    ends = sorted(events[-1] for events, _ in wanted)
    engine = Engine(plan, positions=True, limit=limit)
    table = numbered(case)
    found = [engine.push(table.slice(row, 1)) for row in range(len(table))]
    together = pa.concat_tables([engine.output_schema.empty_table(), *found])["positions"].to_pylist()
    assert all(tuple(events) in {events for events, _ in wanted} for events in together)
    assert sorted(events[-1] for events in together) == ends[:limit]


@pytest.mark.parametrize("strategy", COMPARING)
def test_small_pieces_are_the_same(strategy: Strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that many matches change is how many events are taken at once."""
    rows = 400
    draw = np.random.default_rng(5)
    table = pa.table(
        {
            "ts": np.arange(rows),
            "type": draw.choice(list("AB"), rows),
            "k": draw.integers(0, 3, rows),
            "v": draw.integers(0, 50, rows),
        }
    )
    for clauses in ("WITHIN 9", "WITHIN 9 PARTITION BY k", "WITHIN 12 EVENTS PARTITION BY k CONSUME"):
        query = f"{RISING.format(strategy.value)} {clauses}"
        parsed = cepheid.query(query)
        whole = positions(table, parsed)
        assert whole == positions(table, parsed, evaluator="semantics")
        with monkeypatch.context() as patched:
            patched.setattr(selection, "LARGE", Sizes(first=40, fewest=3, most=40, many_events=0))
            assert positions(table, parsed) == whole
            assert cepheid.count(table, parsed) == len(whole)


@st.composite
def candidates(draw: st.DrawFn) -> list[tuple[int, ...]]:
    """Complex events by their last position; some are there twice, as under other labels."""
    apart = draw(st.sampled_from([1, 7, 64]))
    found = []
    for end in draw(st.lists(st.integers(1, 12), max_size=4, unique=True).map(sorted)):
        before = st.sets(st.integers(0, end - 1), max_size=6)
        for events in draw(st.lists(before, min_size=1, max_size=12)):
            found.append(tuple(apart * place for place in (*sorted(events), end)))
    return found


@settings(max_examples=300)
@given(found=candidates(), strategy=st.sampled_from(COMPARING))
def test_the_kernel_chooses_by_the_orders_of_the_paper(
    found: list[tuple[int, ...]], strategy: Strategy
) -> None:
    offsets = np.cumsum([0, *map(len, found)], dtype=np.int64)
    rows = np.array([row for events in found for row in events], np.int64)
    chosen = best_of(Found(offsets, rows, np.zeros(len(rows), np.int16)), HOW[strategy]).tolist()
    best = choose(strategy, found)
    assert sorted(chosen) == [number for number, events in enumerate(found) if events in best]
    assert [found[number][-1] for number in chosen] == sorted(found[number][-1] for number in chosen)


def test_what_is_only_taken_in_is_not_counted() -> None:
    query = cepheid.query(RISING.format("LAST"))
    engine = Engine(query.engine(STOCKS.schema).plan, counting=True)
    assert isinstance(engine._evaluator, Selection)
    engine.push(STOCKS.slice(0, 4), report=False)
    assert engine.counted == 0
    engine.push(STOCKS.slice(4))
    ends = [events[-1] for events in positions(STOCKS, query, evaluator="semantics")]
    assert engine.counted == sum(end >= 4 for end in ends) > 0


def test_too_many_matches_to_choose_among_say_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configurations, "GUARD", 5)
    error = error_of(lambda: cepheid.match(STOCKS, RISING.format("MAX")))
    assert error.code == "too-many-matches"
    assert error.hint is not None
    assert "all matches that end at an event" in error.hint
    assert "LIMIT" not in error.hint


def test_explain_says_what_the_time_grows_with() -> None:
    text = cepheid.explain(RISING.format("NXT"), STOCKS)
    assert "evaluator: configurations" in text
    assert "NXT chooses among all matches that end at an event, so time grows with those" in text


def test_all_bindings_of_a_chosen_complex_event_stay() -> None:
    """Two ways to name the same events: both are matches, and the strategy compares events alone."""
    query = (
        "SELECT MAX * FROM s WHERE (A AS x ; A AS z ; B AS y OR A AS z ; A AS x ; B AS y) FILTER y.v > x.v"
    )
    rows = cepheid.match(STOCKS, query, positions=True)
    assert cepheid.query(query).engine(STOCKS.schema).plan.evaluator == "configurations"
    assert rows["positions"].to_pylist().count([0, 1, 2]) == 2
