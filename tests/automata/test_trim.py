"""trim: fewer states, the same matches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from cepheid.algebra.nodes import Atom, Or, Repeat, Seq, StrictSeq
from cepheid.algebra.variables import shown
from cepheid.automata.automaton import Automaton, Guard, Link, Predicate, Transition, numbered
from cepheid.automata.construct import construct
from cepheid.automata.trim import trim
from cepheid.rewrite.rules import rewrite
from cepheid.rewrite.unsatisfiable import UnsatisfiableError
from support import generators
from support.automaton_runs import by_automaton

A, B, C = Atom("A", "x"), Atom("B", "y"), Atom("C", "z")


@settings(max_examples=300)
@given(generators.cases(generators.Limits(nary=False, events=8)))
def test_matches_stay_the_same_and_trimming_twice_changes_nothing(case: generators.Case) -> None:
    names = tuple(item.name for item in shown(case.query))
    try:
        automaton = construct(rewrite(case.query).query.pattern, names)
    except UnsatisfiableError:
        return
    trimmed = trim(automaton)
    assert by_automaton(trimmed, case.events) == by_automaton(automaton, case.events)
    assert trimmed.states <= automaton.states
    assert trim(trimmed) == trimmed


def test_states_with_the_same_future_become_one() -> None:
    tail = Seq(B, Repeat(C, 1, None))
    assert trim(construct(Or((Seq(A, tail), Seq(Atom("D"), tail))), ("x",))).states == 4


def test_states_that_differ_in_a_label_stay_apart() -> None:
    pattern = Or((Seq(Atom("A", "x"), Atom("B", "y")), Seq(Atom("C", "z"), Atom("B", "w"))))
    assert trim(construct(pattern, ("y", "w"))).states == 4
    assert trim(construct(pattern, ())).states == 3


def test_states_that_differ_in_how_they_skip_stay_apart() -> None:
    pattern = Or((Seq(Atom("A"), Atom("B")), StrictSeq(Atom("C"), Atom("B"))))
    assert trim(construct(pattern, ())).states == 4


def test_states_that_lead_nowhere_and_states_nothing_leads_to_are_dropped() -> None:
    any_event, named = (Guard(frozenset([Predicate(type, None)])) for type in (None, "A"))
    nothing = frozenset[str]()
    useful = Transition(0, 1, named, nothing)
    others = [
        Transition(0, 2, any_event, frozenset({"x"})),
        Transition(3, 1, any_event, nothing),
        Transition(2, 4, Guard(any_event.holds | {Link("id", "id")}), nothing),
        *(Transition(state, state) for state in (2, 3, 4)),
    ]
    automaton = numbered(5, [*others, useful], frozenset({1}))
    assert (len(automaton.predicates), len(automaton.tests), len(automaton.labels)) == (2, 1, 2)
    assert trim(automaton) == numbered(2, [useful], frozenset({1}))


def automaton_of(
    states: int, marks: list[tuple[int, str, int]], skips: list[tuple[int, int]], finals: set[int]
) -> Automaton:
    """Marks as source, type and target; skips as source and target."""
    transitions = [
        Transition(source, target, Guard(frozenset([Predicate(type, None)])), frozenset())
        for source, type, target in marks
    ]
    return numbered(states, [*transitions, *(Transition(*skip) for skip in skips)], frozenset(finals))


def parts(automaton: Automaton) -> tuple[int, set[Transition], frozenset[int]]:
    return automaton.states, set(automaton.transitions), automaton.finals


def test_skips_lead_to_matches_or_are_dropped_and_end_none() -> None:
    """State 1 leads to a match by skipping only; 2 skips to 4, which leads nowhere, and is entered by no event."""
    marks = [(0, "A", 1), (2, "B", 3)]
    automaton = automaton_of(5, marks, [(1, 2), (2, 4), (4, 4)], {2, 3})
    assert parts(trim(automaton)) == parts(automaton_of(4, marks, [(1, 2)], {3}))


def test_a_skip_to_a_state_that_is_merged_leads_to_the_one_that_acts_for_it() -> None:
    marks = [(0, "A", 1), (0, "B", 2), (2, "C", 4), (3, "C", 4)]
    automaton = automaton_of(5, marks, [(1, 3), (2, 2), (3, 3)], {4})
    kept = automaton_of(4, [(0, "A", 1), (0, "B", 2), (2, "C", 3)], [(1, 2), (2, 2)], {3})
    assert parts(trim(automaton)) == parts(kept)


def test_nothing_is_merged_into_the_initial_state() -> None:
    """The state after an A of A+ moves as the initial one does."""
    trimmed = trim(construct(Repeat(A, 1, None), ()))
    assert trimmed.states == 2
    assert {mark.target for mark in trimmed.marks} == {1}


def test_an_automaton_that_accepts_nothing_keeps_its_initial_state() -> None:
    automaton = numbered(2, [Transition(0, 1, label=frozenset()), Transition(1, 1)], frozenset())
    assert trim(automaton) == Automaton(1, (), frozenset())


def test_a_long_chain_is_trimmed_in_reasonable_time() -> None:
    automaton = construct(Repeat(A, 3_000, 3_000), ("x",))
    assert trim(automaton).states == 3_001


def test_states_stay_apart_where_merging_them_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    tail = Seq(B, Repeat(C, 1, None))
    automaton = construct(Or((Seq(A, tail), Seq(Atom("D"), tail))), ("x",))
    merged = trim(automaton).states
    monkeypatch.setattr("cepheid.automata.trim.MOST_WORK", 5)
    assert trim(automaton).states == automaton.states > merged
