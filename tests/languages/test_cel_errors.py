"""Syntax errors say where, what was expected and, for the usual mistakes, how to fix it."""

import re

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepheid.algebra.printing import print_query, print_tree
from cepheid.algebra.scope import check_scope
from cepheid.algebra.types import check_types
from cepheid.errors import CepheidError
from cepheid.languages import lower, parse
from cepheid.languages.parsed import DEPTH_LIMIT
from cepheid.schema import schema_of

PREFIX = "SELECT * FROM s WHERE "


def error(text: str) -> CepheidError:
    with pytest.raises(CepheidError) as caught:
        lower(parse(text))
    return caught.value


EXACT = {
    "SELCT * FROM s WHERE A": """\
error[syntax]: expected SELECT, found `SELCT`
  --> query:1:1
   |
 1 | SELCT * FROM s WHERE A
   | ^^^^^ did you mean SELECT?""",
    "SELECT * FORM s WHERE A": """\
error[syntax]: expected `,` or FROM, found `FORM`
  --> query:1:10
   |
 1 | SELECT * FORM s WHERE A
   |          ^^^^ did you mean FROM?""",
    "SELECT * WHERE A": """\
error[syntax]: expected `,` or FROM, found `WHERE`
  --> query:1:10
   |
 1 | SELECT * WHERE A
   |          ^^^^^ add FROM and the stream's name before WHERE""",
    "SELECT FROM s WHERE A": """\
error[syntax]: expected `,`, `.`, `(` or FROM, found `s`
  --> query:1:13
   |
 1 | SELECT FROM s WHERE A
   |             ^ `FROM` was read as a name: is * or a variable missing before it?""",
    "SELECT * FROM s A AS x": """\
error[syntax]: expected `,` or WHERE, found `A`
  --> query:1:17
   |
 1 | SELECT * FROM s A AS x
   |                 ^ put WHERE before the formula""",
    "SELECT *\nFROM s\nWHERE T AS x FILTER x.a = 'abc": """\
error[syntax]: this quote is never closed
  --> query:3:27
   |
 3 | WHERE T AS x FILTER x.a = 'abc
   |                           ^ close it with '; inside, write '' for the sign itself""",
    "SELECT * FROM s WHERE (A ; B": """\
error[syntax]: the query ends too early; expected `)`, FILTER, OR, PART-BY or WITHIN
  --> query:1:29
   |
 1 | SELECT * FROM s WHERE (A ; B
   |                             ^ the ( at 1:23 is never closed""",
    "SELECT * FROM s WHERE A AS x)": """\
error[syntax]: expected a clause such as WITHIN, FILTER, OR, PART-BY or the end of the query, found `)`
  --> query:1:29
   |
 1 | SELECT * FROM s WHERE A AS x)
   |                             ^ there is no ( for it""",
    "SELECT * FROM s WHERE A AS x FILTER x.a > 1 ; B": """\
error[syntax]: expected an operator, a clause such as WITHIN, FILTER, PART-BY or the end of the query, found `;`
  --> query:1:45
   |
 1 | SELECT * FROM s WHERE A AS x FILTER x.a > 1 ; B
   |                                             ^ FILTER takes all to its left; \
use parentheses: (T AS x FILTER …) ; …""",
    "SELECT * FROM s WHERE A AS x FILTER price > 1": """\
error[syntax]: expected `.` or `(`, found `>`
  --> query:1:43
   |
 1 | SELECT * FROM s WHERE A AS x FILTER price > 1
   |                                           ^ say whose attribute it is, as in x.price""",
    "SELECT * FROM s WHERE A AS x FILTER x.a =": """\
error[syntax]: the query ends too early; expected a value such as `x.price` or `10`
  --> query:1:42
   |
 1 | SELECT * FROM s WHERE A AS x FILTER x.a =
   |                                          ^""",
    "SELECT * FROM s WHERE A WITHIN 10 minuts": """\
error[syntax]: unknown unit `minuts`
  --> query:1:35
   |
 1 | SELECT * FROM s WHERE A WITHIN 10 minuts
   |                                   ^^^^^^ did you mean `minutes`?""",
    "SELECT * FROM s WHERE A ; ; B": """\
error[syntax]: expected a pattern such as `T AS x`, found `;`
  --> query:1:27
   |
 1 | SELECT * FROM s WHERE A ; ; B
   |                           ^""",
    "": """\
error[syntax]: the query ends too early; expected SELECT
  --> query:1:1
   |
 1 | \n\
   | ^ a query reads SELECT * FROM stream WHERE formula""",
}


