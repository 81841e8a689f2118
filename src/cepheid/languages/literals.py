"""A long list of plain numbers and strings, as in `x.id IN (1, 2, …)`: one token, read by itself.

In: the token. Out: its literals. Parsing each of them as a condition takes some fifty times as long, and IN may have
many thousand values. A short list, or one with other items, is parsed item by item; both ways give the same literals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from lark import Token

from cepheid.algebra.conditions import Literal
from cepheid.errors import Source, Span
from cepheid.languages.words import decimal_of, integer_of, negated

FEWEST = 16  # items of a list that is one token
NUMBER = r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
STRING = r"'(?:[^']++|'')*+'"
ITEM = rf"(?:{NUMBER}|{STRING})"
GAP = r"(?:\s++|--[^\n]*+)*+"  # spaces and comments
LIST = rf"{ITEM}(?:{GAP},{GAP}{ITEM}){{{FEWEST - 1},}}+(?={GAP}\))"
TERMINAL = f"LITERALS.3: /{LIST}/"  # a line of every grammar

_NEXT = re.compile(rf"{GAP},?{GAP}({ITEM})")


def count_literals(token: Token) -> int:
    """How many values a list has that was read as one token.

    >>> count_literals(Token("LITERALS", "1, -2.5, 'a, b'"))
    3
    """
    return sum(1 for _ in _NEXT.finditer(token))


def literals_of(source: Source, token: Token) -> Iterator[Literal]:
    """The literals of a list that was read as one token.

    >>> [literal.value for literal in literals_of(Source("1, -2.5, 'it''s'"), Token("LITERALS", "1, -2.5, 'it''s'"))]
    [1, -2.5, "it's"]
    """
    start = token.start_pos or 0
    for found in _NEXT.finditer(token):
        span = Span(source, start + found.start(1), start + found.end(1))
        yield Literal(_value(source, found[1], span), span)


def _value(source: Source, text: str, span: Span) -> int | float | Decimal | str:
    if text.isdigit() and len(text) < 19:  # most are short, and any such fits 64 bits
        return int(text)
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if "." in text and repr(value := float(text)) == text:
        return value
    sign = -1 if text.startswith("-") else 1
    number = Token("NUMBER", text.removeprefix("-"), start_pos=span.start, end_pos=span.end)
    if number.isdigit():
        return integer_of(source, number, sign)
    exact = decimal_of(source, number)
    return exact if sign > 0 else negated(exact)
