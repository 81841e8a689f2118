"""Evaluators against the oracle on absence, conjunction, windows of parts and nested strategies, in any batches."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from support.agreement import differences
from support.generators import Case, Limits
from support.varied_patterns import varied_cases

CUTS = st.lists(st.integers(0, 12), max_size=3)
SMALL = Limits(events=8, atoms=3)


@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
@given(case=varied_cases(SMALL) | varied_cases(replace(SMALL, sets=True, nary=False)), cuts=CUTS)
def test_whatever_runs_a_query_finds_what_the_definition_says(case: Case, cuts: list[int]) -> None:
    difference = differences(case, [min(cut, len(case.table)) for cut in cuts], "auto", saved=True)
    note(repr(case))
    assert difference is None, difference


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
@given(case=varied_cases(SMALL), cuts=CUTS)
def test_the_semantics_evaluator_reports_in_batches_what_becomes_known(case: Case, cuts: list[int]) -> None:
    difference = differences(case, [min(cut, len(case.table)) for cut in cuts], "semantics", saved=True)
    note(repr(case))
    assert difference is None, difference
