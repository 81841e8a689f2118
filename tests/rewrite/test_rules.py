"""Rewriting: pattern ⇒ pattern pairs, and the same matches before and after every step."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from cepheid.algebra.conditions import (
    FALSE,
    TRUE,
    Attribute,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    IsTrue,
    Literal,
    Negation,
    conjunction,
    only_variable,
    over_current_event,
)
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Or,
    PartBy,
    Pattern,
    Query,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    size,
    walk,
)
from cepheid.algebra.variables import shown, with_sets
from cepheid.automata.unary import is_unary
from cepheid.errors import CepheidError, Source, Span
from cepheid.rewrite.push import push
from cepheid.rewrite.rules import rewrite
from cepheid.rewrite.unsatisfiable import UnsatisfiableError
from cepheid.semantics.oracle import evaluate
from cepheid.semantics.stream import Event
from support import generators
from support.automaton_runs import by_oracle
from support.paper_example import PHI1, PHI2, PHI4, PHI6, STREAM, plus, when

X, Y, Z = Atom("A", "x"), Atom("B", "y"), Atom("C", "z")
P, Q, R = when("x.n", ">", 0), when("y.n", "=", 1), when("z.n", "<", 2)
XY = when("x.n", "=", "y.n")


def with_(atom: Atom, *conditions: Condition) -> Atom:
    """The atom with conditions, given over its variable, on it."""
    assert atom.var is not None
    return replace(
        atom, condition=conjunction(tuple(over_current_event(part, atom.var) for part in conditions))
    )


def untrue(condition: Condition) -> Condition:
    return Negation(IsTrue(condition))


def optional(body: Pattern) -> Repeat:
    return Repeat(body, 0, 1)


PHI3 = Filter(
    Seq(Seq(Atom("H", "x"), plus(Filter(Atom("T", "y"), when("y.id", "=", 1)))), Atom("H", "z")),
    Conjunction((when("x.hum", "<", 30), when("z.hum", ">", 60), when("x.id", "=", 1), when("z.id", "=", 1))),
)
HOT = with_(Atom("T", "x"), when("x.tmp", ">", 40), when("x.id", "=", 0))
DRY = with_(Atom("H", "y"), when("y.hum", "<=", 25), when("y.id", "=", 0))
OVER, UNDER = when("x.tmp", ">=", 40), when("x.tmp", "<", 40)
AGAIN = Atom("B", "x")

IN_SET = when("X.n", ">", 0)


def with_x(*conditions: Condition, gathered: Atom = Z) -> Pattern:
    """x, then perhaps events in X, then y."""
    return Seq(Seq(with_(X, *conditions) if conditions else X, Repeat(Bind(gathered, "X"), 0, None)), Y)


MAYBE = with_x()
PAIRS = {
    "φ1 becomes φ1′": (PHI1, Seq(HOT, DRY)),
    "φ2": (PHI2, Or((Seq(HOT, DRY), Seq(DRY, HOT)))),
    "φ3": (
        PHI3,
        Seq(
            Seq(
                with_(Atom("H", "x"), when("x.hum", "<", 30), when("x.id", "=", 1)),
                plus(with_(Atom("T", "y"), when("y.id", "=", 1))),
            ),
            with_(Atom("H", "z"), when("z.hum", ">", 60), when("z.id", "=", 1)),
        ),
    ),
    "φ4 keeps its binary filters": (
        PHI4,
        Filter(
            Seq(
                Seq(
                    with_(Atom("H", "x"), when("x.hum", "<", 30)),
                    plus(Filter(Atom("T", "y"), when("y.id", "=", "x.id"))),
                ),
                with_(Atom("H", "z"), when("z.hum", ">", 60)),
            ),
            when("x.id", "=", "z.id"),
        ),
    ),
    "φ6: a conditional filter is decided where its variable is bound": (
        PHI6,
        Or(
            (
                Or(
                    (
                        Seq(with_(Atom("T", "x"), OVER, UNDER), Or((Atom("T", "y"), Atom("H", "y")))),
                        Seq(with_(Atom("T", "x"), OVER, untrue(UNDER)), Atom("T", "y")),
                    )
                ),
                Seq(with_(Atom("T", "x"), untrue(OVER), UNDER), Atom("H", "y")),
            )
        ),
    ),
    "a filter that every match passes is decided without a choice": (
        Seq(X, Filter(Seq(Y, Z), P)),
        Seq(with_(X, P), Seq(Y, Z)),
    ),
    "a filter on an outer variable inside an iteration": (
        Seq(X, plus(Filter(Y, P))),
        Seq(with_(X, P), plus(Y)),
    ),
    "a filter on an outer variable inside `?`": (
        Seq(X, optional(Filter(Y, P))),
        Or((Seq(with_(X, P), optional(Y)), with_(X, untrue(P)))),
    ),
    "a name inside an iteration is not the one outside": (
        Filter(Seq(X, plus(Filter(Atom("B", "x"), when("x.n", "=", 7)))), P),
        Seq(with_(X, P), plus(with_(Atom("B", "x"), when("x.n", "=", 7)))),
    ),
    "a variable bound in every branch": (
        Filter(Or((X, Atom("B", "x"))), P),
        Or((with_(X, P), with_(Atom("B", "x"), P))),
    ),
    "a disjunction over one variable stays one condition": (
        Filter(Seq(X, Y), Disjunction((P, when("x.n", "<", -5)))),
        Seq(with_(X, Disjunction((P, when("x.n", "<", -5)))), Y),
    ),
    "a disjunction over two variables becomes a choice": (
        Filter(Seq(X, Y), Disjunction((P, Q))),
        Or((Seq(with_(X, P), Y), Seq(X, with_(Y, Q)))),
    ),
    "alternatives over the same variable stay together": (
        Filter(Seq(X, Y), Disjunction((P, Q, when("x.n", "<", -5)))),
        Or((Seq(with_(X, Disjunction((P, when("x.n", "<", -5)))), Y), Seq(X, with_(Y, Q)))),
    ),
    "a disjunction with a binary part stays whole": (
        Filter(Seq(X, Y), Disjunction((P, XY))),
        Filter(Seq(X, Y), Disjunction((P, XY))),
    ),
    "negations move inwards": (
        Filter(Seq(X, Y), Negation(Disjunction((P, Negation(Q))))),
        Seq(with_(X, Negation(P)), with_(Y, Q)),
    ),
    "a negated conjunction becomes a choice": (
        Filter(Seq(X, Y), Negation(Conjunction((P, Q)))),
        Or((Seq(with_(X, Negation(P)), Y), Seq(X, with_(Y, Negation(Q))))),
    ),
    "a filter on a name that an iteration hides without binding it stays": (
        Seq(X, plus(Filter(Or((AGAIN, Y)), P))),
        Seq(X, plus(Filter(Or((AGAIN, Y)), P))),
    ),
    "`?` around what may be empty anyway": (optional(plus(optional(X))), plus(optional(X))),
    "a conjunction below a disjunction": (
        Filter(Seq(Seq(X, Y), Z), Disjunction((Conjunction((P, Q)), R))),
        Or((Seq(Seq(with_(X, P), with_(Y, Q)), Z), Seq(Seq(X, Y), with_(Z, R)))),
    ),
    "TRUE and {1,1} go": (Repeat(Filter(X, TRUE), 1, 1), X),
    "a FALSE alternative goes": (Seq(Or((Filter(X, FALSE), Y)), Z), Seq(Y, Z)),
    "a FALSE option goes": (Seq(Repeat(Filter(X, FALSE), 0, None), Y), Y),
    "an alternative said twice": (Or((Or((X, Y)), X)), Or((X, Y))),
    "unsafe: the alternative without the second x": (Seq(Or((X, Y)), AGAIN), Seq(Y, AGAIN)),
    "unsafe: the alternative without the first x": (StrictSeq(X, Or((AGAIN, Y))), StrictSeq(X, Y)),
    "unsafe: an option counts as a choice with nothing": (Seq(optional(X), AGAIN), AGAIN),
    "unsafe: either side may have x, not both": (
        Seq(Or((X, Y)), Or((AGAIN, Z))),
        Or((Seq(X, Z), Seq(Y, Or((AGAIN, Z))))),
    ),
    "unsafe: inside an iteration": (plus(Seq(Or((X, Y)), AGAIN)), plus(Seq(Y, AGAIN))),
    "safe: a name inside an iteration and outside": (Seq(X, plus(AGAIN)), Seq(X, plus(AGAIN))),
    "unsafe: what has no shared variable keeps its shape": (
        Seq(Seq(Or((Y, Z)), Or((X, Atom("D")))), AGAIN),
        Seq(Seq(Or((Y, Z)), Atom("D")), AGAIN),
    ),
    "a condition on a set stays whole but for AND": (
        with_sets(Filter(MAYBE, Conjunction((IN_SET, P, Negation(Disjunction((IN_SET, Q))))))),
        with_sets(
            Filter(
                with_x(P, gathered=with_(Z, when("z.n", ">", 0))),
                Negation(Disjunction((IN_SET, Q))),
            ),
        ),
    ),
    "a condition on one set goes to all that the set gathers": (
        with_sets(Filter(Seq(Bind(Or((X, plus(Bind(Y, "X")))), "X"), Z), IN_SET)),
        Seq(Bind(Or((with_(X, P), plus(Bind(with_(Y, when("y.n", ">", 0)), "X")))), "X"), Z),
    ),
    "a condition on a set that is never true holds where the set is empty": (
        with_sets(Filter(MAYBE, when("X.n", "=", None))),
        Seq(X, Y),
    ),
    "unsafe: inside a set or a PART-BY": (
        Seq(Bind(PartBy(Or((Seq(X, Z), Seq(Y, Z))), ((None, "n"),)), "X"), AGAIN),
        Seq(Bind(PartBy(Seq(Y, Z), ((None, "n"),)), "X"), AGAIN),
    ),
    "unsafe: a set that may be of nothing": (Seq(Bind(optional(X), "X"), AGAIN), AGAIN),
    "a condition on one event goes through sets, PART-BY and ALL": (
        Filter(All(PartBy(Bind(Seq(X, Z), "X"), ((None, "n"),)), Y), P),
        All(PartBy(Bind(Seq(with_(X, P), Z), "X"), ((None, "n"),)), Y),
    ),
    "a set of nothing is nothing": (Seq(X, Bind(Repeat(Filter(Y, FALSE), 0, None), "X")), X),
    "unsafe: a filter speaks of the x that is left": (
        Seq(Filter(Or((X, Y)), P), AGAIN),
        Seq(Y, with_(AGAIN, P)),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pattern_becomes(name: str) -> None:
    before, after = PAIRS[name]
    assert rewrite(Query(before)).query.pattern == after


@pytest.mark.parametrize("name", PAIRS)
def test_the_pair_has_the_same_matches(name: str) -> None:
    before, after = PAIRS[name]
    names = tuple(item.name for item in shown(Query(before)))
    streams = [STREAM] if name.startswith("φ") else [random_stream(seed) for seed in range(12)]
    for stream in streams:
        assert by_oracle(after, stream, names) == by_oracle(before, stream, names)


def random_stream(seed: int) -> list[Event]:
    choices = generators.Seeded(seed)
    values = (0, 1, 2, 7, -6, None)
    return [
        Event("ABCD"[choices.below(4)], time, {"n": values[choices.below(len(values))]}) for time in range(7)
    ]


@settings(max_examples=500)
@given(generators.cases(generators.Limits(events=8)))
def test_every_step_keeps_the_matches_of_random_patterns(case: generators.Case) -> None:
    names = tuple(item.name for item in shown(case.query))
    expected = by_oracle(case.query.pattern, case.events, names)
    try:
        steps = rewrite(case.query).steps
    except UnsatisfiableError:
        assert expected == set()
        return
    for step in steps:
        assert by_oracle(step.after.pattern, case.events, names) == expected, step.rule


@settings(max_examples=500)
@given(generators.cases(generators.SETS))
def test_every_step_keeps_the_matches_with_sets_and_part_by(case: generators.Case) -> None:
    # The names are chosen by the query as it was written, as the planner does.
    query = replace(case.query, select=tuple(item.name for item in shown(case.query)))
    expected = evaluate(query, case.events)
    try:
        steps = rewrite(query).steps
    except UnsatisfiableError:
        assert expected == []
        return
    for step in steps:
        assert evaluate(step.after, case.events) == expected, step.rule


@settings(max_examples=500)
@given(generators.patterns(generators.Limits(nary=False, atoms=8)))
def test_unary_patterns_end_in_normal_form(pattern: Pattern) -> None:
    try:
        done = rewrite(Query(pattern)).query.pattern
    except UnsatisfiableError:
        return
    assert is_unary(done)
    assert generators.is_safe(done)
    assert rewrite(Query(done)).steps == ()


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (Seq(Atom("T", "x"), Atom("T", "x")), "`x` would have to be two different events"),
        (StrictSeq(X, Seq(Y, AGAIN)), "`x` would have to be two different events"),
        (Seq(Or((X, Seq(X, Y))), Or((AGAIN, Seq(Z, AGAIN)))), "`x` would have to be two different events"),
        (plus(Seq(X, AGAIN)), "`x` would have to be two different events"),
        (Filter(X, FALSE), "never true"),
        (Filter(X, Comparison(">", Literal(1), Literal(2))), "never true"),
        (Seq(X, Or((Filter(Y, FALSE), Filter(Z, FALSE)))), "never true"),
        (Filter(Filter(X, P), untrue(P)), "never true"),
        (Repeat(X, 0, 0), "at least one event"),
        (Repeat(Filter(X, FALSE), 0, None), "at least one event"),
    ],
)
def test_a_pattern_that_can_match_nothing_is_an_error_that_says_why(pattern: Pattern, said: str) -> None:
    with pytest.raises(CepheidError) as error:
        rewrite(Query(pattern))
    assert error.value.code == "unsatisfiable"
    assert said in error.value.message


def test_the_error_points_at_the_second_binding() -> None:
    source = Source("T AS x ; T AS x")
    first, second = Atom("T", "x", span=Span(source, 0, 6)), Atom("T", "x", span=Span(source, 9, 15))
    with pytest.raises(CepheidError) as error:
        rewrite(Query(Seq(first, second)))
    assert error.value.span == second.span


def test_steps_name_the_rules_that_changed_something() -> None:
    assert [step.rule for step in rewrite(Query(PHI1)).steps] == ["split", "push"]
    assert [step.rule for step in rewrite(Query(PHI6)).steps] == ["parametrise"]
    assert rewrite(Query(Seq(X, Y))).steps == ()


def test_a_disjunction_of_many_conditions_is_refused_before_it_blows_up() -> None:
    pattern: Pattern = Seq(X, Y)
    for number in range(40):
        pattern = Filter(pattern, Disjunction((when("x.n", "=", number), when("y.n", "=", number))))
    with pytest.raises(CepheidError) as error:
        rewrite(Query(pattern))
    assert error.value.code == "too-large"


def test_many_conditional_filters_are_refused_before_they_blow_up() -> None:
    pattern: Pattern = X
    for number in range(40):
        pattern = Seq(pattern, optional(Filter(Atom("B"), when("x.n", ">", number))))
    with pytest.raises(CepheidError) as error:
        rewrite(Query(pattern))
    assert error.value.code == "too-large"


def test_many_shared_optional_variables_are_refused_before_they_blow_up() -> None:
    def options() -> Pattern:
        pattern: Pattern = Atom("A")
        for number in range(30):
            pattern = Seq(pattern, optional(Atom("B", f"v{number}")))
        return pattern

    with pytest.raises(CepheidError) as error:
        rewrite(Query(Seq(options(), options())))
    assert error.value.code == "too-large"


def test_a_formula_nested_too_deeply_for_the_rewriting_is_an_error_not_a_crash() -> None:
    pattern: Pattern = X
    for _ in range(5_000):
        pattern = Seq(pattern, Atom("B"))
    with pytest.raises(CepheidError) as error:
        rewrite(Query(pattern))
    assert error.value.code == "too-large"


def test_many_filters_that_every_match_passes_do_not_grow_the_pattern() -> None:
    pattern: Pattern = X
    for number in range(40):
        pattern = Seq(pattern, Filter(Atom("B"), when("x.n", ">", number)))
    assert size(rewrite(Query(pattern)).query.pattern) == 81


def test_a_filter_does_not_enter_a_strategy() -> None:
    pattern = Filter(Select(Strategy.LAST, Seq(X, Y)), P)
    assert rewrite(Query(pattern)).query.pattern == pattern


def test_a_filter_on_the_event_at_hand_or_an_earlier_one_is_not_pushed() -> None:
    pattern = Filter(X, Attribute(None, "hot"))
    assert rewrite(Query(pattern)).query.pattern == pattern


def test_one_push_moves_what_comes_before_and_after_a_filter_that_stays() -> None:
    hot, both, late = when("x.tmp", ">", 40), when("x.id", "=", "y.id"), when("y.hum", "<", 9)
    pushed = push(Filter(Seq(X, Y), Conjunction((hot, both, late))))
    assert pushed == Filter(Seq(with_(X, hot), with_(Y, late)), both)


def test_a_filter_on_a_set_passes_a_strategy_only_where_it_gathers_nothing_inside() -> None:
    condition = Comparison(">", Attribute("X", "n", each=True), Literal(0))
    gathers = Bind(Z, "X")
    inside = Filter(Select(Strategy.LAST, Seq(gathers, Y)), condition)
    assert push(inside) == inside
    beside = push(Filter(Seq(Select(Strategy.LAST, Y), gathers), condition))
    here = replace(Z, condition=over_current_event(condition, "X"))
    assert beside == Seq(Select(Strategy.LAST, Y), Bind(here, "X"))
    around = Filter(Bind(Select(Strategy.LAST, Y), "X"), condition)
    assert push(around) == around


def test_a_set_and_the_event_at_hand_are_no_single_variable() -> None:
    assert only_variable(Attribute("X", "n", each=True)) is None
    assert only_variable(Comparison("=", Attribute("x", "n"), Attribute(None, "n"))) is None


def test_rewriting_leaves_the_rest_of_the_query_alone() -> None:
    query = Query(PHI1, select=("x",), partition_by=("id",), strategy=Strategy.MAX, consume=True, limit=3)
    done = rewrite(query).query
    assert replace(done, pattern=PHI1) == query
    assert not any(isinstance(node, Filter) for node in walk(done.pattern))
