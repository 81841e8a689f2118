"""The configurations evaluator against the oracle: SREMO, CEL that compares events, CEL that does not."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import cepheid
from cepheid.algebra.nodes import Strategy, WindowUnit
from cepheid.algebra.scope import check_scope
from cepheid.errors import CepheidError
from support.agreement import differences, expected, is_declined, is_taken, numbered, plan_of, run, same
from support.compared_queries import COMPARED, compared_cases, seeded_compared
from support.generators import SREMO, UNARY, Case, Limits, cases, seeded_sremo, sremo_cases
from support.random_sremo import (
    ReadingCase,
    case_of,
    crossed,
    reading_case,
    reading_cases,
    remembering,
    seeded_reading,
)
from support.small_streams import positions, stream

CUTS = st.lists(st.integers(0, 16), max_size=3)
ALWAYS = -(10**9)
many = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], print_blob=True)


def agrees(case: Case, cuts: list[int]) -> None:
    if not is_declined(case, "configurations"):
        cuts = [min(cut, len(case.table)) for cut in cuts]
        difference = differences(case, cuts, "configurations", saved=is_well_formed(case))
        note(repr(case))
        assert difference is None, difference


@many
@given(case=sremo_cases(), cuts=CUTS)
def test_registers_hold_what_the_definition_says(case: Case, cuts: list[int]) -> None:
    agrees(case, cuts)


@many
@given(case=sremo_cases(Limits(events=12, atoms=3)), cuts=CUTS)
def test_short_expressions_agree_on_longer_streams(case: Case, cuts: list[int]) -> None:
    agrees(case, cuts)


def is_well_formed(case: Case) -> bool:
    """Whether the query can be read from its text: an engine is saved with that."""
    try:
        check_scope(case.query)
    except CepheidError:
        return False
    return True


KINDS = {"anything": reading_case, "crossed": crossed, "remembering": remembering}


@pytest.mark.parametrize("kind", KINDS)
def test_registers_are_read_while_others_are_stored(kind: str) -> None:
    @settings(many, max_examples=60)
    @given(case=reading_cases(KINDS[kind]), cuts=CUTS)
    def reads(case: ReadingCase, cuts: list[int]) -> None:
        agrees(case_of(case), cuts)

    reads()


@pytest.mark.parametrize("window", [None, *WindowUnit])
def test_filters_compare_what_the_definition_compares(window: WindowUnit | None) -> None:
    @settings(many, max_examples=60)
    @given(case=compared_cases(replace(COMPARED, windows=(window,))), cuts=CUTS)
    def compares(case: Case, cuts: list[int]) -> None:
        agrees(case, cuts)

    compares()


@settings(many, max_examples=100)
@given(case=cases(replace(UNARY, events=20, strategies=(Strategy.ALL, Strategy.STRICT))), cuts=CUTS)
def test_it_gives_the_matches_of_compact_where_both_run(case: Case, cuts: list[int]) -> None:
    plan = plan_of(case, "compact")
    if plan is None or not is_taken(case, "configurations"):
        return
    table, cuts = numbered(case), [min(cut, len(case.table)) for cut in cuts]
    other = plan_of(case, "configurations")
    assert other is not None
    note(repr(case))
    assert same(run(plan, table, cuts), run(other, table, cuts), [item.name for item in plan.shown])


def test_what_is_forgotten_is_never_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, keys and texts are dropped at every chance."""
    monkeypatch.setattr("cepheid.engine._SPARE", ALWAYS)
    monkeypatch.setattr("cepheid.engine._SPARE_PARTITIONS", ALWAYS)
    monkeypatch.setattr("cepheid.evaluators.configurations.partition_store._SPARE_TEXTS", ALWAYS)

    @settings(many, max_examples=60)
    @given(case=compared_cases(replace(COMPARED, events=20)), cuts=st.lists(st.integers(0, 20), max_size=8))
    def forgets(case: Case, cuts: list[int]) -> None:
        agrees(case, cuts)

    @settings(many, max_examples=40)
    @given(case=sremo_cases(Limits(events=16, atoms=4)), cuts=st.lists(st.integers(0, 16), max_size=8))
    def forgets_registers(case: Case, cuts: list[int]) -> None:
        agrees(case, cuts)

    forgets()
    forgets_registers()


def test_the_random_cases_compare_events_and_match() -> None:
    """They would be worthless otherwise."""
    taken = [case for seed in range(100) if is_taken(case := seeded_compared(seed), "configurations")]
    comparing = [case for case in taken if compares_events(case)]
    sizes = [len(expected(case)) for case in comparing]
    assert len(comparing) > 90
    assert sum(size > 0 for size in sizes) > len(comparing) / 3
    assert sum(size > 3 for size in sizes) > len(comparing) / 8
    taken = [case for seed in range(100) if is_taken(case := seeded_sremo(seed, SREMO), "configurations")]
    assert len(taken) > 80
    assert sum(len(expected(case)) > 0 for case in taken) > len(taken) / 3
    readings = [case_of(seeded_reading(seed, kind)) for seed in range(40) for kind in KINDS.values()]
    taken = [case for case in readings if is_taken(case, "configurations") and compares_events(case)]
    assert len(taken) > len(readings) / 3
    assert sum(len(expected(case)) > 0 for case in taken) > len(taken) / 3


