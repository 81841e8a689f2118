"""A language's parser: its own grammar joined with the conditions and clauses that all share.

In: a query text. Out: a `ParsedTree` shaped by its `grammar.lark`, parentheses gone, operators nested as they bind; or
the error. Grammars are joined as text, not imported into one another: an imported terminal would have another
name, and errors are worded by the names of terminals.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files

from lark import Lark
from lark.exceptions import UnexpectedInput

from cepheid.errors import CepheidError, Source
from cepheid.languages.bounds import BeyondBoundsError, Bounds, check_text
from cepheid.languages.literals import TERMINAL
from cepheid.languages.parsed import ParsedTree, check_depth

SHARED = ("conditions.lark", "clauses.lark")


def parsed_as(
    language: str, source: Source, explain: Callable[[Source, UnexpectedInput], CepheidError]
) -> ParsedTree:
    """The syntax tree of a query; `explain` words the error of a text that does not parse."""
    check_text(source)
    try:
        root = parser_of(language).parse(source.text)
    except UnexpectedInput as error:
        raise explain(source, error) from None
    except BeyondBoundsError as error:
        raise error.of(source) from None
    tree = ParsedTree(language, source, root)
    check_depth(tree)
    return tree


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
