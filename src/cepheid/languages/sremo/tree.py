"""SREMO text → syntax tree.

In: a query text. Out: a `ParsedTree` shaped by `grammar.lark`, parentheses gone, operators nested as they bind. A
text that does not parse is explained by `guesses`.
"""

from __future__ import annotations

from lark.exceptions import UnexpectedInput

from cepheid.errors import Source
from cepheid.languages.bounds import BeyondBoundsError, check_text
from cepheid.languages.grammars import parser_of
from cepheid.languages.parsed import ParsedTree, check_depth
from cepheid.languages.sremo.guesses import explain


def parse_sremo(source: Source) -> ParsedTree:
    """The syntax tree of a SREMO query.

    >>> print(parse_sremo(Source("[a > 1] > r . any* . [b < r.b]")))
    start
      concat
        marked
          compare
            current a
            >
            integer 1
          r
        star
          any
        marked
          compare
            current b
            <
            attribute r b
    """
    check_text(source)
    try:
        root = parser_of("sremo").parse(source.text)
    except UnexpectedInput as error:
        raise explain(source, error) from None
    except BeyondBoundsError as error:
        raise error.of(source) from None
    tree = ParsedTree("sremo", source, root)
    check_depth(tree)
    return tree
