"""The oracle on the paper's examples and on small streams whose matches are worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings

from cepheid.algebra.conditions import Attribute, Comparison, Literal
from cepheid.algebra.nodes import (
    Atom,
    Filter,
    Or,
    Pattern,
    Query,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    Window,
    WindowUnit,
)
from cepheid.schema import schema_of
from cepheid.semantics import oracle
from cepheid.semantics.oracle import evaluate
from cepheid.semantics.stream import Event, events_of
from support.generators import SETS, Limits, cases
from support.paper_example import PHI1, PHI2, PHI3, PHI4, PHI5, PHI6, STREAM, plus, when

A, B, C = Atom("A", "x"), Atom("B", "y"), Atom("C", "z")


def found(pattern: Pattern, types: str | list[Event], **clauses: object) -> set[tuple[int, ...]]:
    stream = [Event(t, i, {"v": i}) for i, t in enumerate(types)] if isinstance(types, str) else types
    return {match.positions for match in evaluate(replace(Query(pattern), **clauses), stream)}


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (PHI1, {(1, 2), (1, 8), (5, 8)}),
        (PHI2, {(1, 2), (1, 8), (5, 8), (2, 5)}),
        (PHI3, {(3, 6, 7), (3, 4, 7), (3, 4, 6, 7)}),
        (PHI4, {(3, 6, 7), (3, 4, 7), (3, 4, 6, 7)}),
        # Any H, since position 6 is there for y, even after it: why the paper asks for well-formed formulas.
        (PHI5, {(0,), (2,), (3,), (7,), (8,)}),
        (PHI6, {(1, 4), (1, 5), (1, 6), (4, 5), (4, 6), (5, 6), (6, 7), (6, 8)}),
    ],
)
def test_formulas_of_the_paper_on_figure_1(formula: Pattern, expected: set[tuple[int, ...]]) -> None:
    assert found(formula, STREAM) == expected


@pytest.mark.parametrize(
    ("strategy", "formula", "expected"),
    [
        (Strategy.STRICT, PHI1, {(1, 2)}),
        (Strategy.NXT, PHI1, {(1, 2), (1, 8)}),
        (Strategy.LAST, PHI1, {(1, 2), (5, 8)}),
        (Strategy.MAX, PHI1, {(1, 2), (1, 8), (5, 8)}),
        (Strategy.NXT, PHI3, {(3, 4, 6, 7)}),
        (Strategy.LAST, PHI3, {(3, 4, 6, 7)}),
        (Strategy.MAX, PHI3, {(3, 4, 6, 7)}),
        (Strategy.NXT, PHI4, {(3, 4, 6, 7)}),
    ],
)
def test_strategies_of_the_paper_on_figure_1(
    strategy: Strategy, formula: Pattern, expected: set[tuple[int, ...]]
) -> None:
    assert found(formula, STREAM, strategy=strategy) == expected
    assert found(Select(strategy, formula), STREAM) == expected


def test_a_variable_bound_twice_in_a_sequence_matches_nothing() -> None:
    assert found(Seq(Atom("A", "x"), Atom("A", "x")), "AAA") == set()


def test_an_iteration_binds_its_variables_afresh() -> None:
    assert found(Repeat(A, 2, 2), "AA") == {(0, 1)}
    assert found(Seq(A, plus(Atom("A", "x"))), "AA") == {(0, 1)}


def test_a_filter_in_an_iteration_reads_the_outer_variable() -> None:
    stream = [
        Event("A", 0, {"v": 5}),
        Event("B", 1, {"v": 6}),
        Event("B", 2, {"v": 4}),
        Event("B", 3, {"v": 7}),
    ]
    rising = plus(Filter(B, when("y.v", ">", "x.v")))
    assert found(Seq(A, rising), stream) == {(0, 1), (0, 3), (0, 1, 3)}


def test_repetition_counts() -> None:
    assert found(Repeat(A, 2, 3), "AAAA", strategy=Strategy.STRICT) == {
        (0, 1),
        (1, 2),
        (2, 3),
        (0, 1, 2),
        (1, 2, 3),
    }
    assert found(Repeat(A, 0, 0), "AA") == set()
    assert found(Repeat(Repeat(A, 0, 1), 2, None), "AA") == {(0,), (1,), (0, 1)}


def test_the_empty_match_is_neutral_and_never_a_match() -> None:
    assert found(Repeat(A, 0, None), "B") == set()
    assert found(Seq(Seq(A, Repeat(B, 0, 1)), C), "ABC") == {(0, 2), (0, 1, 2)}
    assert found(StrictSeq(StrictSeq(A, Repeat(B, 0, 1)), C), "ABCAC") == {(0, 1, 2), (3, 4)}


def test_the_same_events_with_two_bindings_are_two_matches_unless_the_variables_are_dropped() -> None:
    either = Or((Atom("A", "x"), Atom("A", "y")))
    stream = [Event("A", 0, {})]
    bindings = {match.binding for match in evaluate(Query(either), stream)}
    assert bindings == {frozenset({("x", 0)}), frozenset({("y", 0)})}
    assert len(evaluate(Query(either, select=()), stream)) == 1
    assert len(evaluate(Query(either, select=("x",)), stream)) == 2


def test_the_window_comes_before_the_strategy() -> None:
    window = Window(2, WindowUnit.EVENTS)
    assert found(Seq(A, B), "AAB", window=window, strategy=Strategy.NXT) == {(1, 2)}


def test_a_strategy_inside_a_formula_chooses_per_valuation_of_what_is_outside() -> None:
    # For every x the last B above it: for x = 0 (v 0) the B at 3, for x = 1 (v 2) the B at 2.
    stream = [
        Event("A", 0, {"v": 0}),
        Event("A", 1, {"v": 2}),
        Event("B", 2, {"v": 3}),
        Event("B", 3, {"v": 1}),
    ]
    pair = Seq(Filter(B, when("y.v", ">", "x.v")), Atom("C", "z"))
    stream.append(Event("C", 4, {"v": 0}))
    assert found(Seq(A, Select(Strategy.LAST, pair)), stream) == {(0, 3, 4), (1, 2, 4)}
    assert found(Select(Strategy.LAST, Seq(A, pair)), stream) == {(0, 3, 4)}


def test_consume_forgets_up_to_the_first_end_that_matches() -> None:
    assert found(Seq(A, B), "ABBAB", consume=True) == {(0, 1), (3, 4)}
    # STRICT leaves nothing at 2, so nothing is forgotten there.
    assert found(Seq(A, B), "ACBAB", consume=True, strategy=Strategy.STRICT) == {(3, 4)}


def test_partitions_are_streams_of_their_own_and_null_and_nan_are_keys() -> None:
    keys = [None, float("nan"), 1.0, None, float("nan"), 1.0]
    stream = [Event("AB"[i // 3], i, {"id": key}) for i, key in enumerate(keys)]
    clauses = {"partition_by": ("id",), "strategy": Strategy.STRICT}
    assert found(Seq(A, B), stream, **clauses) == {(0, 3), (1, 4), (2, 5)}


def test_limit_gives_the_first_by_end() -> None:
    assert found(Seq(A, B), "ABB", limit=1) == {(0, 1)}


def test_atoms_of_any_type_and_with_a_condition_of_their_own() -> None:
    later = Comparison(">", Attribute(None, "v"), Literal(0))
    assert found(Atom(None, "x", later), "AB") == {(1,)}


@settings(max_examples=150)
@given(cases(Limits(events=10)) | cases(SETS))
def test_window_by_window_gives_what_the_definition_gives(case) -> None:  # type: ignore[no-untyped-def]
    assume(case.query.window is not None)
    whole = case.expected()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oracle, "LONG", 0)
        assert case.expected() == whole


def test_a_long_stream_with_a_small_window_is_quick() -> None:
    window = Window(3, WindowUnit.PLAIN)
    assert len(found(Seq(A, B), "AB" * 1500, window=window)) == 1500 + 1499


def test_events_of_reads_times_as_microseconds_and_types_as_text() -> None:
    table = pa.table({"ts": pa.array([1, 2], pa.timestamp("ms", "UTC")), "type": [7, None]})
    events = events_of(table, schema_of(table.schema, time="ts"))
    assert [(event.type, event.time) for event in events] == [("7", 1000), (None, 2000)]
    dates = pa.table({"day": pa.array([0, 1], pa.date32())})
    assert [event.time for event in events_of(dates, schema_of(dates.schema, time="day"))] == [
        0,
        86_400_000_000,
    ]
