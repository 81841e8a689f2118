"""A language's parser: its own grammar together with the conditions and clauses that all share.

Grammars are joined as text, not imported into one another: an imported terminal would have another name, and the
errors go by names.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from lark import Lark

from cepheid.languages.bounds import Bounds
from cepheid.languages.literals import TERMINAL

SHARED = ("conditions.lark", "clauses.lark")


@cache
def parser_of(language: str) -> Lark:
    """The parser of the language in the folder of that name.

    >>> parser_of("cel") is parser_of("cel")
    True
    """
    folder = files(__package__)
    parts = [*(folder.joinpath(name) for name in SHARED), folder.joinpath(language, "grammar.lark")]
    grammar = "\n".join([*(part.read_text(encoding="utf-8") for part in parts), TERMINAL])
    return Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        postlex=Bounds(),
        propagate_positions=True,
        maybe_placeholders=True,
    )