def compares_events(case: Case) -> bool:
    """Whether some transition of the automaton reads a register."""
    plan = plan_of(case, "configurations")
    assert plan is not None
    assert plan.automaton is not None
    return bool(plan.automaton.tests)


TWICE = {
    # Two runs, one set of marks: which of the unmarked events was read does not show.
    "#([type = 'A'], -[type = 'B'], [type = 'C'])": ("ABBC", [[0, 3]]),
    "[type = 'A'] . any* . [type = 'C'] | #([type = 'A'], [type = 'C'])": ("ABC", [[0, 2]]),
    # Both branches take the event, and store it in registers of their own.
    "#([true] > r | [v >= 0] > s, [v > r.v] | [v > s.v])": ("AB", [[0, 1]]),
    "#([true] > r | [v >= 0] > r, [v > r.v])": ("ABC", [[0, 1], [0, 2], [1, 2]]),
    # The register holds one of two unmarked events; both let the last one pass.
    "[type = 'A'] . (-[type = 'B'] > r . any | any . -[type = 'B'] > r) . [v > r.v]": ("ABBC", [[0, 3]]),
    "SELECT * FROM s WHERE (A AS x OR A AS x) ; B AS y FILTER x.v < y.v": ("AAB", [[0, 2], [1, 2]]),
    "SELECT y FROM s WHERE ((A AS x ; B AS y) OR (A AS z ; B AS y FILTER z.v < y.v))": ("AB", [[0, 1]]),
}


@pytest.mark.parametrize("query", TWICE)
def test_a_match_that_two_runs_reach_comes_out_once(query: str) -> None:
    types, found = TWICE[query]
    table = stream(types, v=list(range(len(types))))
    assert positions(table, query, evaluator="configurations") == found
    assert cepheid.count(table, query, evaluator="configurations") == len(found)
    assert positions(table, query, evaluator="semantics") == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT * FROM s WHERE (A AS x ; B AS y ; C AS z) FILTER x.v < z.v CONSUME", [[0, 1, 2], [3, 4, 5]]),
        ("#([type = 'A'] > r, [type = 'B'], [type = 'C' AND v > r.v]) CONSUME", [[0, 1, 2], [3, 4, 5]]),
    ],
)
@pytest.mark.parametrize("clause", ["", "WITHIN 9", "WITHIN 9 EVENTS"])
def test_consume_forgets_everything_but_goes_on(query: str, found: list[list[int]], clause: str) -> None:
    table = stream("ABCABC", v=[0, 0, 1, 0, 0, 1])
    text = query.replace(" CONSUME", f" {clause} CONSUME")
    assert positions(table, text) == found
    assert cepheid.count(table, text) == 2


@pytest.mark.parametrize("limit", [1, 3, 4, 99])
def test_a_limit_is_for_all_batches_together(limit: int) -> None:
    table = pa.table({"ts": range(6), "type": list("AABBCC"), "v": [0, 1, 0, 0, 2, 3]})
    text = f"SELECT * FROM s WHERE (A AS x ; B AS y ; C AS z) FILTER x.v < z.v LIMIT {limit}"
    engine = cepheid.query(text).engine(table.schema, positions=True)
    assert engine.plan.evaluator == "configurations"
    found = [match for at in range(6) for match in engine.push(table.slice(at, 1))["positions"].to_pylist()]
    assert [match[-1] for match in found] == [4, 4, 4, 4, 5, 5, 5, 5][:limit]
    assert len({tuple(match) for match in found}) == len(found)
    assert cepheid.count(table, text) == min(limit, 8)


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([5, 1, 2, 6], [[0, 1, 2, 3]]),
        ([1, 3, 2, 2], []),
        ([5, 1, 2, 4], []),
        ([1, 5, 6, 4], [[0, 1, 2, 3]]),
    ],
)
def test_an_iteration_hides_the_variables_around_it(values: list[int], found: list[list[int]]) -> None:
    """The inner x is a B; the outer one, an A, is the one that z is compared with."""
    query = "SELECT * FROM s WHERE (A AS x ; (B AS x ; C AS y FILTER x.v < y.v)+ ; A AS z) FILTER x.v < z.v"
    assert positions(stream("ABCA", v=values), query, evaluator="configurations") == found


@pytest.mark.parametrize("clause", ["WITHIN 5 EVENTS", "WITHIN 9"])
def test_skipping_that_stores_anew_leaves_the_old_event_behind(clause: str) -> None:
    """The state stays the same, but what it remembers does not: no two neighbours in between have the same a."""
    query = f"[TRUE] . !(any* . [TRUE] > s . [a = s.a] . any*) . [TRUE] {clause}"
    table = pa.table({"ts": range(5), "a": [0, 0, 1, 1, 0]})
    found = positions(table, query, evaluator="configurations")
    assert found == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3], [2, 4], [3, 4]]
    assert cepheid.count(table, query, evaluator="configurations") == len(found)
    assert positions(table, query, evaluator="semantics") == found
