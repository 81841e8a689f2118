"""Every form of SREMO and the expression that it stands for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from cepheid.algebra.conditions import (
    FALSE,
    TRUE,
    Arithmetic,
    Attribute,
    Comparison,
    Conjunction,
    Literal,
    Negation,
)
from cepheid.algebra.nodes import (
    ANY,
    EPSILON,
    SKIP,
    Both,
    Complement,
    Concat,
    Iterate,
    Or,
    Query,
    Read,
    Reading,
    Recognise,
    Window,
    WindowUnit,
    Within,
)
from cepheid.algebra.printing import print_query, print_tree
from cepheid.algebra.reading_printing import print_reading
from cepheid.algebra.scope import check_scope
from cepheid.algebra.skips import NEVER, gap
from cepheid.languages import detect, lower, parse
from cepheid.languages.parsed import DEPTH_LIMIT
from support.generators import readings, sremo_queries

A, B, C = (Read(Attribute(None, name)) for name in "abc")
EVENTS_5 = Window(5, WindowUnit.EVENTS)


def reading(text: str) -> Reading:
    pattern = lower(parse(text, "sremo")).pattern
    assert isinstance(pattern, Recognise)
    return pattern.reading


def plus(body: Reading, between: Reading) -> Reading:
    return Concat((body, Iterate(Concat((between, body)))))


FORMS = {
    "[a]": A,
    "-[a]": Read(A.condition, marked=False),
    "- [a]": Read(A.condition, marked=False),
    "[a] > r1": Read(A.condition, register="r1"),
    '[a] > "two words"': Read(A.condition, register="two words"),
    "-[a] > r1": Read(A.condition, marked=False, register="r1"),
    "any": ANY,
    "ANY": ANY,
    "-[true]": ANY,
    "any > r": Read(TRUE, marked=False, register="r"),
    "()": EPSILON,
    "[a] . [b]": Concat((A, B)),
    "[a].[b].[c]": Concat((A, B, C)),
    "[a] . ([b] . [c])": Concat((A, Concat((B, C)))),
    "[a] | [b] | [c]": Or((A, B, C)),
    "[a] & [b] & [c]": Both(Both(A, B), C),
    "![a]": Complement(A),
    "!![a]": Complement(Complement(A)),
    "[a]*": Iterate(A),
    "[a]+": Concat((A, Iterate(A))),
    "[a]?": Or((A, EPSILON)),
    "[a]{3}": Concat((A, A, A)),
    "[a]{1}": A,
    "[a]{2,}": Concat((A, A, Iterate(A))),
    "[a]{0,}": Iterate(A),
    "[a]{1,3}": Concat((A, Or((Concat((A, Or((A, EPSILON)))), EPSILON)))),
    "[a]{0,2}": Or((Concat((A, Or((A, EPSILON)))), EPSILON)),
    "([a] WITHIN 5 events) . [b]": Concat((Within(A, EVENTS_5), B)),
    "(([a] WITHIN 5 events))": Within(A, EVENTS_5),
    "([a] | [b] WITHIN 5 events)*": Iterate(Within(Or((A, B)), EVENTS_5)),
    "#([a])": A,
    "#([a], [b], [c])": Concat((A, SKIP, B, SKIP, C)),
    "#([a], #([b], [c]))": Concat((A, SKIP, Concat((B, SKIP, C)))),
    "#([a]+)": plus(A, SKIP),
    "#([a]*)": Or((plus(A, SKIP), EPSILON)),
    "#([a]?)": Or((A, EPSILON)),
    "#([a]{2})": Concat((A, SKIP, A)),
    "#([a]{2,})": Concat((A, SKIP, A, Iterate(Concat((SKIP, A))))),
    "#([a]{1,2})": Concat((A, Or((Concat((SKIP, A)), EPSILON)))),
    "#([a] . [b]+, [c])": Concat((Concat((A, Concat((B, Iterate(B))))), SKIP, C)),
    "#([a], [b] WITHIN 5 events)": Concat((A, SKIP, Within(B, EVENTS_5))),
    "@([a])": A,
    "@([a], [b])": Concat((A, gap(B), B)),
    "@([a], [b]+)": Concat((A, gap(B), plus(B, gap(B)))),
    "@([a], [b]*, [c])": Concat((A, Or((Concat((gap(B), plus(B, gap(B)))), EPSILON)), gap(C), C)),
    "@([a]+, [b])": Concat((plus(A, gap(A)), gap(B), B)),
    "@([a], [b]?)": Concat((A, Or((Concat((gap(B), B)), EPSILON)))),
    "@([a], [b]{2})": Concat((A, gap(B), Concat((B, gap(B), B)))),
    "@([a], ([b] | ()))": Concat((A, Or((Concat((gap(B), B)), EPSILON)))),
    "@([a], ())": Concat((A, Or((Concat((gap(NEVER), NEVER)), EPSILON)))),
}


@pytest.mark.parametrize("text", FORMS)
def test_a_form_stands_for_its_expression(text: str) -> None:
    assert reading(text) == FORMS[text]


@pytest.mark.parametrize("text", FORMS)
def test_it_prints_as_text_that_stands_for_the_same(text: str) -> None:
    whole = Query(Recognise(FORMS[text]))
    assert lower(parse(print_query(whole), "sremo")) == whole


PRECEDENCE = {
    "[a] . [b] & [c]": "([a] . [b]) & [c]",
    "[a] & [b] | [c]": "([a] & [b]) | [c]",
    "[a] | [b] & [c] . [a]": "[a] | ([b] & ([c] . [a]))",
    "![a] . [b]": "(![a]) . [b]",
    "![a]*": "!([a]*)",
    "[a] . [b]*": "[a] . ([b]*)",
    "[a] > r*": "([a] > r)*",
    "([a] | [b] WITHIN 5 events)": "(([a] | [b]) WITHIN 5 events)",
}


@pytest.mark.parametrize("text", PRECEDENCE)
def test_what_binds_tighter(text: str) -> None:
    assert reading(text) == reading(PRECEDENCE[text])


def condition(text: str) -> object:
    read = reading(f"[{text}]")
    assert isinstance(read, Read)
    return read.condition


PRICE, THEIRS = Attribute(None, "price"), Attribute("r1", "price")
CONDITIONS = {
    "price": PRICE,
    "r1.price": THEIRS,
    '"price" > r1."price"': Comparison(">", PRICE, THEIRS),
    "price < r1.price * 2": Comparison("<", PRICE, Arithmetic("*", THEIRS, Literal(2))),
    "price-1 = -2": Comparison("=", Arithmetic("-", PRICE, Literal(1)), Literal(-2)),
    "price - -1 = 0": Comparison("=", Arithmetic("-", PRICE, Literal(-1)), Literal(0)),
    "not price": Negation(PRICE),
    "notes": Attribute(None, "notes"),
    "trueish": Attribute(None, "trueish"),
    "any": Attribute(None, "any"),
    "within": Attribute(None, "within"),
    "date": Attribute(None, "date"),
    "1 < price < 3": Conjunction((Comparison("<", Literal(1), PRICE), Comparison("<", PRICE, Literal(3)))),
    "false": FALSE,
}


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_plain_name_is_the_event_at_hand_and_a_dotted_one_a_register(text: str) -> None:
    assert condition(text) == CONDITIONS[text]


def test_clauses_come_in_any_order() -> None:
    query = lower(parse("[a] LIMIT 3 CONSUME partition by k, l WITHIN 2 minutes", "sremo"))
    assert query == Query(
        Recognise(A),
        partition_by=("k", "l"),
        window=Window(120_000_000, WindowUnit.MICROSECONDS),
        consume=True,
        limit=3,
    )


def test_comments_and_lines_are_spaces() -> None:
    text = "-- rising\n[a] -- first\n . -[b] -- not -[marked]\n . [c = '--']"
    assert reading(text) == Concat(
        (A, Read(B.condition, marked=False), Read(Comparison("=", Attribute(None, "c"), Literal("--"))))
    )


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("[a]", "sremo"),
        ("-[a] . [b]", "sremo"),
        ("#([a])", "sremo"),
        ("@([a])", "sremo"),
        ("(any . [a])", "sremo"),
        ("![a] . [b]", "sremo"),
        ("any* . [a]", "sremo"),
        ("Any.[a]", "sremo"),
        ("-- a comment\n  -[a] . [b]", "sremo"),
        ("SELECT * FROM s WHERE A", "cel"),
        ("-- [a]\nselect * from s where A", "cel"),
        ("anything", "cel"),
        ("", "cel"),
    ],
)
def test_the_language_is_known_by_how_a_text_begins(text: str, language: str) -> None:
    assert detect(text) == language


def test_spans_lead_to_the_text() -> None:
    whole = reading("[a] . !([b] > r)")
    assert isinstance(whole, Concat)
    spans = [part.span.text for part in whole.parts if isinstance(part, Read | Complement) and part.span]
    assert spans == ["[a]", "!([b] > r)"]


@settings(max_examples=500)
@given(sremo_queries())
def test_a_printed_query_parses_back(query: Query) -> None:
    again = lower(parse(print_query(query)))
    check_scope(again)
    assert again == query


def test_copies_of_a_condition_that_can_hold_elsewhere_parse_back() -> None:
    """Where the first part is left out, nothing is in the register; the text says that twice, the query once."""
    query = lower(parse("@([v = 3], @([v = 1] > r?, [v > r.v]?), [v = 2]) WITHIN 5 EVENTS"))
    check_scope(query)
    again = lower(parse(print_query(query)))
    check_scope(again)
    assert again == query


@settings(max_examples=300)
@given(readings())
def test_a_printed_expression_parses_back(read: Reading) -> None:
    assert reading(f"({print_reading(read)})") == read
    assert print_tree(Recognise(read)).startswith("recognise\n")


def test_nesting_has_a_limit_and_says_so() -> None:
    from cepheid.errors import CepheidError

    deep = "!(" * DEPTH_LIMIT * 2 + "[a]" + ")" * DEPTH_LIMIT * 2
    with pytest.raises(CepheidError) as caught:
        reading(deep)
    assert caught.value.code == "too-large"


def test_a_query_as_deep_as_allowed_goes_through_every_pass() -> None:
    import pyarrow as pa

    import cepheid

    deep = "(" * 100 + "[a = 1]" + " . any*)" * 100 + " . [a = 2]"
    table = pa.table({"ts": [1, 2, 3], "a": [1, 2, 2]})
    assert cepheid.count(table, deep) == 2
    assert cepheid.count(table, "[a = 1]{0,60} . [a = 2]{2}") == 2
    assert "recognise" in cepheid.explain(deep, table)
