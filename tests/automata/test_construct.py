"""construct: the automaton accepts exactly the pattern's matches."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given, settings

from cepheid.algebra.conditions import Attribute, Comparison, Literal
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Or,
    Pattern,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
)
from cepheid.algebra.variables import shown
from cepheid.automata.construct import construct
from cepheid.automata.trim import trim
from cepheid.automata.unary import is_unary
from cepheid.errors import CepheidError
from cepheid.rewrite.rules import rewrite
from cepheid.rewrite.safe import make_safe
from cepheid.rewrite.unsatisfiable import UnsatisfiableError
from cepheid.semantics.stream import Event
from support import generators
from support.automaton_runs import affordable, by_automaton, by_oracle

A, B, C = Atom("A", "x"), Atom("B", "y"), Atom("C", "z")


def events(types: str) -> list[Event]:
    return [Event(type, time, {}) for time, type in enumerate(types)]


@pytest.mark.parametrize(
    "pattern",
    [
        A,
        Seq(A, B),
        StrictSeq(A, B),
        Or((Seq(A, B), B)),
        Repeat(A, 1, None),
        Repeat(A, 0, None),
        Repeat(A, 0, 1),
        Repeat(A, 2, 3),
        Repeat(A, 0, 2),
        Repeat(A, 2, None),
        Repeat(Seq(A, Repeat(B, 0, 1)), 1, None),
        Repeat(StrictSeq(A, B), 1, 2),
        Repeat(Repeat(A, 0, 2), 2, 2),
        StrictSeq(StrictSeq(A, Repeat(B, 0, 1)), C),
        StrictSeq(Seq(A, Repeat(B, 0, 1)), C),
        Seq(StrictSeq(A, Repeat(B, 0, 1)), C),
        StrictSeq(A, Seq(Repeat(B, 0, 1), C)),
        Seq(A, StrictSeq(Repeat(B, 0, None), C)),
        StrictSeq(Repeat(A, 1, None), Repeat(B, 1, None)),
        Seq(Repeat(A, 0, 0), B),
        Or((StrictSeq(A, C), Seq(A, B))),
        All(A, B),
        All(A, Atom("A", "y")),
        All(A, A),
        All(A, Atom("A")),
        All(All(A, B), C),
        All(Repeat(A, 1, None), B),
        All(Repeat(A, 1, None), Repeat(Or((A, B)), 1, 2)),
        All(Repeat(A, 0, 1), Repeat(B, 0, None)),
        All(StrictSeq(A, B), C),
        All(StrictSeq(A, B), StrictSeq(Atom("B"), C)),
        All(Repeat(StrictSeq(A, B), 1, None), Atom(None, "z")),
        Seq(All(A, B), C),
        StrictSeq(C, All(A, B)),
        StrictSeq(All(A, Repeat(B, 0, 1)), C),
        Repeat(All(A, B), 1, None),
        All(Or((A, B)), Or((Atom("A", "y"), Atom("B", "x")))),
        Bind(All(Bind(A, "z"), B), "z"),
    ],
)
@pytest.mark.parametrize("stream", ["", "A", "ABC", "AABCBC", "ABBACC", "CABABC", "AAAAA"])
def test_operators_mean_what_the_oracle_says(pattern: Pattern, stream: str) -> None:
    names = ("x", "y", "z")
    automaton = construct(pattern, names)
    assert by_automaton(automaton, events(stream)) == by_oracle(pattern, events(stream), names)


def _check_random(case: generators.Case) -> None:
    names = tuple(item.name for item in shown(case.query))
    stream = affordable(case.query.pattern, case.events, names)
    expected = by_oracle(case.query.pattern, stream, names)
    try:
        pattern = rewrite(case.query, without=("partition",)).query.pattern
    except UnsatisfiableError:
        assert expected == set()
        return
    if is_unary(pattern):
        assert by_automaton(construct(pattern, names), stream) == expected


@settings(max_examples=300)
@given(generators.cases(generators.Limits(nary=False, events=8)))
def test_random_patterns_mean_what_the_oracle_says(case: generators.Case) -> None:
    _check_random(case)


@settings(max_examples=300)
@given(generators.cases(generators.Limits(nary=False, events=8, sets=True, any_order=70)))
def test_random_parts_in_any_order_mean_what_the_oracle_says(case: generators.Case) -> None:
    _check_random(case)


def test_an_event_of_a_named_and_an_unnamed_part_is_shown_under_both() -> None:
    automaton = construct(All(A, Atom("A")), ("x", "A"))
    assert frozenset({"x", "A"}) in automaton.labels
    found = by_oracle(All(A, Atom("A")), events("AA"), ("x", "A"))
    assert by_automaton(automaton, events("AA")) == found


def test_a_variable_of_one_part_is_not_bound_again_after_both() -> None:
    again = Atom("A", "x")
    assert make_safe(Seq(All(Or((A, B)), C), again)) == Seq(All(B, C), again)


def test_parts_in_any_order_have_a_state_for_each_set_of_those_that_were() -> None:
    parts = [Atom(letter) for letter in "ABCDEFGHIJ"]
    assert trim(construct(reduce(All, parts), ())).states == 2**10
    with pytest.raises(CepheidError) as error:
        construct(reduce(All, [Atom(letter) for letter in "ABCDEFGHIJKLMNO"]), ())
    assert error.value.code == "too-large"
    assert "fewer parts" in str(error.value)


def test_a_strict_follower_dies_with_the_first_skip() -> None:
    assert construct(StrictSeq(A, B), ()).skips == []


def test_a_state_with_both_kinds_of_follower_waits_in_a_copy_that_keeps_the_loose_ones() -> None:
    automaton = construct(Seq(StrictSeq(A, Repeat(B, 0, 1)), C), ())
    skips = {skip.source: skip.target for skip in automaton.skips}
    waiting = skips[1]
    assert skips[waiting] == waiting
    assert [mark.target for mark in automaton.marks if mark.source == 1] == [2, 3]
    assert [mark.target for mark in automaton.marks if mark.source == waiting] == [3]


def test_equal_predicates_share_a_number() -> None:
    hot = Comparison(">", Attribute(None, "n"), Literal(1))
    automaton = construct(Seq(Atom("A", "x", hot), Seq(Atom("A", "y", hot), Atom("A", "z"))), ())
    assert len(automaton.predicates) == 2


def test_predicates_with_constants_of_different_types_stay_apart() -> None:
    one, real = (Comparison("=", Attribute(None, "n"), Literal(value)) for value in (1, 1.0))
    assert len(construct(Seq(Atom("A", "x", one), Atom("A", "y", real)), ()).predicates) == 2


def test_only_shown_names_label_events_and_unnamed_atoms_go_by_their_type() -> None:
    automaton = construct(Seq(A, Seq(Atom("B"), C)), ("x", "B"))
    assert automaton.labels == (frozenset(), frozenset({"x"}), frozenset({"B"}))
    assert [mark.label for mark in automaton.marks] == [{"x"}, {"B"}, set()]


@pytest.mark.parametrize("pattern", [Filter(A, Attribute("x", "p")), Select(Strategy.MAX, A)])
def test_other_operators_say_not_yet(pattern: Pattern) -> None:
    with pytest.raises(CepheidError) as error:
        construct(pattern, ())
    assert error.value.code == "not-yet"


def test_a_repetition_too_long_to_write_out_is_refused_at_once() -> None:
    with pytest.raises(CepheidError) as error:
        construct(Repeat(Repeat(A, 1, 1_000_000), 1, 1_000_000), ())
    assert error.value.code == "too-large"
    assert "1000000000000" in error.value.message


def test_a_long_repetition_has_one_state_and_one_mark_per_copy() -> None:
    automaton = construct(Repeat(A, 0, 2_000), ())
    assert (automaton.states, len(automaton.marks), len(automaton.finals)) == (2_001, 2_000, 2_000)
