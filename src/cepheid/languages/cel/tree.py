"""CEL text → syntax tree.

In: a query text. Out: a `ParsedTree` shaped by `grammar.lark`, parentheses gone, operators nested as they
bind. A text that does not parse is explained by `mistakes` and `guesses`.
"""

from __future__ import annotations

from lark.exceptions import UnexpectedInput

from cepheid.errors import Source
from cepheid.languages.bounds import BeyondBoundsError, check_text
from cepheid.languages.cel.guesses import explain
from cepheid.languages.grammars import parser_of
from cepheid.languages.parsed import ParsedTree, check_depth


def parse_cel(source: Source) -> ParsedTree:
    """The syntax tree of a CEL query.

    >>> print(parse_cel(Source("SELECT * FROM s WHERE A AS x ; B+")))
    start
      everything
      streams s
      seq
        atom A x
        plus
          atom B
    """
    check_text(source)
    try:
        root = parser_of("cel").parse(source.text)
    except UnexpectedInput as error:
        raise explain(source, error) from None
    except BeyondBoundsError as error:
        raise error.of(source) from None
    tree = ParsedTree("cel", source, root)
    check_depth(tree)
    return tree
