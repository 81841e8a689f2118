"""The likely fix of a syntax error in SREMO: one small guess per usual mistake, the first that fits wins."""

from __future__ import annotations

from lark.exceptions import UnexpectedInput

from cepheid.errors import CepheidError, Source
from cepheid.languages.explained import Guess, cast_without_type, explained, misspelt_keyword, parenthesis
from cepheid.languages.mistakes import NAMES, VALUE, Group, Mistake, name_word

NAME_AFTER = {"BY": "a column name", ">": "a register's name", ".": "an attribute name"}
EXPRESSION = frozenset(["LSQB", "MINUS", "ANY", "HASH", "AT", "BANG", "LPAR"])
GROUPS = (
    Group(frozenset(["HASH"]), EXPRESSION, "an expression such as `[price > 10]`"),
    Group(frozenset(["STRING", "NAME"]), VALUE | {"NOT", "MINUS"}, "a value such as `price` or `10`"),
    Group(frozenset(["NAME"]), NAMES, lambda mistake: name_word(mistake, NAME_AFTER)),
)

BETWEEN_EXPRESSIONS = {
    "OR": "write | between expressions",
    "AND": "write & for both at once, . for one after the other",
    "∨": "write | between expressions",
    "∧": "write & for both at once, . for one after the other",
    ";": "write . for directly after, or #(…, …) with anything in between",
    ":": "write . for directly after",
    ",": "write #(…, …) with anything in between, or . for directly after",
    "AS": "write > and a register's name to remember the event",
    "IN": "write > and a register's name to remember the event",
    "FILTER": "conditions stand in brackets, at the event they speak of",
    "[": "write . between expressions",
    "(": "write . between expressions",
    "#": "write . between expressions",
    "@": "write . between expressions",
    "!": "write . between expressions",
    "-": "write . between expressions",
    "ANY": "write . between expressions",
}
IN_BRACKETS = {
    "&": "inside brackets write AND",
    "|": "inside brackets write OR",
    "!": "inside brackets write NOT",
    ".": "an attribute of a register is written r.price; close the bracket before the next event",
}
OTHER_SIGNS = {"/*": "comments begin with --", "//": "comments begin with --", "->": "write . or #(…, …)"}


def explain(source: Source, error: UnexpectedInput) -> CepheidError:
    """The error a user sees for a text that does not parse.

    >>> from cepheid.languages.sremo.tree import parse_sremo
    >>> try:
    ...     parse_sremo(Source("[a > 1] ; [b]"))
    ... except CepheidError as error:
    ...     print(error.hint)
    write . for directly after, or #(…, …) with anything in between
    """
    return explained(source, error, GROUPS, GUESSES)


def _empty_query(mistake: Mistake) -> str | None:
    return None if mistake.lexemes or mistake.found else "a query reads #([price > 10], …) WITHIN 5 minutes"


def _other_language(mistake: Mistake) -> str | None:
    if mistake.found.upper() == "SELECT" and not mistake.lexemes:
        return "this is CEL: leave the language out, or say so"
    return None


def _other_sign(mistake: Mistake) -> str | None:
    text, place = mistake.source.text, mistake.start
    if text[max(0, place - 1) : place + 1] in ("=<", "=>"):
        return "write <= or >="
    return next((hint for sign, hint in OTHER_SIGNS.items() if text.startswith(sign, place)), None)


def _in_brackets(mistake: Mistake) -> str | None:
    inside = mistake.accepts & {"STRING", "COMPARE", "SLASH", "AND"}
    return IN_BRACKETS.get(mistake.found) if inside else None


def _bare_condition(mistake: Mistake) -> str | None:
    """A name or a type where an event must be described."""
    if "HASH" not in mistake.accepts or not mistake.found[:1].isalpha():
        return None
    if mistake.found.upper() == "NOT":
        return "write ! for what must not be read, or NOT inside brackets"
    return f"events are described in brackets: [type = '{mistake.found}']"


def _between(mistake: Mistake) -> str | None:
    # At a sign that stands in some lists the parser has closed all that is open before it stops.
    ended = "VBAR" in mistake.accepts or (mistake.found == "," and "$END" in mistake.accepts)
    return BETWEEN_EXPRESSIONS.get(mistake.found.upper()) if ended else None


def _window_unit(mistake: Mistake) -> str | None:
    """An expression after WITHIN: the window takes all to its left."""
    words = [lexeme.upper() for _, lexeme in mistake.lexemes[-3:]]
    if "WITHIN" in words and mistake.found in (".", "|", "&", "*", "+", "?", "{"):
        return "WITHIN takes all to its left; use parentheses: (… WITHIN 5 seconds) . …"
    return None


GUESSES: tuple[Guess, ...] = (
    _empty_query,
    _other_language,
    _other_sign,
    _in_brackets,
    _bare_condition,
    _window_unit,
    cast_without_type,
    parenthesis,
    _between,
    misspelt_keyword,
)
