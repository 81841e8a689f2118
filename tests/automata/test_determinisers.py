"""The three determinisers agree where more than one can take an automaton, and give up what their docstrings say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import pyarrow as pa
import pytest

import cepheid
from cepheid.algebra.conditions import Attribute, Comparison
from cepheid.algebra.nodes import Strategy
from cepheid.automata.automaton import Automaton, Guard, Link, Predicate, Test, Transition, renumbered
from cepheid.automata.determinise import Determiniser
from cepheid.automata.determinise_chain import ChainDeterminiser
from cepheid.automata.determinise_registers import MOST_ASKED, RegisterDeterminiser
from cepheid.automata.deterministic import Goal, LinkedMark, Transitions
from cepheid.automata.minimise import possible_classes
from cepheid.errors import CepheidError
from cepheid.pipeline import plan_for
from cepheid.schema import schema_of
from support.agreement import is_taken, plan_of
from support.generators import ANYTHING, UNARY, Limits, seeded

Marks = dict[int, tuple[int | None, bool]]  # by label: the state it leads to, whether it accepts


def automata(evaluator: str, limits: Limits, seeds: int) -> Iterator[tuple[int, Automaton]]:
    for seed in range(seeds):
        case = seeded(seed, limits)
        plan = plan_of(case, evaluator) if is_taken(case, evaluator) else None
        strategies = (Strategy.ALL, Strategy.STRICT) if evaluator == "chain" else (Strategy.ALL,)
        if plan is not None and plan.automaton is not None and plan.rewritten.strategy in strategies:
            yield seed, plan.automaton


def test_without_registers_two_determinisers_make_the_same_automaton() -> None:
    compared = 0
    for seed, automaton in automata("compact", UNARY, 250):
        one, other = Determiniser(automaton, Strategy.ALL), RegisterDeterminiser(automaton, windowed=True)
        for state, satisfied in explored(one, automaton):
            assert outcomes_of(one.transitions(state, satisfied)) == outcomes_of(
                other.transitions(state, satisfied)
            ), seed
        assert len(one) == len(other), seed
        compared += 1
    assert compared > 50


def outcomes_of(transitions: Transitions) -> list[tuple[object, ...]]:
    """Where marks and skips lead, but not where a partial match is kept, and that no test is asked."""
    assert transitions.asked == ()
    return [
        (number(one.skip), *((mark.label, number(mark.goal), mark.accepts) for mark in one.marks))
        for one in transitions.outcomes
    ]


def explored(
    one: Determiniser | RegisterDeterminiser, automaton: Automaton
) -> Iterator[tuple[int, frozenset[int]]]:
    """All states, also those met on the way, with all classes."""
    state = 0
    while state < len(one):
        for satisfied in possible_classes(automaton.predicates, 64) or ():
            yield state, satisfied
        state += 1


def number(goal: Goal | None) -> int | None:
    return None if goal is None else goal.state


def test_links_as_tests_of_a_register_give_the_same_marks() -> None:
    """A state of the automaton with registers is one of the chain automaton, perhaps with less remembered."""
    compared = 0
    for seed, automaton in automata("chain", ANYTHING, 500):
        if not automaton.tests:
            continue
        chain, other = (
            ChainDeterminiser(automaton),
            RegisterDeterminiser(with_tests(automaton), windowed=False),
        )
        place = {as_test(link): number for number, link in enumerate(chain.links)}
        chain_state = {0: 0}
        for state, satisfied in explored(other, automaton):
            found, marks = (
                other.transitions(state, satisfied),
                chain.transitions(chain_state[state], satisfied),
            )
            asked = [place[other.tests[one.test]] for one in found.asked]
            for values in product((False, True), repeat=len(chain.links)):
                held = frozenset(link for link, holds in enumerate(values) if holds)
                outcome = found.outcomes[sum(1 << bit for bit, link in enumerate(asked) if link in held)]
                wanted = taken(marks, held)
                assert {mark.label for mark in outcome.marks} == set(wanted), seed
                for mark in outcome.marks:
                    target, accepts = wanted[mark.label]
                    assert (mark.goal is None, mark.accepts) == (target is None, accepts), seed
                    if mark.goal is not None and target is not None:
                        assert chain_state.setdefault(mark.goal.state, target) == target, seed
                if outcome.skip is not None:
                    stays = chain_state[state]
                    assert chain_state.setdefault(outcome.skip.state, stays) == stays, seed
        compared += 1
    assert compared > 30


def taken(marks: tuple[LinkedMark, ...], held: frozenset[int]) -> Marks:
    """The marks that are taken where exactly these links hold, at most one for each label."""
    open_marks = [one for one in marks if one.equal <= held and one.different.isdisjoint(held)]
    assert len({one.label for one in open_marks}) == len(open_marks)
    return {one.label: (one.target, one.accepts) for one in open_marks}


def as_test(link: Link) -> Predicate:
    """A test that stands for a link, of the same register."""
    return Predicate(
        None, Comparison("=", Attribute("last", f"{link.left}/{link.kind}"), Attribute(None, link.right))
    )


def with_tests(automaton: Automaton) -> Automaton:
    """The chain automaton with tests in place of links."""

    def of(tests: frozenset[Test]) -> frozenset[Test]:
        return frozenset(as_test(test) if isinstance(test, Link) else test for test in tests)

    def restated(one: Transition) -> Transition:
        fails = frozenset(map(of, one.guard.fails))
        return replace(one, guard=Guard(of(one.guard.holds), fails, one.guard.within))

    return replace(
        renumbered(replace(automaton, transitions=tuple(map(restated, automaton.transitions)))),
        predicates=automaton.predicates,
        labels=automaton.labels,
    )


def test_transitions_of_chains_do_not_grow_with_the_number_of_links() -> None:
    keys = [f"k{number}" for number in range(MOST_ASKED + 1)]
    columns = [("ts", pa.int64()), ("type", pa.string()), *((key, pa.int64()) for key in keys)]
    schema = schema_of(pa.schema(columns), time="ts")

    def chain(links: int) -> Automaton:
        part_bys = " ".join(f"PART-BY [{key}]" for key in keys[:links])
        query = cepheid.query(f"SELECT * FROM s WHERE (A ; B {part_bys})+ ; C")
        automaton = plan_for(query, schema, "chain").automaton
        assert automaton is not None
        return automaton

    def size(make: Callable[[Automaton], ChainDeterminiser | RegisterDeterminiser], links: int) -> int:
        one, automaton = make(chain(links)), chain(links)
        state, size = 0, 0
        while state < len(one):
            for satisfied in possible_classes(automaton.predicates, 64) or ():
                found = one.transitions(state, satisfied)
                size += len(found) if isinstance(found, tuple) else len(found.outcomes)
            state += 1
        return size

    def registers(automaton: Automaton) -> RegisterDeterminiser:
        return RegisterDeterminiser(with_tests(automaton), windowed=False)

    assert {size(ChainDeterminiser, links) for links in (1, 4, MOST_ASKED, MOST_ASKED + 1)} == {4}
    assert size(registers, MOST_ASKED) > 1 << MOST_ASKED
    with pytest.raises(CepheidError, match="asks more than"):
        size(registers, MOST_ASKED + 1)
