"""Evaluators against the oracle on random queries and streams, however the stream is cut."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from cepheid.algebra.nodes import Filter, PartBy, Pattern, Strategy, WindowUnit, rebuild, walk
from support.agreement import differences, expected, is_chain, numbered, plan_of, run
from support.generators import SETS, UNARY, Case, Limits, cases, seeded

CUTS = st.lists(st.integers(0, 12), max_size=3)
many = settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
some = settings(many, max_examples=150)


def within(case: Case, cuts: list[int]) -> list[int]:
    return [min(cut, len(case.table)) for cut in cuts]


@pytest.mark.parametrize("window", [None, *WindowUnit])
@pytest.mark.parametrize("strategy", list(Strategy))
def test_compact_finds_what_the_definition_says(strategy: Strategy, window: WindowUnit | None) -> None:
    limits = Limits(nary=False, strategies=(strategy,), windows=(window,))

    @many
    @given(case=cases(limits), cuts=CUTS)
    def agrees(case: Case, cuts: list[int]) -> None:
        difference = differences(case, within(case, cuts))
        note(repr(case))
        assert difference is None, difference

    agrees()


@some
@given(case=cases(Limits(nary=False, events=40, windows=tuple(WindowUnit))), cuts=CUTS)
def test_windows_that_move_on_forget_what_has_left_them(case: Case, cuts: list[int]) -> None:
    difference = differences(case, within(case, cuts))
    note(repr(case))
    assert difference is None, difference


def test_events_that_no_match_can_reach_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """In batches so small that they are not looked for elsewhere. By seeds: the definition takes minutes for some
    patterns that Hypothesis draws."""
    monkeypatch.setattr("cepheid.evaluators.window_prefilter._FEW_EVENTS", 0)
    for seed in range(150):
        case = seeded(seed, Limits(nary=False, events=40, windows=tuple(WindowUnit)))
        assert differences(case, within(case, [seed % 40, 7])) is None, seed


@some
@given(case=cases(Limits(nary=False, events=20, windows=tuple(WindowUnit), strict=60)), cuts=CUTS)
def test_strict_sequences_tell_neighbours_from_others(case: Case, cuts: list[int]) -> None:
    difference = differences(case, within(case, cuts))
    note(repr(case))
    assert difference is None, difference


@some
@given(case=cases(UNARY), cuts=CUTS)
def test_a_saved_engine_goes_on_where_it_was(case: Case, cuts: list[int]) -> None:
    difference = differences(case, within(case, cuts), saved=True)
    note(repr(case))
    assert difference is None, difference


@some
@given(case=cases(Limits(events=8, atoms=4)), cuts=CUTS)
def test_the_semantics_evaluator_is_the_oracle_in_batches(case: Case, cuts: list[int]) -> None:
    difference = differences(case, within(case, cuts), evaluator="semantics", saved=True)
    note(repr(case))
    assert difference is None, difference


@settings(many, max_examples=50)
@given(case=cases(SETS), cuts=CUTS)
def test_sets_and_part_by_are_the_oracle_in_batches(case: Case, cuts: list[int]) -> None:
    difference = differences(case, within(case, cuts), evaluator="auto", saved=True)
    note(repr(case))
    assert difference is None, difference


CHAINS = Limits(
    events=10, atoms=4, sets=True, any_order=0, strategies=(Strategy.ALL, Strategy.ALL, Strategy.STRICT)
)


@settings(many, max_examples=250)
@given(case=cases(CHAINS), cuts=CUTS)
def test_chain_compares_what_the_definition_compares(case: Case, cuts: list[int]) -> None:
    if is_chain(case):
        difference = differences(case, within(case, cuts), "chain", saved=True)
        note(repr(case))
        assert difference is None, difference


@some
@given(
    case=cases(replace(UNARY, events=30, strategies=CHAINS.strategies, windows=tuple(WindowUnit))), cuts=CUTS
)
def test_chain_runs_what_compact_runs(case: Case, cuts: list[int]) -> None:
    if is_chain(case):
        difference = differences(case, within(case, cuts), "chain", saved=True)
        note(repr(case))
        assert difference is None, difference


@some
@given(case=cases(Limits(events=10, atoms=4)), cuts=CUTS)
def test_conditions_on_two_events_are_the_oracle_in_batches(case: Case, cuts: list[int]) -> None:
    difference = differences(case, within(case, cuts), evaluator="auto", saved=True)
    note(repr(case))
    assert difference is None, difference


@some
@given(case=cases(Limits(nary=False, events=10, sets=True, any_order=0)), cuts=CUTS)
def test_compact_runs_sets_that_nothing_compares(case: Case, cuts: list[int]) -> None:
    case = replace(case, query=replace(case.query, pattern=_without_part_by(case.query.pattern)))
    plan = plan_of(case, "auto")
    mixed = plan is not None and any(isinstance(node, Filter) for node in walk(plan.rewritten.pattern))
    difference = differences(case, within(case, cuts), "auto" if mixed else "compact", saved=True)
    note(repr(case))
    assert difference is None, difference


def _without_part_by(pattern: Pattern) -> Pattern:
    return (
        _without_part_by(pattern.body) if isinstance(pattern, PartBy) else rebuild(pattern, _without_part_by)
    )


@some
@given(case=cases(UNARY), seconds=st.integers(-(10**9), 10**9))
def test_shifting_time_changes_no_match(case: Case, seconds: int) -> None:
    plan = plan_of(case, "compact")
    if plan is None:
        return
    whole = run(plan, numbered(case), [])
    shifted = run(plan, numbered(case.shifted(seconds)), [])
    assert shifted["positions"].to_pylist() == whole["positions"].to_pylist()


@some
@given(case=cases(UNARY))
def test_one_event_a_batch_gives_the_same_matches(case: Case) -> None:
    assert differences(case, list(range(len(case.table)))) is None


def test_random_cases_are_not_trivial() -> None:
    """The generator would be worthless if few of its cases had matches."""
    from support.generators import seeded

    sizes = [len(expected(seeded(seed, UNARY))) for seed in range(300)]
    assert sum(size > 0 for size in sizes) > 150
    assert sum(size > 3 for size in sizes) > 60
    sizes = [len(expected(seeded(seed, SETS))) for seed in range(300)]
    assert sum(size > 0 for size in sizes) > 100
    assert sum(size > 3 for size in sizes) > 30
    chains = [case for seed in range(300) if is_chain(case := seeded(seed, CHAINS))]
    linked = [case for case in chains if (plan := plan_of(case, "chain")) and plan.automaton.tests]
    sizes = [len(expected(case)) for case in linked]
    assert len(chains) > 150
    assert sum(size > 0 for size in sizes) > 30
