"""Syntax errors in words a user understands.

In: the token at which the parser stopped and the terminals it accepts there. Out: a `syntax` error with the place and
what was expected there, in the language's own words (`Group`). Each language's `guesses` suggest the fix.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from cepheid.errors import Source

# Terminals that are named together.
NAMES = frozenset(["NAME", "QUOTED_NAME"])
CONSTANTS = frozenset(["INT", "DECIMAL", "STRING", "TRUE", "FALSE", "NULL", "TIMESTAMP", "DATE", "TIME"])
VALUE = NAMES | CONSTANTS | {"LPAR", "LITERALS", "PARAMETER", "CASE", "CAST", "INTERVAL"}
ARITHMETIC = frozenset(["PLUS", "MINUS", "STAR", "SLASH", "PERCENT"])
OPERATORS = ARITHMETIC | {"COMPARE", "IN", "NOT", "BETWEEN", "LIKE", "RLIKE", "IS", "AND", "OR"}
REPETITIONS = frozenset(["PLUS", "STAR", "QMARK", "LBRACE"])
CLAUSES = frozenset(["PARTITION", "WITHIN", "CONSUME", "LIMIT"])

SIGNS = {
    "COMMA": "`,`",
    "DOT": "`.`",
    "VBAR": "`|`",
    "AMPERSAND": "`&`",
    "SEMICOLON": "`;`",
    "COLON": "`:`",
    "STAR": "`*`",
    "MINUS": "`-`",
    "MORETHAN": "`>`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "RBRACE": "`}`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "INT": "a whole number",
    "DECIMAL": "a number",
    "STRING": "a string in single quotes",
}
WORDS = {
    "DISTINCT_ROWS": "DISTINCT",
    "_PART_BY": "PART-BY",
    "_ABSENT": "NOT",
    "ANY_AS": "ANY",
}  # terminals that are not called as they are written
SILENT = frozenset(["OR_SIGN", "AND_SIGN", "NOT_SIGN", "PARAMETER", "_NEXT_AGAIN", "WITHIN_OF", "$END"])
LEXEME = re.compile(r"--[^\n]*|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\w+|\S")


@dataclass(frozen=True)
class Mistake:
    """`found` is the text at the place, empty at the end of the query; `accepts` names the grammar's
    terminals that could stand there."""

    source: Source
    start: int
    found: str
    accepts: frozenset[str]

    @cached_property
    def before(self) -> str:
        """The word or sign in front of the place."""
        return self.lexemes[-1][1] if self.lexemes else ""

    @cached_property
    def lexemes(self) -> list[tuple[int, str]]:
        """The words and signs in front of the place, comments left out."""
        found = LEXEME.finditer(self.source.text, 0, self.start)
        return [(lexeme.start(), lexeme[0]) for lexeme in found if not lexeme[0].startswith("--")]


def mistake_of(source: Source, error: UnexpectedInput) -> Mistake:
    """Where the parser stopped and which terminals it accepts there."""
    parser = error.interactive_parser
    accepts = frozenset[str]()
    if parser is not None:
        accepts = frozenset(parser.accepts())  # type: ignore[no-untyped-call]
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        return Mistake(source, error.token.start_pos or 0, str(error.token), accepts)
    if isinstance(error, UnexpectedCharacters):
        place = error.pos_in_stream or 0
        return Mistake(source, place, source.text[place], accepts)
    lexemes = Mistake(source, len(source.text), "", accepts).lexemes
    return Mistake(source, lexemes[-1][0] + len(lexemes[-1][1]) if lexemes else 0, "", accepts)


@dataclass(frozen=True, slots=True)
class Group:
    """Terminals that are called by one word, where all of `needs` could stand; the word may depend on the place."""

    needs: frozenset[str]
    takes: frozenset[str]
    word: str | Callable[[Mistake], str]


def operators_and_clauses() -> tuple[Group, ...]:
    """The groups that every language has, tried after its own."""
    return (
        Group(frozenset(["LBRACE"]), REPETITIONS, "a repetition sign"),
        Group(frozenset(["SLASH"]), OPERATORS, "an operator"),
        Group(frozenset(["COMPARE"]), OPERATORS, "an operator"),
        Group(CLAUSES, CLAUSES, "a clause such as WITHIN"),
    )


def message_of(mistake: Mistake, groups: Sequence[Group]) -> str:
    """What was expected and what was found instead."""
    expected = _listed(_expected(mistake, groups))
    if not mistake.found:
        return f"the query ends too early; expected {expected}"
    return f"expected {expected}, found `{mistake.found.splitlines()[0]}`"


def _expected(mistake: Mistake, groups: Sequence[Group]) -> list[str]:
    rest, words = set(mistake.accepts), list[str]()
    for group in (*groups, *operators_and_clauses()):
        if rest >= group.needs:
            words.append(group.word if isinstance(group.word, str) else group.word(mistake))
            rest -= group.takes
    words += [word for name, word in SIGNS.items() if name in rest]
    words += sorted(WORDS.get(name, name) for name in rest if name not in SIGNS and name not in SILENT)
    return [*words, "the end of the query"] if "$END" in rest else words


def name_word(mistake: Mistake, after: dict[str, str]) -> str:
    """What a name at this place names; `after` maps the word before it to that."""
    if mistake.before[:1].isdigit():
        return "a unit such as `minutes`"
    return after.get(mistake.before.upper(), "a name")


def _listed(words: list[str]) -> str:
    if len(words) < 2:
        return "".join(words) or "something else"
    return ", ".join(words[:-1]) + " or " + words[-1]
