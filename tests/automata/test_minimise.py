"""The smallest automaton: how small it is, and that it does what the one it came from does."""

from __future__ import annotations

from collections import Counter
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis.strategies import randoms

import cepheid
from cepheid.algebra.conditions import Comparison, Literal
from cepheid.algebra.nodes import Atom, Not, Seq, Strategy
from cepheid.algebra.variables import shown
from cepheid.automata.automaton import Automaton, Predicate
from cepheid.automata.construct import construct
from cepheid.automata.determinise import Determiniser
from cepheid.automata.deterministic import Deterministic, Transitions
from cepheid.automata.minimise import minimise, possible_classes
from cepheid.automata.trim import trim
from cepheid.plan.plan import Plan
from cepheid.rewrite.rules import rewrite
from cepheid.rewrite.unsatisfiable import UnsatisfiableError
from support import generators

TRUE = Comparison("=", Literal(1), Literal(1))


def automaton_of(pattern: str) -> Automaton:
    schema = pa.schema([("ts", pa.int64()), ("type", pa.string())])
    plan: Plan = cepheid.query(f"SELECT * FROM s WHERE {pattern}").engine(schema).plan
    assert plan.evaluator == "compact"
    assert plan.automaton is not None
    return plan.automaton


@pytest.mark.parametrize(
    ("pattern", "strategy", "determinised", "labelled", "counting"),
    [
        ("A AS x ; B AS y ; C AS z", Strategy.ALL, 3, 3, 3),
        ("A AS x ; B AS y ; C AS z", Strategy.LAST, 9, 3, 3),
        ("A AS x ; B AS y ; C AS z ; D AS w", Strategy.LAST, 33, 4, 4),
        ("A AS x ; B AS y ; C AS z ; D AS w", Strategy.MAX, 10, 4, 4),
        ("A AS x ; (B AS y OR C AS z) ; D", Strategy.ALL, 3, 3, 3),
        ("(A AS x ; B) OR (C AS y ; B)", Strategy.ALL, 2, 2, 2),
        ("(A ; B AS y) OR (A ; B AS z) OR (C ; B AS y)", Strategy.ALL, 3, 3, 3),
    ],
)
def test_how_many_states(
    pattern: str, strategy: Strategy, determinised: int, labelled: int, counting: int
) -> None:
    automaton = Determiniser(automaton_of(pattern), strategy)
    sizes = [len(small) for by in (True, False) if (small := minimise(automaton, by))]
    assert (len(automaton), *sizes) == (determinised, labelled, counting)


def outputs(
    automaton: Deterministic[Transitions], classes: list[frozenset[int]]
) -> list[Counter[tuple[int, ...]]]:
    """By event, the label strings (0 for a skipped event) of the matches it completes."""
    runs: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    found = []
    for satisfied in classes:
        after, ended = [], Counter[tuple[int, ...]]()
        for state, string in runs:
            (outcome,) = automaton.transitions(state, satisfied).outcomes
            if outcome.skip is not None:
                after.append((outcome.skip.state, (*string, -1)))
            for mark in outcome.marks:
                ended[*string, mark.label] += mark.accepts
                if mark.goal is not None:
                    after.append((mark.goal.state, (*string, mark.label)))
        runs = after
        found.append(+ended)
    return found


@settings(max_examples=200)
@given(generators.cases(generators.Limits(nary=False, events=8)), randoms())
def test_it_gives_what_the_determinised_automaton_gives(case: generators.Case, random: Random) -> None:
    try:
        pattern = rewrite(case.query).query.pattern
    except UnsatisfiableError:
        return
    whole = trim(construct(pattern, tuple(item.name for item in shown(case.query))))
    classes = possible_classes(whole.predicates, 64)
    if classes is None:
        return
    for strategy in Strategy:
        automaton = Determiniser(whole, strategy)
        stream = random.choices(classes, k=6)
        expected = outputs(automaton, stream)
        if (labelled := minimise(automaton, True)) is not None:
            assert outputs(labelled, stream) == expected
        if (counting := minimise(automaton, False)) is not None:
            assert [found.total() for found in outputs(counting, stream)] == [e.total() for e in expected]


def test_classes_are_all_that_an_event_can_satisfy() -> None:
    predicates = [Predicate("A", None), Predicate("A", TRUE), Predicate("B", TRUE), Predicate(None, None)]
    found = possible_classes(predicates, 99)
    assert found is not None
    assert {tuple(sorted(item)) for item in found} == {(), (3,), (0, 3), (0, 1, 3), (2, 3)}


def test_too_many_classes_or_states_are_left_alone() -> None:
    assert possible_classes([Predicate("A", TRUE)] * 12, 2048) is None
    automaton = Determiniser(automaton_of(" ; ".join("ABCDE")), Strategy.LAST)
    assert minimise(automaton, False, most_steps=200) is None


def test_what_leads_back_to_the_start_is_needed() -> None:
    """After A and a forbidden C, NXT is where it began."""
    pattern = Seq(Seq(Atom("A"), Not(Atom("C"))), Atom("A"))
    whole = Determiniser(construct(pattern, ()), Strategy.NXT)
    smallest = minimise(whole)
    assert smallest is not None
    forbidden = frozenset([1])
    begun = smallest.transitions(0, frozenset([0])).outcomes[0].skip
    assert begun is not None
    (outcome,) = smallest.transitions(begun.state, forbidden).outcomes
    assert outcome.skip is not None
    assert outcome.skip.state == 0
