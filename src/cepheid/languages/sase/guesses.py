"""The likely fix of a syntax error in SASE+: one small guess per usual mistake, the first that fits wins."""

from __future__ import annotations

from lark.exceptions import UnexpectedInput

from cepheid.errors import CepheidError, Source, nearest
from cepheid.languages.explained import Guess, explained, misspelt_keyword, parenthesis
from cepheid.languages.mistakes import NAMES, VALUE, Group, Mistake, name_word

NAME_AFTER = {
    "FROM": "a stream name",
    "STREAM": "a stream name",
    "AS": "a name",
    ".": "an attribute name",
    "[": "an attribute or an index",
    "(": "an event type or a variable",
}
CLAUSES = ("PATTERN", "WHERE", "WITHIN", "HAVING", "RETURN")
SELECTIONS = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
NAME_OF_EVENT = frozenset(["DOT", "LPAR"])  # terminals that may follow a name inside a condition
VALUES = VALUE | {"NOT", "MINUS", "LSQB", "SELECTION", "PARTITION_OF", "HUNDREDTHS"}
GROUPS = (
    Group(frozenset(["STRING", "NAME", "SELECTION"]), VALUES, "a condition such as `a.price > 10`"),
    Group(frozenset(["STRING", "NAME"]), VALUES, "a value such as `a.price` or `10`"),
    Group(frozenset(["NAME", "ABSENT"]), NAMES | {"ABSENT"}, "a component such as `STOCK a`"),
    Group(frozenset(["NAME"]), NAMES, lambda mistake: name_word(mistake, NAME_AFTER)),
)

OTHER_SIGNS = {
    "&": "write AND or ^",
    "|": "write OR",
    "->": "write SEQ(A a, B b)",
    "→": "write SEQ(A a, B b)",
    ";": "write , between the components of SEQ",
    "/*": "comments begin with --",
    "#": "comments begin with --",
}


def explain(source: Source, error: UnexpectedInput) -> CepheidError:
    """The error a user sees for a text that does not parse.

    >>> from cepheid.languages.sase.tree import parse_sase
    >>> try:
    ...     parse_sase(Source("PATTERN SEQ(A a, !B b, C c) RETURN a.id"))
    ... except CepheidError as error:
    ...     print(error)
    error[syntax]: expected a component such as `STOCK a`, found `!`
      --> query:1:18
       |
     1 | PATTERN SEQ(A a, !B b, C c) RETURN a.id
       |                  ^ write ~ before what must not occur: ~B b
    """
    return explained(source, error, GROUPS, GUESSES)


def _empty_query(mistake: Mistake) -> str | None:
    if mistake.lexemes or mistake.found:
        return None
    return "a query reads PATTERN SEQ(A a, B+ b[]) WHERE conditions WITHIN window RETURN a.id"


def _other_language(mistake: Mistake) -> str | None:
    if mistake.found.upper() == "SELECT" and not mistake.lexemes:
        return "this is CEL: leave the language out, or say so"
    return None


def _component(mistake: Mistake) -> str | None:
    """Inside of SEQ."""
    if mistake.found == "SEQ" and "PATTERN" in mistake.accepts:
        return "put PATTERN before SEQ"
    if "ABSENT" in mistake.accepts and mistake.found in ("!", "¬"):
        return "write ~ before what must not occur: ~B b"
    if mistake.before.upper() == "NOT" or _word_before(mistake).upper() == "NOT":
        return "write ~ before what must not occur: ~B b" if "BRACKETS" in mistake.accepts else None
    if mistake.accepts >= {"PLUS", "NAME"} and mistake.found.upper() == "AS":
        return f"a variable stands directly after its type: {mistake.before} a"
    if mistake.accepts == {"SEQ"}:
        return "write SEQ(A a), also of one component"
    if mistake.accepts <= {"PLUS", "NAME", "QUOTED_NAME"} and mistake.found in (",", ")"):
        return f"name the event: {mistake.before} a, or {mistake.before}+ a[] for one or more"
    if mistake.found in ("*", "?", "{") and "PLUS" in mistake.accepts:
        return "the only repetition is +, as in STOCK+ a[]; a.LEN in WHERE says how often"
    return None


def _word_before(mistake: Mistake) -> str:
    words = [lexeme for _, lexeme in mistake.lexemes[-2:]]
    return words[0] if len(words) == 2 else ""


def _selection(mistake: Mistake) -> str | None:
    """A strategy that is misspelt, or that has no braces."""
    words = [lexeme for _, lexeme in mistake.lexemes[-4:]]
    for word in words:
        if "_" in word and word not in SELECTIONS and (known := nearest(word.lower(), list(SELECTIONS))):
            return f"did you mean {known}?"
    if mistake.accepts == {"LBRACE"} or (mistake.accepts == {"LBRACE", "LPAR"}):
        return "put its conditions, or none, in braces: skip_till_any_match(a) { … }"
    return None


def _whole_variable(mistake: Mistake) -> str | None:
    """A variable alone, where an attribute of it is asked for."""
    if not mistake.accepts >= NAME_OF_EVENT:
        return (
            "say which attribute: a[].price" if mistake.accepts == {"DOT"} and mistake.before == "]" else None
        )
    if mistake.before.startswith('"'):
        inside = mistake.before[1:-1].replace("'", "''")
        return f"strings take single quotes: '{inside}'"
    if mistake.found == ")" and _word_before(mistake) == "(":
        return f"of a Kleene variable write {mistake.before}[], as in count({mistake.before}[])"
    if mistake.found[:1] in ("", ",") or mistake.found.upper() in CLAUSES:
        return f"say which attribute, as in {mistake.before}.id, or several, {mistake.before}.(id, price)"
    return f"say whose attribute it is, as in a.{mistake.before}"


def _other_sign(mistake: Mistake) -> str | None:
    text, place = mistake.source.text, mistake.start
    if text[max(0, place - 1) : place + 1] in ("=<", "=>"):
        return "write <= or >="
    return next((hint for sign, hint in OTHER_SIGNS.items() if text.startswith(sign, place)), None)


def _order(mistake: Mistake) -> str | None:
    """A clause out of its place, or none where there has to be one."""
    if mistake.found.upper() in (*CLAUSES, "FROM"):
        return "the clauses come in this order: FROM, PATTERN, WHERE, WITHIN, HAVING, RETURN"
    if mistake.found == "*" and mistake.before.upper() == "RETURN":
        return "list what a match is turned into, as in RETURN a[1].id, sum(b[].volume) AS volume"
    if not mistake.found and "RETURN" in mistake.accepts:
        return "add what a match is turned into, as in RETURN a.id"
    return None


GUESSES: tuple[Guess, ...] = (
    _empty_query,
    _other_language,
    _component,
    _selection,
    _other_sign,
    _order,
    _whole_variable,
    parenthesis,
    misspelt_keyword,
)
