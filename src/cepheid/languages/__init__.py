"""Query text → syntax tree → algebra, for every language.

In: a text and, if the user says so, its language. Out: a `ParsedTree`, and from it the `Query` that all later stages
share. A language is one entry of `LANGUAGES`: how it is recognised, parsed and lowered; nothing else knows of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from cepheid.algebra.nodes import Query
from cepheid.errors import CepheidError, Source, did_you_mean, quoted
from cepheid.languages.cel.lower import lower_cel
from cepheid.languages.cel.tree import parse_cel
from cepheid.languages.parameters import Values, with_parameters
from cepheid.languages.parsed import ParsedTree
from cepheid.languages.sase.lower import lower_sase
from cepheid.languages.sase.statements import Statement, statements_of
from cepheid.languages.sase.tree import parse_sase
from cepheid.languages.sremo.lower import lower_sremo
from cepheid.languages.sremo.tree import parse_sremo

__all__ = ["LANGUAGES", "Language", "ParsedTree", "Statement", "detect", "lower", "parse", "statements_of"]


@dataclass(frozen=True, slots=True)
class Language:
    """`first_words` are the words, in lower case, and signs with which only texts of this language begin."""

    name: str
    first_words: frozenset[str]
    parse: Callable[[Source], ParsedTree]
    lower: Callable[[ParsedTree], Query]


FIRST = re.compile(r"(?:\s|--[^\n]*+)*+(\w+|.)")

LANGUAGES: dict[str, Language] = {
    "cel": Language("cel", frozenset(["select"]), parse_cel, lower_cel),
    "sremo": Language("sremo", frozenset(["any", *"[(#@!-"]), parse_sremo, lower_sremo),
    "sase": Language("sase", frozenset(["pattern", "from"]), parse_sase, lower_sase),
}


def parse(text: str, language: str | None = None) -> ParsedTree:
    """The syntax tree of a query; its language is detected when None.

    >>> parse("SELECT * FROM s WHERE A AS x").language
    'cel'
    """
    return _language(language or detect(text)).parse(Source(text))


def lower(tree: ParsedTree, values: Values | None = None) -> Query:
    """The algebra of a syntax tree, with these values for its parameters.

    >>> lower(parse("SELECT * FROM stocks WHERE SELL AS x LIMIT 3")).limit
    3
    """
    return _language(tree.language).lower(with_parameters(tree, {} if values is None else values))


def detect(text: str) -> str:
    """The language whose first word or sign the text begins with; CEL when none does, so that its parser says what
    is wrong.

    >>> detect("-- fires\\nselect * from farm where T")
    'cel'
    >>> detect("-[price > 10] . [name = 'IBM']")
    'sremo'
    >>> detect("PATTERN SEQ(A a) RETURN a.id")
    'sase'
    """
    word = _first_word(text)
    return next((name for name, known in LANGUAGES.items() if word in known.first_words), "cel")


def _first_word(text: str) -> str:
    found = FIRST.match(text)
    return "" if found is None else found[1].casefold()


def _language(name: str) -> Language:
    if not isinstance(name, str) or name.casefold() not in LANGUAGES:
        hint = did_you_mean(str(name), LANGUAGES, f"the known languages are {quoted(LANGUAGES)}")
        raise CepheidError("unknown-language", f"there is no query language `{name}`", hint=hint)
    return LANGUAGES[name.casefold()]
