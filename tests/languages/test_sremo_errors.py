"""Errors in SREMO say where, what was expected and, for the usual mistakes, how to fix it."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepheid.algebra.scope import check_scope
from cepheid.errors import CepheidError
from cepheid.languages import lower, parse


def error(text: str) -> CepheidError:
    with pytest.raises(CepheidError) as caught:
        check_scope(lower(parse(text, "sremo")))
    return caught.value


EXACT = {
    "[a] ; [b]": """\
error[syntax]: expected a repetition sign, a clause such as WITHIN, `.`, `|`, `&`, `>` or the end of the \
query, found `;`
  --> query:1:5
   |
 1 | [a] ; [b]
   |     ^ write . for directly after, or #(…, …) with anything in between""",
    "SELL . BUY": """\
error[syntax]: expected an expression such as `[price > 10]`, found `SELL`
  --> query:1:1
   |
 1 | SELL . BUY
   | ^^^^ events are described in brackets: [type = 'SELL']""",
    "[a > ] . [b]": """\
error[syntax]: expected a value such as `price` or `10`, found `]`
  --> query:1:6
   |
 1 | [a > ] . [b]
   |      ^""",
    "[a > 1": """\
error[syntax]: the query ends too early; expected an operator or `]`
  --> query:1:7
   |
 1 | [a > 1
   |       ^ the [ at 1:1 is never closed""",
    "#([a], [b]": """\
error[syntax]: the query ends too early; expected `,`, `)` or WITHIN
  --> query:1:11
   |
 1 | #([a], [b]
   |           ^ the ( at 1:2 is never closed""",
    "[a] > . [b]": """\
error[syntax]: expected a register's name, found `.`
  --> query:1:7
   |
 1 | [a] > . [b]
   |       ^""",
    "": """\
error[syntax]: the query ends too early; expected an expression such as `[price > 10]`
  --> query:1:1
   |
 1 | \n\
   | ^ a query reads #([price > 10], …) WITHIN 5 minutes""",
    "[a = 'x . [b]": """\
error[syntax]: this quote is never closed
  --> query:1:6
   |
 1 | [a = 'x . [b]
   |      ^ close it with '; inside, write '' for the sign itself""",
    "#([a] > r1,\n  [b > r2.b])": """\
error[unknown-register]: nothing is stored in register `r2`
  --> query:2:8
   |
 2 |   [b > r2.b])
   |        ^^ the registers are `r1`""",
    "[b > r.b] . [a] > r": """\
error[empty-register]: register `r` is always empty here, so that the condition never holds
  --> query:1:6
   |
 1 | [b > r.b] . [a] > r
   |      ^ store it before, outside of `!` and on this side of `&`; what may be stored here: none""",
    "[a] . !([a] . [b]) . [c]": """\
error[needs-window]: `!` of more than a single condition needs a window around it
  --> query:1:7
   |
 1 | [a] . !([a] . [b]) . [c]
   |       ^^^^^^^^^^^^ add WITHIN and a window at the end, or around this part: (… WITHIN 5 minutes)""",
    "@([a], [b] . [c])": """\
error[needs-window]: `@(…)` with more than single conditions needs a window around it
  --> query:1:1
   |
 1 | @([a], [b] . [c])
   | ^^^^^^^^^^^^^^^^^ add WITHIN and a window at the end, or around this part: (… WITHIN 5 minutes)""",
    "[a] WITHIN 5 minuts": """\
error[syntax]: unknown unit `minuts`
  --> query:1:14
   |
 1 | [a] WITHIN 5 minuts
   |              ^^^^^^ did you mean `minutes`?""",
}


@pytest.mark.parametrize("text", EXACT, ids=range(len(EXACT)))
def test_typical_mistakes_render_exactly(text: str) -> None:
    assert str(error(text)) == EXACT[text]


HINTS = {
    "[a] OR [b]": "write | between expressions",
    "[a] AND [b]": "write & for both at once, . for one after the other",
    "[a], [b]": "write #(…, …) with anything in between, or . for directly after",
    "[a] : [b]": "write . for directly after",
    "[a] [b]": "write . between expressions",
    "[a] any": "write . between expressions",
    "[a] #([b])": "write . between expressions",
    "[a] AS x": "write > and a register's name to remember the event",
    "[a & b]": "inside brackets write AND",
    "[a | b]": "inside brackets write OR",
    "[!a]": "inside brackets write NOT",
    "[a =< 3]": "write <= or >=",
    "[a] -> [b]": "write . or #(…, …)",
    "[a] . /* b */ [c]": "comments begin with --",
    "NOT [a] . [b]": "write ! for what must not be read, or NOT inside brackets",
    "SELECT * FROM s WHERE A": "this is CEL: leave the language out, or say so",
    "([a] WITHIN 5 . [b])": "WITHIN takes all to its left; use parentheses: (… WITHIN 5 seconds) . …",
    "[a])": "there is no ( for it",
    "[a] WITHN 5": "did you mean WITHIN?",
    "[a] FILTER b = 1": "conditions stand in brackets, at the event they speak of",
}