@pytest.mark.parametrize("text", EXACT, ids=range(len(EXACT)))
def test_typical_mistakes_render_exactly(text: str) -> None:
    assert str(error(text)) == EXACT[text]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("A AS x FLITER x.a > 1", "did you mean FILTER?"),
        ("A AS x FILTER x.a > 1 OR B AS y", "FILTER takes all to its left"),
        ('A AS x FILTER x.a = "foo"', "strings take single quotes: 'foo'"),
        ("A x ; B", "write AS before the variable: A AS x"),
        ("A+ AS x", "name the event before it is repeated: (T AS x)+"),
        ("A AS x, B AS y", "write ; between the parts of a sequence"),
        ("A -> B", "write ; for “followed by”"),
        ("[A ; B]", "group with ( and )"),
        ("A AS x FILTER x.a > 1 && x.b < 2", "write AND"),
        ("A AS x FILTER x.a > 1 || x.b < 2", "write OR"),
        ("A AS x FILTER !x.a", "write NOT"),
        ("A AS x FILTER x.a => 1", "write <= or >="),
        ("A AS x;", "a query does not end with ;"),
        ("A LIMIT 5;", "a query does not end with ;"),
        ("(A AS x WITHIN 10 minutes", "the ( at 1:23 is never closed"),
        ("A AS FILTER x.a > 1", "`FILTER` was read as a name"),
        ("A AS x LIMIT 5 LIMIT 6", "keep one of them"),
        ("A AS x LIMIT 5.5", "as in LIMIT 10"),
        ("A AS x FILTER x.a > 99999999999999999999", "write it as a decimal number"),
        ("A WITHIN 1e999999999 days", "a window has at most 64 bits"),
        ("A WITHIN 99999999999999999999", "a window has at most 64 bits"),
        ("A AS x FILTER x.a <> 1 <> 2", "say which values differ"),
        ("A AS x FILTER x.t > TIMESTAMP 'soon'", "write it as TIMESTAMP '2024-01-31 12:30:00'"),
        ("A AS x FILTER x.t > DATE '31.1.2024'", "write it as DATE '2024-01-31'"),
        ("A /* no */ ; B", "comments begin with --"),
        ("A PARTBY [a]", "write PART-BY [x.a, y.b]"),
        ("A AS x PART BY [x.a]", "write PART-BY [x.a, y.b]"),
        ("A AS x FILTER x.a = 1 PART_BY [x.a]", "write PART-BY [x.a, y.b]"),
        ("A PRT-BY [a]", "did you mean PART-BY?"),
        ("A PARTITION BY [a]", "inside a formula write PART-BY [x.a, y.b]"),
        ("(A ; B PARTITION BY a) ; C", "inside a formula write PART-BY [x.a, y.b]"),
        ("A PARTITION-BY [a]", "inside a formula write PART-BY [x.a, y.b]"),
        ("A PART-BY a", "list what must be equal in brackets: PART-BY [x.a, y.b]"),
        ("A PART-BY (x.a)", "list what must be equal in brackets: PART-BY [x.a, y.b]"),
        ("A PART-BY []", "list what must be equal in brackets: PART-BY [x.a, y.b]"),
        ("A PART-BY [a", "the [ at 1:33 is never closed"),
        ("(A PART-BY [a] WITHIN 5 s", "the ( at 1:23 is never closed"),
        ("A PART-BY [a] ; B", "PART-BY takes all to its left"),
        ("A+ PART-BY [a] IN Y ; B", "PART-BY takes all to its left"),
        ("(A PART-BY [a]+) ; B", "PART-BY takes all to its left"),
        ("A AS x FILTER x.a = 1 ALL B", "FILTER takes all to its left"),
        ("A AS x FILTER x.a = 1 IN X", "to name a set, use parentheses: (T FILTER …) IN X"),
        ("A AS x FILTER x.a IN X", "to name a set, use parentheses: (T FILTER …) IN X"),
        ("A+ AS X", "or the set of all: T+ IN X"),
    ],
)
def test_the_likely_fix_is_named(text: str, hint: str) -> None:
    found = error(PREFIX + text)
    assert found.code == "syntax"
    assert found.span is not None
    assert hint in (found.hint or "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A AS x FILTER x. > 1", "expected an attribute name"),
        ("A{x}", "expected a whole number"),
        ("A AS", "expected a variable name"),
        ("A PARTITION BY", "expected a column name"),
        ("A AS x FILTER x.a IN 5", "expected `(`"),
        ("A AS x FILTER x.a LIKE 5", "expected a string in single quotes"),
        ("A AS x FILTER x.a IS 5", "expected NOT, NULL or TRUE"),
        ("A PARTITION sensor", "expected BY"),
        ("A WITHIN minutes", "a whole number or a number"),
        ("A IN", "expected a name for the set"),
        ("A PART-BY", "expected `[`"),
        ("A PART-BY [", "expected an attribute such as `x.id`"),
        ("A PART-BY [x.", "expected an attribute name"),
        ("A PART-BY [x", "expected `,`, `.` or `]`"),
        ("A ALL", "expected a pattern such as `T AS x`"),
        ("A PART-BY [a] x", "a clause such as WITHIN, FILTER, PART-BY or the end of the query"),
    ],
)
def test_what_was_expected_is_named(text: str, expected: str) -> None:
    assert expected in error(PREFIX + text).message


