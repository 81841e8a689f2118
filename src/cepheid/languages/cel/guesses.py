"""The likely fix of a syntax error: one small guess per usual mistake, the first that fits wins.

In: a `Mistake`. Out: the error a user sees, with a hint where a guess fits. A guess looks only at the text found, the
text before it and the terminals that the grammar accepts.
"""

from __future__ import annotations

from lark.exceptions import UnexpectedInput

from cepheid.algebra.printing import KEYWORDS
from cepheid.errors import CepheidError, Source
from cepheid.languages.explained import Guess, cast_without_type, explained, misspelt_keyword, parenthesis
from cepheid.languages.mistakes import CLAUSES, NAMES, VALUE, Group, Mistake, name_word

NAME_OF_EVENT = frozenset(["DOT", "LPAR"])  # terminals that may follow a name inside a condition

BEFORE_NAMES = frozenset(["SELECT", "FROM", "BY", "AS", ","])

PART_BY = frozenset(["PART", "PARTBY", "PART_BY", "PARTITION_BY", "PARTITIONBY"])  # misspellings of PART-BY
KEYS = "PART-BY [x.a, y.b]"

NAME_AFTER = {
    "SELECT": "`*` or variables",
    "FROM": "a stream name",
    "BY": "a column name",
    "AS": "a variable name",
    "IN": "a name for the set",
    "[": "an attribute such as `x.id`",
    ".": "an attribute name",
}
PATTERN = frozenset(["NAME", "QUOTED_NAME", "STRATEGY_OF", "ANY_AS", "_ABSENT", "LPAR"])
GROUPS = (
    Group(frozenset(["STRATEGY_OF"]), PATTERN, "a pattern such as `T AS x`"),
    Group(frozenset(["STRING", "NAME"]), VALUE | {"NOT", "MINUS"}, "a value such as `x.price` or `10`"),
    Group(frozenset(["NAME"]), NAMES | {"STAR", "STRATEGY"}, lambda mistake: name_word(mistake, NAME_AFTER)),
)

OTHER_SIGNS = {
    "[": "group with ( and )",
    "]": "group with ( and )",
    "&": "write AND",
    "|": "write OR",
    "!": "write NOT",
    "~": "write NOT",
    "->": "write ; for “followed by”",
    "→": "write ; for “followed by”",
    "/*": "comments begin with --",
    "#": "comments begin with --",
}


def explain(source: Source, error: UnexpectedInput) -> CepheidError:
    """The error a user sees for a text that does not parse.

    >>> from cepheid.languages.cel.tree import parse_cel
    >>> try:
    ...     parse_cel(Source("SELECT * FORM s WHERE T"))
    ... except CepheidError as error:
    ...     print(error)
    error[syntax]: expected `,` or FROM, found `FORM`
      --> query:1:10
       |
     1 | SELECT * FORM s WHERE T
       |          ^^^^ did you mean FROM?
    """
    return explained(source, error, GROUPS, GUESSES)


def _empty_query(mistake: Mistake) -> str | None:
    return None if mistake.lexemes or mistake.found else "a query reads SELECT * FROM stream WHERE formula"


def _last_semicolon(mistake: Mistake) -> str | None:
    """`;` is CEL's sequence, not the end of a statement."""
    at_end = not mistake.source.text[mistake.start :].strip("; \t\r\n")
    ended = mistake.found == ";" or (not mistake.found and mistake.before == ";")
    return "a query does not end with ;" if ended and at_end else None


def _pattern_after_filter(mistake: Mistake) -> str | None:
    after_condition = "COMPARE" in mistake.accepts or {"AND", "FILTER"} <= mistake.accepts
    goes_on = mistake.found[:1] in (";", ":") or mistake.found.upper() == "ALL"
    names_event = mistake.found.upper() == "AS" and mistake.accepts == NAME_OF_EVENT
    if (goes_on and after_condition) or names_event:
        return "FILTER takes all to its left; use parentheses: (T AS x FILTER …) ; …"
    values = (
        mistake.before.upper() == "IN"
        and mistake.accepts == {"LPAR", "PARAMETER"}
        and mistake.found[:1].isalpha()
    )
    if values or (mistake.found.upper() == "IN" and after_condition):
        return "a condition's IN takes values, IN (1, 2); to name a set, use parentheses: (T FILTER …) IN X"
    return None


