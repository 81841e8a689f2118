"""Chain automata: the automaton accepts exactly the pattern's matches, and the determinised one each of them once."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from cepheid.algebra.conditions import Attribute, Comparison
from cepheid.algebra.nodes import Filter, PartBy, Pattern, Query, Repeat, Strategy, rebuild, walk
from cepheid.algebra.printing import print_query
from cepheid.algebra.scope import check_scope
from cepheid.algebra.variables import bound, defined_once
from cepheid.automata.automaton import (
    ADJACENT,
    LAST,
    Automaton,
    Guard,
    Link,
    LinkKind,
    Predicate,
    Test,
    Transition,
    numbered,
)
from cepheid.automata.construct_chain import construct_chain
from cepheid.automata.determinise_chain import ChainDeterminiser
from cepheid.automata.deterministic import LinkedMark
from cepheid.automata.printing import automaton_dot, print_automaton
from cepheid.automata.trim import trim
from cepheid.errors import CepheidError
from cepheid.languages import lower, parse
from cepheid.plan.candidates import CHAIN
from cepheid.rewrite.rules import rewrite
from cepheid.rewrite.unsatisfiable import UnsatisfiableError
from cepheid.semantics.oracle import evaluate
from cepheid.semantics.stream import Event
from support import generators
from support.automaton_runs import by_automaton, by_determinised, satisfied_by
from support.generators import Case, Limits

PLAIN = Limits(
    nary=False,
    events=8,
    atoms=6,
    sets=True,
    any_order=0,
    windows=(None,),
    strategies=(Strategy.ALL, Strategy.STRICT),
)
LIMITS = {
    "PART-BY": PLAIN,
    "PART-BY over sets alone": replace(PLAIN, names=False),
    "neighbours": replace(PLAIN, strict=60),
    "filters over two events": replace(PLAIN, sets=False, nary=True),
    "all of them": replace(PLAIN, nary=True),
}
COMPARED = replace(PLAIN, sets=False, events=10, unsafe=False, strategies=(Strategy.ALL,))
many = settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow], print_blob=True)


def query_of(text: str) -> Query:
    query = lower(parse(f"SELECT * FROM s WHERE {text}"))
    check_scope(query)
    return query


def chain_for(text: str) -> Automaton:
    """The chain automaton of a formula, whether or not a partition would do."""
    found = _chain(query_of(text))
    assert not isinstance(found, str), found
    return found


def chain_of(query: Query, rewritten: Query | None = None) -> Automaton | str:
    """What the chain evaluator would run, or why it declines."""
    taken = CHAIN.offer(query, rewrite(query).query if rewritten is None else rewritten)
    if isinstance(taken, str):
        return taken
    assert taken.automaton is not None
    return taken.automaton


def _chain(query: Query) -> Automaton | str:
    """PART-BYs around all stay in the pattern: CONSUME keeps them from becoming partitions."""
    return chain_of(query, rewrite(replace(query, consume=True)).query)


def stream(types: str, **columns: list[object]) -> list[Event]:
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return [Event(type, at, rows[at] if rows else {}) for at, type in enumerate(types)]


def links_of(chain: Automaton) -> list[Link]:
    return [test for test in chain.tests if isinstance(test, Link)]


def transitions_of(chain: Automaton, most: int = 12) -> list[tuple[LinkedMark, ...]]:
    """The transitions of all states that can be met, on every class of events."""
    automaton = ChainDeterminiser(chain)
    numbers = range(min(len(chain.predicates), 4))
    classes = [frozenset(some) for size in range(5) for some in itertools.combinations(numbers, size)]
    found = []
    state = 0
    while state < min(len(automaton), most):
        found += [automaton.transitions(state, satisfied) for satisfied in classes]
        state += 1
    return found


# ── against the oracle ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", LIMITS)
def test_random_patterns_mean_what_the_oracle_says(name: str) -> None:
    @many
    @given(generators.cases(LIMITS[name]))
    def agrees(case: Case) -> None:
        _agrees(case)

    agrees()


def _agrees(case: Case) -> None:
    note(repr(case))
    query = replace(case.query, partition_by=(), consume=False)
    try:
        chain = _chain(query)
    except UnsatisfiableError:
        assert evaluate(query, case.events) == []
        return
    if isinstance(chain, str):
        return
    expected = {(match.positions, match.binding) for match in evaluate(query, case.events)}
    assert by_automaton(chain, case.events) == expected
    assert Counter(by_determinised(chain, case.events)) == Counter(expected)


def compared(choices: generators.Choices, pattern: Pattern, around: frozenset[str] = frozenset()) -> Pattern:
    """The pattern with equalities and disequalities of two events wherever two are known."""
    inner = around - defined_once(pattern.body) if isinstance(pattern, Repeat) else around | bound(pattern)
    result = rebuild(pattern, lambda child: compared(choices, child, inner))
    known = sorted(around | bound(pattern))
    if len(known) < 2 or not bound(pattern) or not generators.chance(choices, 35):
        return result
    one = generators.pick(choices, sorted(bound(pattern)))
    two = generators.pick(choices, [name for name in known if name != one])
    name, other = generators.pick(
        choices, (("id", "id"), ("s", "s"), ("id", "id"), ("id", "n"), ("n", "v"), ("v", "v"))
    )
    op = generators.pick(choices, ("=", "=", "<>"))
    return Filter(result, Comparison(op, Attribute(one, name), Attribute(two, other)))


@st.composite
def comparing(draw: generators.Draw) -> Case:
    return _comparing(generators.Drawn(draw))


def _comparing(choices: generators.Choices) -> Case:
    case = generators.case(choices, COMPARED)
    return replace(case, query=replace(case.query, pattern=compared(choices, case.query.pattern)))


@settings(many, max_examples=300)
@given(comparing())
def test_filters_over_neighbours_mean_what_the_oracle_says(case: Case) -> None:
    _agrees(case)


def test_random_filters_over_neighbours_are_not_trivial() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(600):
        case = _comparing(generators.Seeded(seed))
        try:
            chain = _chain(case.query)
        except UnsatisfiableError:
            continue
        if not isinstance(chain, str):
            by_value = any(link.kind is LinkKind.VALUE for link in links_of(chain))
            found = by_value and bool(by_automaton(chain, case.events))
            kinds["found"] += found
            kinds["different"] += found and any(mark.guard.fails for mark in chain.marks)
        else:
            kinds["between"] += "need not be neighbours" in chain
    assert kinds["found"] > 15, kinds
    assert kinds["different"] > 4, kinds
    assert kinds["between"] > 20, kinds


@many
@given(generators.cases(LIMITS["all of them"]))
def test_marks_exclude_each_other_and_trimming_twice_changes_nothing(case: Case) -> None:
    try:
        chain = _chain(case.query)
    except UnsatisfiableError:
        return
    if isinstance(chain, str):
        return
    assert trim(chain) == chain
    for marks in transitions_of(chain):
        for one, two in itertools.combinations(marks, 2):
            assert one.label != two.label or one.equal & two.different or one.different & two.equal


@many
@given(generators.cases(PLAIN))
def test_with_part_by_alone_a_link_is_refused_only_where_it_leads_elsewhere(case: Case) -> None:
    try:
        chain = _chain(case.query)
    except UnsatisfiableError:
        return
    if isinstance(chain, str):
        return
    for marks in transitions_of(chain):
        for mark in marks:
            for link in mark.different:
                holding = mark.equal | {link}
                others = [other for other in marks if other.label == mark.label and other != mark]
                assert any(not other.different & holding for other in others)


def test_random_cases_are_not_trivial() -> None:
    for name, least in (("PART-BY", 30), ("filters over two events", 7), ("neighbours", 30)):
        compared = 0
        for seed in range(300):
            case = generators.seeded(seed, LIMITS[name])
            query = replace(case.query, partition_by=(), consume=False)
            try:
                chain = _chain(query)
            except UnsatisfiableError:
                continue
            compared += (
                not isinstance(chain, str) and bool(chain.tests) and bool(evaluate(query, case.events))
            )
        assert compared > least, name


# ── by hand ─────────────────────────────────────────────────────────────────────────────────────────────────


def edges(text: str) -> set[tuple[int, str, int]]:
    """source, links, target of every transition but the first ones."""
    chain = chain_for(text)
    found = set()
    for mark in chain.marks:
        links = [
            *(_text(test, "=") for test in mark.guard.holds if isinstance(test, Link)),
            *(_text(test, "!") for (test,) in mark.guard.fails),
        ]
        if mark.source:
            found.add((mark.source, " ".join(sorted(links)), mark.target))
        else:
            assert links == []
    return found


def _text(link: Test, sign: str) -> str:
    assert isinstance(link, Link)
    return f"{sign}next" if link == ADJACENT else f"{link.left}{sign}{link.right}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A ; B PART-BY [id]", {(1, "id=id", 2)}),
        ("A AS x ; B AS y PART-BY [x.id, y.to]", {(1, "id=to", 2)}),
        ("A : B PART-BY [id]", {(1, "=next id=id", 2)}),
        ("(A ; B PART-BY [id]) ; C", {(1, "id=id", 2), (2, "", 3)}),
        ("A ; (B ; C PART-BY [id])", {(1, "", 2), (2, "id=id", 3)}),
        ("(A ; B) ; (C ; D PART-BY [id])", {(1, "", 2), (2, "", 3), (3, "id=id", 4)}),
        ("A+ PART-BY [id]", {(1, "id=id", 1)}),
        # Each round on its own: the way back is outside.
        ("(A ; B PART-BY [id])+", {(1, "id=id", 2), (2, "", 1)}),
        ("(A ; B)+ PART-BY [id]", {(1, "id=id", 2), (2, "id=id", 1)}),
        # The inner way round asks for more than the outer one between the same events.
        ("(A+ PART-BY [id])+", {(1, "", 1)}),
        ("((A ; B PART-BY [id])+ ; C) PART-BY [s]", {(1, "id=id s=s", 2), (2, "s=s", 1), (2, "s=s", 3)}),
        ("A ; B? ; C PART-BY [id]", {(1, "id=id", 2), (1, "id=id", 3), (2, "id=id", 3)}),
        # b{2,3} is written out, and each copy has links of its own.
        ("(A ; B PART-BY [id]){2}", {(1, "id=id", 2), (2, "", 3), (3, "id=id", 4)}),
        # A strict and a loose way between the same events: the loose one suffices.
        ("(A? : A?)+", {(1, "", 1)}),
        # A filter compares the later event with the one before, whichever is written first.
        ("A AS x ; B AS y FILTER x.id = y.to", {(1, "id=to", 2)}),
        ("A AS x ; B AS y FILTER y.to = x.id", {(1, "id=to", 2)}),
        ("A AS x ; (B AS y FILTER y.to = x.id)", {(1, "id=to", 2)}),
        ("(A AS x FILTER y.to = x.id) ; B AS y", {(1, "id=to", 2)}),
        ("A AS x ; B AS y FILTER x.id <> y.to", {(1, "id!to", 2)}),
        ("A AS x ; B AS y FILTER NOT x.id = y.to", {(1, "id!to", 2)}),
        ("A AS x ; B AS y FILTER NOT x.id <> y.to", {(1, "id=to", 2)}),
        ("A AS x ; B AS y ; C AS z FILTER x.id = y.to AND y.id <> z.to", {(1, "id=to", 2), (2, "id!to", 3)}),
        ("(A AS x ; B AS y FILTER x.id = y.to)+", {(1, "id=to", 2), (2, "", 1)}),
        # The x of the rounds is another one.
        ("A AS x ; B AS y ; (C AS x)+ FILTER x.id = y.to", {(1, "id=to", 2), (2, "", 3), (3, "", 3)}),
        ("A AS x ; ((B AS y FILTER x.id = y.to) OR C)", {(1, "id=to", 2), (1, "", 2)}),
        ("(A AS x ; B AS y) OR (B AS y ; A AS x) FILTER x.id = y.to", {(1, "id=to", 2), (3, "to=id", 2)}),
    ],
)
def test_links_are_on_the_edges_inside(text: str, expected: set[tuple[int, str, int]]) -> None:
    assert edges(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A ALL B PART-BY [id]", "ALL takes its parts in any order"),
        (
            "A AS x ; B AS y FILTER x.id < y.id",
            "FILTER x.id < y.id is more than an equality of two attributes",
        ),
        ("A AS x ; B AS y FILTER x.id + 1 = y.id", "is more than an equality"),
        ("A AS x ; B AS y FILTER x.id = y.id OR x.s = y.s", "is more than an equality"),
        (
            "A AS x ; B AS y ; C AS z FILTER x.id = z.id",
            "x.id = z.id compares events that need not be neighbours in a match",
        ),
        ("A AS x ; B? ; C AS z FILTER x.id = z.id", "need not be neighbours in a match"),
        ("A AS x ; (B AS y FILTER x.id = y.id)+", "compares an event with one of each round"),
        ("A AS x ; (B AS y FILTER x.id = y.id){2}", "compares an event with one of each round"),
        ("A AS x ; B AS y ; (C FILTER x.id = y.id)?", "compares events outside of its formula"),
        (
            "A AS x ; ((B AS y FILTER x.id <> y.id) OR C)",
            "requires two events to differ, but not in every match",
        ),
        ("A+ IN X ; B AS y FILTER X.id = y.id", "FILTER X.id = y.id compares events of sets"),
    ],
)
def test_what_it_cannot_do_has_a_reason(text: str, reason: str) -> None:
    found = _chain(query_of(text))
    assert isinstance(found, str)
    assert reason in found


@pytest.mark.parametrize("strategy", ["NXT", "LAST", "MAX"])
def test_strategies_that_compare_matches_are_left_to_others(strategy: str) -> None:
    found = chain_of(lower(parse(f"SELECT {strategy} * FROM s WHERE A : B PART-BY [id]")))
    assert isinstance(found, str)
    assert found.startswith(strategy)


def test_strict_is_a_link_on_every_edge() -> None:
    chain = chain_of(lower(parse("SELECT STRICT * FROM s WHERE A ; B PART-BY [id]")))
    assert not isinstance(chain, str)
    assert set(chain.tests) == {ADJACENT, Link("id", "id")}
    same = stream("ABB", id=[1, 1, 1])
    assert {positions for positions, _ in by_automaton(chain, same)} == {(0, 1)}


VALUES: list[object] = [None, float("nan"), 0, 1, 1.0, 2.5]


@pytest.mark.parametrize("condition", ["x.v = y.v", "x.v <> y.v", "NOT x.v = y.v", "NOT x.v <> y.v"])
def test_a_filter_is_never_true_of_null_and_reads_nan_by_ieee(condition: str) -> None:
    query = query_of(f"A AS x ; B AS y FILTER {condition}")
    chain = chain_for(f"A AS x ; B AS y FILTER {condition}")
    for one, two in itertools.product(VALUES, repeat=2):
        events = stream("AB", v=[one, two])
        expected = {(match.positions, match.binding) for match in evaluate(query, events)}
        assert by_automaton(chain, events) == expected == set(by_determinised(chain, events)), (one, two)


def test_as_a_key_null_is_null_and_nan_is_nan_also_in_one_event() -> None:
    query = query_of("A IN X ; B AS y PART-BY [X.v, X.w, y.v]")
    chain = chain_for("A IN X ; B AS y PART-BY [X.v, X.w, y.v]")
    for one, two, three in itertools.product(VALUES, repeat=3):
        events = stream("AB", v=[one, three], w=[two, None])
        expected = {(match.positions, match.binding) for match in evaluate(query, events)}
        assert by_automaton(chain, events) == expected, (one, two, three)
    assert by_automaton(chain, stream("AB", v=[None, None], w=[None, 7]))


def test_an_event_in_two_variables_takes_part_with_both_attributes() -> None:
    chain = chain_for("(A AS x IN X) ; B IN X PART-BY [x.id, X.to]")
    assert len(by_automaton(chain, stream("AB", id=[1, 9], to=[1, 1]))) == 1
    assert by_automaton(chain, stream("AB", id=[1, 9], to=[2, 2])) == set()


# ── determinised ────────────────────────────────────────────────────────────────────────────────────────────


def test_two_keys_for_one_outcome_need_two_marks_not_three() -> None:
    chain = chain_for("(A ; B PART-BY [id]) OR (A ; B PART-BY [s])")
    automaton = ChainDeterminiser(chain)
    (start,) = automaton.transitions(0, frozenset([0]))
    assert start.target == 1
    marks = automaton.transitions(1, frozenset([1]))
    assert [(sorted(mark.equal), sorted(mark.different), mark.accepts) for mark in marks] == [
        ([0], [], True),
        ([1], [0], True),
    ]


def test_outcomes_that_differ_are_told_apart() -> None:
    chain = chain_for("(A ; B PART-BY [id]) OR ((A ; B PART-BY [s]) ; C)")
    automaton = ChainDeterminiser(chain)
    (start,) = automaton.transitions(0, frozenset([0]))
    assert start.target is not None
    marks = automaton.transitions(start.target, frozenset([1]))
    found = {(tuple(sorted(m.equal)), tuple(sorted(m.different)), m.target is None, m.accepts) for m in marks}
    assert found == {((0, 1), (), False, True), ((0,), (1,), True, True), ((1,), (0,), False, False)}


def test_a_conjunction_of_links_has_one_transition() -> None:
    automaton = ChainDeterminiser(chain_for("A : B PART-BY [id] PART-BY [s]"))
    (start,) = automaton.transitions(0, frozenset([0]))
    assert start.target is not None
    (mark,) = automaton.transitions(start.target, frozenset([1]))
    assert (len(mark.equal), len(mark.different), mark.target, mark.accepts) == (3, 0, None, True)
    assert automaton.describe(0) == "{0}"
    assert automaton.transitions(start.target, frozenset([0])) == ()


def test_a_link_that_leads_to_the_same_either_way_is_not_asked_for() -> None:
    any_event, link = Predicate(None, None), Link("id", "id")
    guards = [
        Guard(frozenset([any_event, link])),
        Guard(frozenset([any_event]), frozenset([frozenset([link])])),
    ]
    start = Transition(0, 1, Guard(frozenset([any_event])), frozenset())
    marks = [start, *(Transition(1, 2, guard, frozenset()) for guard in guards)]
    automaton = ChainDeterminiser(numbered(3, marks, frozenset([2])))
    automaton.transitions(0, frozenset([0]))
    assert automaton.transitions(1, frozenset([0])) == (LinkedMark(0, frozenset(), frozenset(), None, True),)


def test_saved_states_keep_their_numbers() -> None:
    chain = chain_for("A+ ; B PART-BY [id]")
    one, two = ChainDeterminiser(chain), ChainDeterminiser(chain)
    everything = frozenset(range(len(chain.predicates)))
    for state in range(2):
        one.transitions(state, everything)
    two.load(one.save())
    assert len(two) == len(one)
    assert [two.describe(state) for state in range(len(two))] == [one.describe(s) for s in range(len(one))]
    assert two.transitions(1, everything) == one.transitions(1, everything)


def test_too_many_states_are_refused() -> None:
    automaton = ChainDeterminiser(chain_for("A ; B ; C PART-BY [id]"), limit=2)
    (start,) = automaton.transitions(0, frozenset([0]))
    assert start.target is not None
    with pytest.raises(CepheidError) as error:
        automaton.transitions(start.target, frozenset([1]))
    assert error.value.code == "too-large"


def test_a_repetition_too_long_to_write_out_is_refused_at_once() -> None:
    assert "100001 states" in str(chain_of(query_of("A{100000} : B PART-BY [id]")))


def test_a_long_chain_is_built_in_reasonable_time() -> None:
    chain = chain_for("A{3000} : B PART-BY [id]")
    assert (chain.states, len(chain.tests)) == (3002, 2)


# ── the paper's examples ────────────────────────────────────────────────────────────────────────────────────

TWEETS = stream(
    "TRRRTRTR",
    id=[123, 155, 165, 223, 252, 352, 355, 411],
    user_id=[11, 48, 48, 48, 13, 13, 33, 79],
    tweet_id=[None, 123, 343, 123, None, 252, None, 123],
    post=["#vote", None, None, None, "#vote", None, "#ihate", None],
    reply=[None, "#ihate", "#ihate", "#ihate", None, "#ihate", None, "#stop"],
)
REPLIES = stream(
    "TRRRRR",
    id=[10, 11, 12, 13, 14, 15],
    tweet_id=[None, 10, 11, 10, 11, 12],
    post=["#vote", None, None, None, None, None],
    reply=[None, "#ihate", "#ihate", "#stop", "#stop", "#stop"],
)
HOT = "X.post = '#vote' AND Y.reply = '#ihate'"
EXAMPLE_2 = f"(T IN X ; (R+) IN Y ; R IN Z) FILTER ({HOT} AND Z.reply = '#stop')"
EXAMPLE_4 = (
    f"(T IN X ; ((R+) PART-BY [user_id]) IN Y ; R IN Z) FILTER ({HOT} AND Z.reply = '#stop') "
    "PART-BY [X.id, Y.tweet_id, Z.tweet_id]"
)


def positions(text: str) -> set[tuple[int, ...]]:
    """As the paper counts, from 1."""
    chain = chain_for(text)
    found = by_determinised(chain, TWEETS)
    assert set(found) == by_automaton(chain, TWEETS)
    assert len(set(found)) == len(found)
    return {tuple(place + 1 for place in places) for places, _ in found}


def test_example_1_and_3() -> None:
    assert {(1, 2), (1, 3), (5, 6)} <= positions(f"(T IN X ; R IN Y) FILTER ({HOT})")
    text = f"((T IN X ; R IN Y) FILTER ({HOT})) PART-BY [X.id, Y.tweet_id]"
    assert positions(text) == {(1, 2), (1, 4), (5, 6)}


def test_example_2_and_4() -> None:
    assert {(1, 2, 4, 8), (1, 3, 4, 6, 8)} <= positions(EXAMPLE_2)
    found = positions(EXAMPLE_4)
    assert (1, 2, 4, 8) in found
    assert (1, 3, 4, 6, 8) not in found
    assert found == {(1, 2, 8), (1, 4, 8), (1, 2, 4, 8)}


def test_example_4_has_links_of_both_part_bys_inside_the_inner_one_only() -> None:
    assert print_automaton(chain_for(EXAMPLE_4)).splitlines() == [
        "state 0, initial",
        "  mark T [post = '#vote'] as X → 1",
        "state 1",
        "  mark R [reply = '#ihate'] if last.id ≡ tweet_id as Y → 2",
        "  skip → 1",
        "state 2",
        "  mark R [reply = '#ihate'] if last.tweet_id ≡ tweet_id, last.user_id ≡ user_id as Y → 2",
        "  mark R [reply = '#stop'] if last.tweet_id ≡ tweet_id as Z → 3",
        "  skip → 2",
        "state 3, final",
    ]


def figure_2() -> Automaton:
    """The chain automaton of figure 2, for chains of any length, which no formula with PART-BY defines."""
    vote, hate, stop = chain_for(EXAMPLE_2).predicates
    link = Link("id", "tweet_id", LinkKind.VALUE)

    def mark(source: int, target: int, *tests: Test) -> Transition:
        return Transition(source, target, Guard(frozenset(tests)), frozenset(), frozenset([LAST]))

    marks = [mark(0, 1, vote), mark(1, 2, hate, link), mark(2, 2, hate, link), mark(2, 3, stop, link)]
    return numbered(4, [*marks, Transition(1, 1), Transition(2, 2)], frozenset([3]))


def test_example_6_by_figure_2_and_by_filters() -> None:
    expected = {(0, 1, 4), (0, 1, 2, 5)}
    assert {places for places, _ in by_automaton(figure_2(), REPLIES)} == expected
    assert sorted(places for places, _ in by_determinised(figure_2(), REPLIES)) == sorted(expected)
    three = (
        "T AS x ; R AS y ; R AS z FILTER x.post = '#vote' AND y.reply = '#ihate' AND z.reply = '#stop' "
        "AND y.tweet_id = x.id AND z.tweet_id = y.id"
    )
    chain = chain_for(three)
    assert {places for places, _ in by_automaton(chain, REPLIES)} == {(0, 1, 4)}
    assert chain.tests == (Link("id", "tweet_id", LinkKind.VALUE),)


def test_examples_14_and_15_both_attributes_differ() -> None:
    chain = chain_for("S AS x ; S AS y FILTER x.a <> y.a AND x.b <> y.b")
    figure_3 = stream("SSSSSSSS", a=[1, 2, 4, 2, 2, 5, 5, 2], b=[4, 4, 3, 4, 3, 3, 3, 3])
    found = {places for places, _ in by_determinised(chain, figure_3) if places[1] >= 6}
    assert found == {(0, 6), (1, 6), (3, 6), (0, 7)}


def test_proposition_9_a_deterministic_automaton_needs_disequalities() -> None:
    chain = chain_for("(A ; B PART-BY [id]) OR ((A ; B PART-BY [s]) ; C)")
    assert not any(mark.guard.fails for mark in chain.marks)
    assert any(mark.different for marks in transitions_of(chain) for mark in marks)


# ── printed ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_dot_has_the_links_on_its_arrows() -> None:
    chain = chain_for("A AS x : B AS y FILTER x.id <> y.to")
    assert (
        '  1 -> 2 [label="B [to IS NOT NULL] if next, last.id ≠ to as y"];'
        in automaton_dot(chain).splitlines()
    )


def test_explain_and_drawing_show_the_chain() -> None:
    import cepheid

    said = cepheid.explain("SELECT * FROM s WHERE A AS x : B AS y PART-BY [id]")
    assert "── automaton ──\nstate 0, initial\n  mark A as x → 1" in said
    assert "mark B if last.id ≡ id, next as y → 2" in said


def test_a_query_that_a_partition_answers_keeps_its_plain_automaton() -> None:
    query = query_of("A AS x ; B AS y PART-BY [id]")
    rewritten = rewrite(query).query
    assert not any(isinstance(node, PartBy) for node in walk(rewritten.pattern)), print_query(rewritten)
    chain = chain_of(query, rewritten)
    assert not isinstance(chain, str)
    assert chain.tests == ()


def test_labels_are_the_names_the_query_shows() -> None:
    chain = construct_chain(query_of("(A AS x ; B IN X) IN Y").pattern, ("x", "Y"))
    assert [mark.label for mark in chain.marks] == [frozenset({"x", "Y"}), frozenset({"Y"})]


def test_predicates_of_a_chain_are_those_its_marks_use() -> None:
    chain = chain_for("A : B PART-BY [id]")
    events = stream("AB", id=[1, 1])
    assert satisfied_by(chain, events) == [frozenset([0]), frozenset([1])]
