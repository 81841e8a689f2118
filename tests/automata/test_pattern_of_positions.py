"""regular: positions as a pattern again, with the same matches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from cepheid.algebra.empty import EMPTY, NOTHING
from cepheid.algebra.nodes import All, Atom, Bind, Or, Pattern, Repeat, Seq, StrictSeq, walk
from cepheid.algebra.variables import shown
from cepheid.automata.attach_atoms import NotAttachedError
from cepheid.automata.construct import construct
from cepheid.automata.pattern_of_positions import pattern_of
from cepheid.automata.positions_of_pattern import positions_of
from cepheid.automata.unary import is_unary
from cepheid.rewrite.rules import rewrite
from cepheid.rewrite.unsatisfiable import UnsatisfiableError
from cepheid.semantics.stream import Event
from support import generators
from support.automaton_runs import by_automaton, by_oracle

A, B, C = Atom("A", "x"), Atom("B", "y"), Atom("C", "z")


def regular(pattern: Pattern) -> Pattern:
    return pattern_of(*positions_of(pattern))


def test_orders_are_written_out() -> None:
    assert regular(All(A, B)) == Or((Seq(A, B), Seq(B, A)))
    assert regular(All(A, EMPTY)) == A
    assert regular(All(EMPTY, EMPTY)) == EMPTY


def test_one_variable_in_both_parts_is_one_event() -> None:
    assert regular(All(A, A)) == A
    assert regular(All(A, Atom("B", "x"))) == NOTHING


def test_one_event_of_both_parts_has_both_names() -> None:
    both = Atom("A", "u", also=("x",))
    found = regular(All(A, Atom("A", "u")))
    assert [node for node in walk(found) if node == both]


def test_what_follows_strictly_follows_strictly() -> None:
    for pattern in (
        StrictSeq(A, B),
        Repeat(StrictSeq(A, B), 1, None),
        Seq(A, Repeat(StrictSeq(B, C), 0, None)),
    ):
        events = [Event(kind, time, {}) for time, kind in enumerate("ABCABBCAB")]
        names = ("x", "y", "z")
        assert by_automaton(construct(regular(pattern), names), events) == by_oracle(pattern, events, names)


def test_sets_gather_what_they_gathered() -> None:
    assert regular(Bind(Seq(A, Bind(B, "Y")), "X")) == Seq(Bind(A, "X"), Bind(Bind(B, "X"), "Y"))


def test_too_many_orders_are_refused() -> None:
    whole: Pattern = Atom("A", "a")
    for letter in "BCDEFGH":
        whole = All(whole, Atom(letter, letter.lower()))
    with pytest.raises(NotAttachedError, match="too many orders"):
        regular(whole)


@settings(max_examples=300)
@given(generators.cases(generators.Limits(nary=False, events=8, sets=True, any_order=60)))
def test_random_patterns_keep_their_matches(case: generators.Case) -> None:
    names = tuple(item.name for item in shown(case.query))
    try:
        pattern = rewrite(case.query, without=("partition",)).query.pattern
        if not is_unary(pattern):
            return
        again = regular(pattern)
    except (UnsatisfiableError, NotAttachedError):
        return
    assert not any(isinstance(node, All) for node in walk(again))
    automaton = construct(again, names)
    assert by_automaton(automaton, case.events) == by_oracle(pattern, case.events, names)