def _part_by(mistake: Mistake) -> str | None:
    """A misspelt PART-BY, or one without its brackets."""
    found, before = mistake.found.upper(), mistake.before.upper()
    part_by = "_PART_BY" in mistake.accepts
    if part_by and before == "]" and (found in (";", ":", "+", "*", "?", "{") or found in KEYWORDS - CLAUSES):
        return "PART-BY takes all to its left; use parentheses: (… PART-BY [a]) ; …"
    if (part_by or "AS" in mistake.accepts or "SEMICOLON" in mistake.accepts) and found in PART_BY:
        return f"write {KEYS}"
    if mistake.accepts == {"LSQB"} or (before, found) == ("[", "]"):
        return f"list what must be equal in brackets: {KEYS}"
    if (before, found) in (("BY", "["), ("BY", "("), ("PARTITION", "-")):
        return f"PARTITION BY a splits the whole stream; inside a formula write {KEYS}"
    closed_later = ")" in mistake.source.text[mistake.start :]
    if found == "PARTITION" and "RPAR" in mistake.accepts and closed_later:
        return f"inside a formula write {KEYS}"
    return None


def _other_sign(mistake: Mistake) -> str | None:
    text, place = mistake.source.text, mistake.start
    if text[max(0, place - 1) : place + 1] in ("=<", "=>"):
        return "write <= or >="
    if mistake.found == "," and "SEMICOLON" in mistake.accepts:
        return "write ; between the parts of a sequence"
    if mistake.found == "]" and any(lexeme == "[" for _, lexeme in mistake.lexemes):
        return None
    return next((hint for sign, hint in OTHER_SIGNS.items() if text.startswith(sign, place)), None)


def _double_quoted_string(mistake: Mistake) -> str | None:
    if mistake.accepts != NAME_OF_EVENT or not mistake.before.startswith('"'):
        return None
    inside = mistake.before[1:-1].replace("'", "''")
    return f"strings take single quotes: '{inside}'"


def _attribute_without_variable(mistake: Mistake) -> str | None:
    if mistake.accepts != NAME_OF_EVENT:
        return None
    return f"say whose attribute it is, as in x.{mistake.before}"


def _column(mistake: Mistake) -> str | None:
    """A column of SELECT that renames an event, or names an attribute without its variable."""
    if not NAME_OF_EVENT | {"FROM"} <= mistake.accepts or mistake.found.upper() == "FROM":
        return None
    if mistake.found.upper() == "AS":
        return f"an event keeps the name that the formula gives it; name its attributes: {mistake.before}.id AS …"
    if mistake.found[:1] in set("+-*/%=<>!"):
        return f"say whose attribute it is, as in x.{mistake.before}"
    return None


def _keyword_read_as_name(mistake: Mistake) -> str | None:
    """A keyword where only a name can stand is read as one; the missing name belongs before it."""
    words = [lexeme for _, lexeme in mistake.lexemes[-2:]]
    if len(words) < 2 or words[0].upper() not in BEFORE_NAMES or words[1].upper() not in KEYWORDS:
        return None
    if mistake.accepts & NAMES:
        return None
    missing = "* or a variable" if words[0].upper() == "SELECT" else "a name"
    return f"`{words[1]}` was read as a name: is {missing} missing before it?"


def _missing_keyword(mistake: Mistake) -> str | None:
    if "FROM" in mistake.accepts and mistake.found.upper() == "WHERE":
        return "add FROM and the stream's name before WHERE"
    if "WHERE" in mistake.accepts and mistake.found:
        return "put WHERE before the formula"
    return None


def _name_of_event(mistake: Mistake) -> str | None:
    if mistake.found.upper() == "AS" and "LBRACE" in mistake.accepts:
        return "name the event before it is repeated: (T AS x)+, or the set of all: T+ IN X"
    if "AS" in mistake.accepts and mistake.found[:1].isalpha() and mistake.found.upper() not in KEYWORDS:
        return f"write AS before the variable: {mistake.before} AS {mistake.found}"
    return None


GUESSES: tuple[Guess, ...] = (
    _empty_query,
    _last_semicolon,
    _pattern_after_filter,
    _part_by,
    _other_sign,
    _double_quoted_string,
    _column,
    _keyword_read_as_name,
    _attribute_without_variable,
    cast_without_type,
    parenthesis,
    misspelt_keyword,
    _missing_keyword,
    _name_of_event,
)
