"""Evaluators against the oracle on absence, conjunction, windows of parts and nested strategies, in any batches."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from cepheid.algebra.nodes import Not, Select, Within, walk
from support.agreement import differences, is_declined, plan_of
from support.generators import Case, Limits
from support.varied_patterns import BETWEEN, STRATEGIES, WINDOWS, seeded_varied, varied_cases

CUTS = st.lists(st.integers(0, 12), max_size=3)
SMALL = Limits(events=8, atoms=3)


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
@given(case=varied_cases(SMALL) | varied_cases(replace(SMALL, sets=True, nary=False)), cuts=CUTS)
def test_whatever_runs_a_query_finds_what_the_definition_says(case: Case, cuts: list[int]) -> None:
    difference = differences(case, [min(cut, len(case.table)) for cut in cuts], "auto", saved=True)
    note(repr(case))
    assert difference is None, difference


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
@given(case=varied_cases(SMALL), cuts=CUTS)
def test_the_semantics_evaluator_reports_in_batches_what_becomes_known(case: Case, cuts: list[int]) -> None:
    difference = differences(case, [min(cut, len(case.table)) for cut in cuts], "semantics", saved=True)
    note(repr(case))
    assert difference is None, difference


def test_absence_between_two_events_runs_on_automata() -> None:
    """By seeds, which can be counted: most are to run on a fast evaluator, and enough to find something."""
    ran = Counter[str]()
    for seed in range(400):
        limits = Limits(events=9, atoms=3, nary=seed % 2 == 1)
        case = seeded_varied(seed, limits, (BETWEEN,))
        plan = plan_of(case, "auto")
        if plan is None or not any(isinstance(node, Not) for node in walk(plan.query.pattern)):
            continue
        ran[plan.evaluator] += 1
        if plan.evaluator != "semantics":
            cuts = [min(seed % cut, len(case.table)) for cut in (9, 5)]
            assert differences(case, cuts, "auto", saved=True) is None, (seed, case)
    assert (ran["compact"] > 20, ran["configurations"] > 10) == (True, True), ran


def test_windows_of_parts_and_steps_run_on_automata() -> None:
    """All but the few whose reasons say that the definition runs them."""
    ran = Counter[str]()
    for seed in range(250):
        limits = Limits(events=9, atoms=3, nary=seed % 3 == 1, sets=seed % 4 == 1)
        case = seeded_varied(seed, limits, (WINDOWS,))
        plan = plan_of(case, "auto")
        if plan is None or not any(isinstance(node, Within) for node in walk(plan.query.pattern)):
            continue
        ran[plan.evaluator] += 1
        if plan.evaluator != "semantics":
            cuts = [min(seed % cut, len(case.table)) for cut in (9, 5)]
            assert differences(case, cuts, "auto", saved=seed % 3 == 0) is None, (seed, case)
    assert (ran["configurations"] > 80, ran["semantics"] < 10) == (True, True), ran


def test_strategies_inside_a_formula_run_on_automata() -> None:
    """On `compact`, and beside filters over several events on `configurations`."""
    ran = Counter[str]()
    for seed in range(300):
        limits = Limits(events=9, atoms=3, nary=seed % 3 == 1, sets=seed % 4 == 1)
        case = seeded_varied(seed, limits, (STRATEGIES,))
        plan = plan_of(case, "auto")
        nested = [node for node in walk(case.query.pattern) if isinstance(node, Select)]
        if plan is None or not nested:
            continue
        ran[plan.evaluator] += 1
        if plan.evaluator == "semantics":
            continue
        cuts = [min(seed % cut, len(case.table)) for cut in (9, 5)]
        saved = seed % 3 == 0 and nested[0] is not case.query.pattern  # which is the query's strategy as text
        assert differences(case, cuts, "auto", saved=saved) is None, (seed, case)
        if not is_declined(case, "configurations"):
            assert differences(case, cuts, "configurations", saved=saved) is None, (seed, case)
    assert (ran["compact"] > 80, ran["configurations"] > 0) == (True, True), ran
