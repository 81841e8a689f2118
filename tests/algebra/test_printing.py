"""What is printed parses back to an equal value, and reads as expected."""

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepheid.algebra.conditions import (
    TRUE,
    Arithmetic,
    Attribute,
    Call,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    RLike,
)
from cepheid.algebra.moments import Moment, TimeOfDay, moment_of
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
    Window,
    WindowUnit,
)
from cepheid.algebra.printing import KEYWORDS, print_condition, print_pattern, print_query, print_tree
from cepheid.algebra.variables import with_sets
from cepheid.languages import lower, parse

NAMES = st.one_of(
    st.sampled_from(["x", "y", "price", "T", "größe", "two words", 'a"b', "a`b", "1st", "x--y", "ΔT", "é"]),
    st.sampled_from(sorted(KEYWORDS)),
    st.sampled_from(sorted(KEYWORDS)).map(str.lower),
    st.text(min_size=1, max_size=5).filter(lambda text: "\x00" not in text),
)
# Two days inside of the years 1 and 9999, so that no zone leads out of them.
MOMENTS_NS = st.integers(
    moment_of(dt.date.min).ns + 2 * 86_400 * 10**9, moment_of(dt.date.max).ns - 2 * 86_400 * 10**9
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=6),
    st.dates(),
    st.builds(Moment, MOMENTS_NS, st.sampled_from([None, "UTC", "+02:00", "-09:30", "+00:09:21"])),
    st.builds(TimeOfDay, st.integers(0, 86_400 * 10**9 - 1)),
)
ATTRIBUTES = st.builds(Attribute, NAMES, NAMES)


def _larger(smaller: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(smaller, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Arithmetic, st.sampled_from("+-*/%"), smaller, smaller),
        st.builds(Comparison, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), smaller, smaller),
        st.builds(Conjunction, several),
        st.builds(Disjunction, several),
        st.builds(Negation, smaller),
        st.builds(IsTrue, smaller),
        st.builds(IsNull, smaller),
        st.builds(In, smaller, st.lists(smaller, min_size=1, max_size=3).map(tuple)),
        st.builds(Like, smaller, st.text(max_size=5)),
        st.builds(RLike, smaller, st.text(max_size=5)),
        st.builds(Call, st.sampled_from(["abs", "round", "left"]), st.lists(smaller, max_size=3).map(tuple)),
    )


CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    st.one_of(st.builds(Literal, VALUES), ATTRIBUTES), _larger, max_leaves=8
)
BOUNDS = st.sampled_from([(1, None), (0, None), (0, 1), (1, 1), (2, 2), (2, None), (0, 5), (3, 7)])


def _repeat(body: Pattern, bounds: tuple[int, int | None]) -> Pattern:
    return Repeat(body, *bounds)


STRATEGIES = st.sampled_from([Strategy.STRICT, Strategy.NXT, Strategy.LAST, Strategy.MAX])
KEYS = st.lists(st.tuples(st.none() | NAMES, NAMES), min_size=1, max_size=3).map(tuple)
PATTERNS: st.SearchStrategy[Pattern] = st.recursive(
    st.builds(Atom, NAMES, st.none() | NAMES),
    lambda smaller: st.one_of(
        st.builds(Seq, smaller, smaller),
        st.builds(StrictSeq, smaller, smaller),
        st.builds(Or, st.tuples(smaller, smaller)),
        st.builds(All, smaller, smaller),
        st.builds(Bind, smaller, NAMES),
        st.builds(PartBy, smaller, KEYS),
        st.builds(_repeat, smaller, BOUNDS),
        st.builds(Filter, smaller, CONDITIONS),
        st.builds(Select, STRATEGIES, smaller),
    ),
    max_leaves=6,
)


def _in_whole_microseconds(window: Window) -> Window:
    """As a text is lowered: nanoseconds only where microseconds do not do."""
    whole = window.unit is WindowUnit.NANOSECONDS and window.amount % 1000 == 0
    return window.counted_in(WindowUnit.MICROSECONDS) if whole else window


WINDOWS = st.one_of(
    st.builds(Window, st.integers(1, 10**15), st.sampled_from(list(WindowUnit))),
    st.builds(Window, st.floats(0.001, 1e9), st.just(WindowUnit.PLAIN)),
).map(_in_whole_microseconds)


SEVERAL_NAMES = st.lists(NAMES, min_size=1, max_size=3, unique=True).map(tuple)


def _without_outer_strategy(query: Query) -> bool:
    """The parser lifts a strategy around the whole formula into the query."""
    return not (query.strategy is Strategy.ALL and isinstance(query.pattern, Select))


QUERIES = st.builds(
    Query,
    PATTERNS.map(with_sets),
    select=st.none() | SEVERAL_NAMES,
    streams=SEVERAL_NAMES,
    partition_by=st.just(()) | SEVERAL_NAMES,
    window=st.none() | WINDOWS,
    strategy=st.sampled_from(list(Strategy)),
    consume=st.booleans(),
    limit=st.none() | st.integers(1, 1000),
).filter(_without_outer_strategy)


