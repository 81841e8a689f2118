"""A long list of plain numbers and strings, as in `x.id IN (1, 2, …)`: one token, read by itself.

In: the token. Out: its literals. To parse each of them as a condition takes some fifty times as long, and lists of many
thousand values are what IN is for. A list that is short or holds anything else is parsed item by item; both ways give
the same literals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from lark import Token

from cepheid.algebra.conditions import Literal
from cepheid.errors import Source
from cepheid.languages.parsed import span_of
from cepheid.languages.words import decimal_of, integer_of, negated, text_of

FEWEST = 16  # items of a list that is one token
NUMBER = r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
STRING = r"'(?:[^']|'')*+'"
ITEM = rf"(?:{NUMBER}|{STRING})"
GAP = r"(?:\s|--[^\n]*+)*+"  # spaces and comments
LIST = rf"{ITEM}(?:{GAP},{GAP}{ITEM}){{{FEWEST - 1},}}+(?={GAP}\))"
TERMINAL = f"LITERALS.3: /{LIST}/"  # a line of every grammar

_NEXT = re.compile(rf"{GAP},?{GAP}({ITEM})")


def literals_of(source: Source, token: Token) -> Iterator[Literal]:
    """The literals of a list that was read as one token.

    >>> [literal.value for literal in literals_of(Source("1, -2.5, 'it''s'"), Token("LITERALS", "1, -2.5, 'it''s'"))]
    [1, -2.5, "it's"]
    """
    start = token.start_pos or 0
    for found in _NEXT.finditer(token):
        text, begin, end = found[1], start + found.start(1), start + found.end(1)
        item = Token("ITEM", text, start_pos=begin, end_pos=end)
        yield Literal(_value(source, item), span_of(source, item))


def _value(source: Source, item: Token) -> int | float | Decimal | str:
    if item.startswith("'"):
        return text_of(item)
    sign = -1 if item.startswith("-") else 1
    number = Token("NUMBER", item.removeprefix("-"), start_pos=item.start_pos, end_pos=item.end_pos)
    if number.isdigit():
        return integer_of(source, number, sign)
    value = decimal_of(source, number)
    return value if sign > 0 else negated(value)
