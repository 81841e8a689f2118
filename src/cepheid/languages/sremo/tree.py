"""SREMO text → syntax tree."""

from __future__ import annotations

from cepheid.errors import Source
from cepheid.languages.grammars import parsed_as
from cepheid.languages.parsed import ParsedTree
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
    return parsed_as("sremo", source, explain)
