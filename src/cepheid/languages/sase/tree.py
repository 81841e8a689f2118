"""SASE+ text → syntax tree."""

from __future__ import annotations

from cepheid.errors import Source
from cepheid.languages.grammars import parsed_as
from cepheid.languages.parsed import ParsedTree
from cepheid.languages.sase.guesses import explain


def parse_sase(source: Source) -> ParsedTree:
    """The syntax tree of a SASE+ query.

    >>> print(parse_sase(Source("PATTERN SEQ(A a, B+ b[]) WHERE b[i].v > a.v RETURN a.id")))
    start
      query
        component A a
        component B + b []
        compare
          of_each b i v
          >
          attribute a v
        columns
          column
            attribute a id
    """
    return parsed_as("sase", source, explain)
