"""The semantics evaluator: any batch cut, any save and load, the same matches as the oracle over the whole
stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from cepheid.algebra.nodes import Atom, Query, Repeat, Seq, Window, WindowUnit
from cepheid.evaluators.interface import Bounds, Events
from cepheid.evaluators.semantics import SemanticsEvaluator
from cepheid.matches.match_arrays import Found
from cepheid.plan.choose import choose
from cepheid.plan.plan import Plan
from cepheid.rewrite.rules import Rewriting
from cepheid.semantics.oracle import OracleMatch, partitions
from support.generators import SETS, Case, Drawn, Limits, case

Matches = list[tuple[tuple[int, ...], tuple[frozenset[str], ...]]]


def plan_of(case: Case) -> Plan:
    return choose(case.query, Rewriting(case.query, ()), case.schema, "semantics")


def batch_of(case: Case, start: int, end: int) -> Events:
    stream = case.events
    numbers = np.zeros(len(stream), np.int64)
    positions = np.zeros(len(stream), np.int64)
    for partition, places in enumerate(partitions(case.query, stream)):
        numbers[places] = partition
        positions[places] = np.arange(len(places))
    times = np.array([event.time for event in stream], np.int64)
    part = slice(start, end)
    return Events(case.table.slice(start, end - start), start, times[part], (numbers[part], positions[part]))


def listed(found: Found, labels: Sequence[frozenset[str]]) -> Matches:
    return [
        (tuple(found.rows[a:b].tolist()), tuple(labels[number] for number in found.labels[a:b]))
        for a, b in pairwise(found.offsets.tolist())
    ]


def labelled(match: OracleMatch) -> tuple[tuple[int, ...], tuple[frozenset[str], ...]]:
    return match.positions, tuple(
        frozenset(name for name, at in match.binding if at == position) for position in match.positions
    )


def run(case: Case, cuts: Sequence[int], reload: bool = False) -> Matches:
    evaluator = SemanticsEvaluator(plan_of(case))
    matches: Matches = []
    for start, end in pairwise([0, *cuts, len(case.table)]):
        if reload:
            state = evaluator.save()
            evaluator = SemanticsEvaluator(plan_of(case))
            evaluator.load(state, Bounds(len(case.table), len(case.table), case.table["ts"].type))
        matches += listed(evaluator.advance(batch_of(case, start, end)), evaluator.labels)
    return matches + listed(evaluator.finish(), evaluator.labels)


@st.composite
def cut_cases(draw: Callable[[st.SearchStrategy[int]], int]) -> tuple[Case, list[int]]:
    drawn = Drawn(draw)
    one = case(drawn, SETS if drawn.below(3) == 2 else Limits(events=16))
    return one, sorted(drawn.below(len(one.table) + 1) for _ in range(drawn.below(4)))


@settings(max_examples=300)
@given(cut_cases(), st.booleans())
def test_any_batch_cut_and_reload_gives_the_matches_of_the_oracle(
    given: tuple[Case, list[int]], reload: bool
) -> None:
    case, cuts = given
    # Some of the cases have sets, whose events have several names.
    expected = [labelled(match) for match in case.expected()]
    found = run(case, cuts, reload)
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    assert [rows[-1] for rows, _ in found] == sorted(rows[-1] for rows, _ in found)


def a_then_b(window: Window | None, types: str) -> Case:
    table = pa.table({"type": list(types), "ts": list(range(len(types)))})
    return Case(Query(Seq(Atom("A", "x"), Atom("B", "y")), window=window), table)


def test_rows_outside_the_window_are_not_kept() -> None:
    case = a_then_b(Window(2, WindowUnit.PLAIN), "AAAAA")
    evaluator = SemanticsEvaluator(plan_of(case))
    assert evaluator.memory == 0
    evaluator.advance(batch_of(case, 0, 5))
    assert evaluator.live_rows().tolist() == [2, 3, 4]
    assert evaluator.memory > 0


def test_a_silent_partition_loses_its_rows_when_the_stream_moves_on() -> None:
    table = pa.table({"type": ["A", "A", "A"], "ts": [0, 1, 100], "id": [1, 2, 2]})
    query = Query(Repeat(Atom("A"), 2, None), partition_by=("id",), window=Window(5, WindowUnit.PLAIN))
    case = Case(query, table)
    evaluator = SemanticsEvaluator(plan_of(case))
    evaluator.advance(batch_of(case, 0, 3))
    assert evaluator.live_rows().tolist() == [2]


def test_consumed_rows_are_not_kept() -> None:
    case = a_then_b(None, "AABA")
    case = replace(case, query=replace(case.query, consume=True))
    evaluator = SemanticsEvaluator(plan_of(case))
    evaluator.advance(batch_of(case, 0, 4))
    assert evaluator.live_rows().tolist() == [3]


def test_counting_reports_a_number_and_no_matches() -> None:
    case = a_then_b(None, "AABB")
    evaluator = SemanticsEvaluator(plan_of(case), counting=True)
    assert len(evaluator.advance(batch_of(case, 0, 4))) == 0
    assert evaluator.counted == 4


def test_events_that_are_not_to_be_reported_still_begin_matches() -> None:
    case = a_then_b(None, "ABB")
    evaluator = SemanticsEvaluator(plan_of(case))
    assert len(evaluator.advance(replace(batch_of(case, 0, 2), report=False))) == 0
    assert listed(evaluator.advance(batch_of(case, 2, 3)), evaluator.labels) == [
        ((0, 2), (frozenset({"x"}), frozenset({"y"})))
    ]


def test_limit_holds_over_batches() -> None:
    case = a_then_b(None, "ABBB")
    case = replace(case, query=replace(case.query, limit=2))
    assert [rows for rows, _ in run(case, [1, 2, 3])] == [(0, 1), (0, 2)]