@pytest.mark.parametrize("text", HINTS)
def test_usual_mistakes_have_a_fix(text: str) -> None:
    found = error(text)
    assert found.code == "syntax"
    assert found.hint == HINTS[text]


CODES = {
    "[a > r.a]": "unknown-register",
    "([a] > r | [b]) . [a > r.a]": None,
    "([a > r.a] | [b] > r)*": None,
    "([a > r.a] . [b] > r)+": None,
    "([a > r.a] | [b] > r)+": None,
    "([a > r.a] | [b] > r){2,3}": None,
    "@([a], ([a > r.a] | [b] > r)*) WITHIN 5": None,
    "([a > r.a] . [b] > r){1}": "empty-register",
    "[a] > r . ([a > r.a] > r)+": None,
    "[a] . (![a > s.a] & any) . [b] > s": "empty-register",
    "([a] > r & [b = r.b]) . [c]": "empty-register",
    "([a] > r & [b] > s) . [c = r.c AND c = s.c]": None,
    "([a] > r . [b] & [c] . [c] > r)": "register-clash",
    "[a] . !([b] > r) . [c = r.c]": "empty-register",
    "[a] . !([b] > r . [c = r.c]) . [c] WITHIN 5": None,
    "[a] . ![b] . [c]": None,
    "[a] . !(any* . [b] . any*) . [c]": None,
    "[a] . !(any* . [b]) . [c]": "needs-window",
    "[a] . (!(any* . [b]) WITHIN 5) . [c]": None,
    "([a] . !(any* . [b]) . [c] WITHIN 5) . [c]": None,
    "[a] . !(any* . [b] WITHIN 5) . [c]": "needs-window",
    "@([a], [b], [c])": None,
    "@([a], [b]+, [c]*)": None,
    "@([a] . [b], [c])": None,
    "@([a], [b] | [c])": "needs-window",
    "@([a], [b] | [c]) WITHIN 5": None,
    "any": "unsatisfiable",
    "![a]": "unsatisfiable",
    "()": "unsatisfiable",
    "[a] . any": "unsatisfiable",
    "[a] . any?": None,
    "[a] . any*": None,
    "[a] & any": "unsatisfiable",
    "[a] & ![b]": "unsatisfiable",
    "[a]{0}": "bad-argument",
    "[a]{3,2}": "bad-argument",
    "[a] WITHIN 0 events": "bad-argument",
    "([a] WITHIN 0 events)": "bad-argument",
    "([a] WITHIN -1)": "bad-argument",
    "[a] WITHIN 0": None,
    "[a] LIMIT 0": "bad-argument",
    "[a] PARTITION BY k, k": "bad-argument",
    "[a] PARTITION BY events": "bad-argument",
    "[a] WITHIN 5 WITHIN 6": "syntax",
    "[a]{1,100}": "too-large",
    "[a]{5000}": "too-large",
    "(([a]{60}){60}){60}": "too-large",
    "[a]" + "+" * 40: "too-large",
    "@([a], " + "@([b], " * 20 + "[c]" + ")" * 21 + " WITHIN 5": "too-large",
}


@pytest.mark.parametrize("text", CODES)
def test_what_is_wrong_has_its_code_and_what_is_right_none(text: str) -> None:
    wanted = CODES[text]
    if wanted is None:
        check_scope(lower(parse(text, "sremo")))
        return
    found = error(text)
    assert found.code == wanted
    assert found.span is not None or text == "()"


PIECES = ["[a]", "-[b > r.b]", "[a] > r", "any", *".|&!*+,()", "{1,2}", "#(", "@(", "WITHIN", "5", "'"]
TEXTS = st.one_of(st.text(max_size=20), st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))


@settings(max_examples=300)
@given(TEXTS)
def test_no_text_ends_in_anything_but_an_error_of_ours(text: str) -> None:
    with contextlib.suppress(CepheidError):
        check_scope(lower(parse(text, "sremo")))