@pytest.mark.parametrize("end", range(90))
def test_a_query_cut_anywhere_is_a_query_or_a_syntax_error(end: int) -> None:
    text = "SELECT x FROM s WHERE (A AS x ; B{1,2} FILTER x.a = 'b' AND x.b IN (1, 2.5)) WITHIN 1 s LIMIT 5"
    assert _code_of(text[:end]) in (None, "syntax")


@pytest.mark.parametrize("end", range(80))
def test_a_query_with_sets_cut_anywhere_is_a_query_or_a_syntax_error(end: int) -> None:
    text = "SELECT X FROM s WHERE ((A ALL B+) IN X PART-BY [X.a]) ; C IN Y PART-BY [X.a, Y.b] LIMIT 5"
    assert _code_of(text[:end]) in (None, "syntax")


def _code_of(text: str) -> str | None:
    try:
        lower(parse(text))
    except CepheidError as caught:
        return caught.code
    return None


def test_real_nesting_beyond_the_limit_is_refused() -> None:
    found = error(PREFIX + "(" * 3000 + "A" + "+;B)" * 3000)
    assert found.code == "too-large"
    assert f"{DEPTH_LIMIT} levels" in found.message


def test_deeply_nested_conditions_are_refused() -> None:
    found = error(PREFIX + "A AS x FILTER " + "NOT " * 3000 + "x.a")
    assert found.code == "too-large"


@pytest.mark.parametrize(
    "text",
    [
        "A AS x FILTER " + "(x.a OR x.a AND " * 70 + "x.a" + ")" * 70,
        "A AS x FILTER " + "NOT " * 140 + "x.a",
        "A AS x FILTER x.a IN (" * 1 + "coalesce(" * 130 + "x.a" + ")" * 131,
        "(" * 70 + "A" + " OR B)+" * 70,
        "A" + " ; A" * 140,
        "(" * 60 + "A" + " ALL B) IN X" * 60 + " PART-BY [X.t]" * 20,
    ],
    ids=["and-or", "not", "calls", "repetitions", "sequence", "sets"],
)
def test_what_is_nested_within_the_limit_goes_through_every_pass(text: str) -> None:
    query = lower(parse(PREFIX + text))
    check_scope(query)
    check_types(query, schema_of(pa.schema([("t", pa.int64()), ("a", pa.bool_())]), time="t"))
    assert lower(parse(print_query(query))) == query
    assert print_tree(query.pattern)


def test_unclosed_parentheses_by_the_thousand_are_a_syntax_error() -> None:
    assert error(PREFIX + "(" * 3000 + "A").code == "syntax"


def test_an_unknown_language_lists_the_known_ones() -> None:
    with pytest.raises(CepheidError) as caught:
        parse("SELECT * FROM s WHERE A", language="sql")
    assert str(caught.value) == (
        "error[unknown-language]: there is no query language `sql`\n"
        "  hint: the known languages are `cel`, `sremo`, `sase`"
    )


def test_the_language_may_be_named_in_any_case() -> None:
    assert parse("SELECT * FROM s WHERE A", language="CEL").language == "cel"


WORDS = re.split(
    " ",
    "SELECT FROM WHERE AS FILTER OR AND NOT IN LIKE IS NULL BETWEEN NXT LAST( PARTITION BY WITHIN LIMIT "
    "CONSUME EVENTS ALL PART-BY PART "
    "x y T x.a 1 2.5 -- 'a' ' \" ` \"q\" ; : , . ( ) { } + * ? = <> < [ ] & | ! -> ∧ ∨ ¬ é \n "
    "DATE round(",
)


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(WORDS), max_size=12),
    st.sampled_from(["", PREFIX, PREFIX + "T AS x FILTER x.a = 1 "]),
)
def test_any_text_is_a_query_or_an_error_with_a_place(words: list[str], prefix: str) -> None:
    try:
        lower(parse(prefix + " ".join(words)))
    except CepheidError as caught:
        rendered, span = str(caught), caught.span
    else:
        return
    assert span is not None
    assert f"--> query:{span.line}:{span.column}" in rendered