@settings(max_examples=300)
@given(CONDITIONS)
def test_a_printed_condition_parses_back(condition: Condition) -> None:
    text = f"SELECT * FROM s WHERE T FILTER {print_condition(condition)}"
    pattern = lower(parse(text)).pattern
    assert isinstance(pattern, Filter)
    assert pattern.condition == condition
    assert repr(pattern.condition) == repr(condition)  # 1, 1.0 and TRUE are equal in Python, not in CEL


@settings(max_examples=300)
@given(QUERIES)
def test_a_printed_query_parses_back(query: Query) -> None:
    assert lower(parse(print_query(query))) == query


A, B, C = Atom("A", "x"), Atom("B"), Atom("C")
ONE = Comparison("=", Attribute("x", "a"), Literal(1))


PARTS = "A AS x PART-BY [a] FILTER x.a = 1 PART-BY [x.b]"


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (Seq(A, Seq(B, C)), "A AS x ; (B ; C)"),
        (StrictSeq(Seq(A, B), C), "A AS x ; B : C"),
        (Or((Seq(A, B), C)), "A AS x ; B OR C"),
        (Seq(Or((A, B)), C), "(A AS x OR B) ; C"),
        (Repeat(A, 1, None), "(A AS x)+"),
        (Repeat(B, 2, 5), "B{2,5}"),
        (Repeat(Repeat(B, 1, None), 0, 1), "B+?"),
        (Seq(Filter(A, ONE), B), "(A AS x FILTER x.a = 1) ; B"),
        (Filter(Seq(A, B), ONE), "A AS x ; B FILTER x.a = 1"),
        (Select(Strategy.MAX, Or((B, C))), "MAX(B OR C)"),
        (Atom("T", "x", Comparison(">", Attribute(None, "tmp"), Literal(40))), "T[tmp > 40] AS x"),
        (Atom(None), "ANY"),
        (All(B, Seq(B, C)), "B ALL (B ; C)"),
        (PartBy(B, (("x", "a"), (None, "b"))), "B PART-BY [x.a, b]"),
        (Bind(B, "X"), "B IN X"),
        (Bind(Repeat(A, 1, None), "X"), "(A AS x)+ IN X"),
        (Repeat(Bind(A, "X"), 1, None), "(A AS x IN X)+"),
        (Bind(Bind(B, "X"), "Y"), "B IN X IN Y"),
        (Seq(Bind(A, "X"), Bind(Seq(B, C), "Y")), "A AS x IN X ; (B ; C) IN Y"),
        (Seq(A, Bind(PartBy(Repeat(B, 1, None), ((None, "b"),)), "Y")), "A AS x ; (B+ PART-BY [b]) IN Y"),
        (PartBy(Filter(PartBy(A, ((None, "a"),)), ONE), (("x", "b"),)), PARTS),
        (All(All(A, B), C), "A AS x ALL B ALL C"),
        (All(A, All(B, C)), "A AS x ALL (B ALL C)"),
        (Or((All(A, B), Seq(B, C))), "A AS x ALL B OR B ; C"),
        (Seq(All(A, B), C), "(A AS x ALL B) ; C"),
        (Bind(All(A, B), "all"), '(A AS x ALL B) IN "all"'),
        (PartBy(B, ((None, "in"), ("two words", "in"))), 'B PART-BY ["in", "two words".in]'),
    ],
)
def test_patterns_read_as_expected(pattern: Pattern, text: str) -> None:
    assert print_pattern(pattern) == text


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Conjunction((ONE, Disjunction((ONE, ONE)))), "x.a = 1 AND (x.a = 1 OR x.a = 1)"),
        (Negation(ONE), "NOT x.a = 1"),
        (Negation(In(Attribute("x", "a"), (Literal(1),))), "x.a NOT IN (1)"),
        (Negation(IsTrue(ONE)), "(x.a = 1) IS NOT TRUE"),
        (Arithmetic("-", Literal(1), Arithmetic("-", Literal(2), Literal(-3))), "1 - (2 - -3)"),
        (Attribute("X", "price", each=True), "X.price"),
        (Conjunction(()), "TRUE"),
        (Disjunction(()), "FALSE"),
        (TRUE, "TRUE"),
    ],
)
def test_conditions_read_as_expected(condition: Condition, text: str) -> None:
    assert print_condition(condition) == text


def test_a_tree_shows_one_node_per_line() -> None:
    pattern = Filter(Seq(Or((A, B)), Repeat(C, 0, None)), ONE)
    assert print_tree(pattern) == "FILTER x.a = 1\n  ;\n    OR\n      A AS x\n      B\n    *\n      C"


def test_every_node_has_a_line_of_its_own_in_the_tree() -> None:
    nested = Bind(PartBy(Select(Strategy.NXT, All(B, Or((B, StrictSeq(B, C))))), ()), "X")
    heads = [line.strip() for line in print_tree(nested).splitlines()]
    assert heads == [
        "IN X",
        "PART-BY []",
        "NXT",
        "ALL",
        "B",
        "OR",
        "B",
        ":",
        "B",
        "C",
    ]
