"""CEL text → syntax tree."""

from __future__ import annotations

from cepheid.errors import Source
from cepheid.languages.cel.guesses import explain
from cepheid.languages.grammars import parsed_as
from cepheid.languages.parsed import ParsedTree


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
    return parsed_as("cel", source, explain)
