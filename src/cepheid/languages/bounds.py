"""How long and how deep a query text may be.

In: a text, then the stream of its tokens. Out: the same, or a `too-large` error at the first token too many. Earlier
steps take time linear in the text; later ones see few enough tokens to take well below a second: parsing takes some
15 µs per token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lark import Token
from lark.lark import PostLex

from cepheid.errors import CepheidError, Source, Span
from cepheid.languages.literals import count_literals

MOST_CHARACTERS = 1 << 21
MOST_TOKENS = 20_000
LISTED = 6  # plain values of a list that take as long as a token
MOST_BRACKETS = 5_000  # open at once

_OPEN = frozenset(["LPAR", "LSQB"])
_CLOSED = frozenset(["RPAR", "RSQB"])
_SURROGATE = re.compile("[\ud800-\udfff]")


def check_text(source: Source) -> None:
    """Refuses a text that is too long, or that no encoding has.

    >>> check_text(Source("SELECT \\ud800"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[syntax]: the text holds half of a surrogate pair, U+D800, which is no ...
    """
    if len(source.text) > MOST_CHARACTERS:
        message = f"the query has {len(source.text):,} characters; {MOST_CHARACTERS:,} are the most"
        hint = "keep long lists of values in the data: join them, or add a column that says what to look for"
        raise CepheidError("too-large", message, hint=hint)
    lone = _SURROGATE.search(source.text)
    if lone is not None:
        message = (
            f"the text holds half of a surrogate pair, U+{ord(lone[0]):04X}, which is no character by itself"
        )
        hint = "decode the text again, from the encoding it was written in"
        raise CepheidError("syntax", message, span=Span(source, lone.start(), lone.end()), hint=hint)


class BeyondBoundsError(Exception):
    """Raised from inside a parser, which does not know the source."""

    def __init__(self, token: Token, message: str, hint: str) -> None:
        super().__init__(message)
        self.token, self.message, self.hint = token, message, hint

    def of(self, source: Source) -> CepheidError:
        start = self.token.start_pos or 0
        return CepheidError("too-large", self.message, span=Span(source, start, start + 1), hint=self.hint)


class Bounds(PostLex):
    """Passes tokens on to the parser as long as they are few enough."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        depth = count = 0
        for token in stream:
            is_list = token.type == "LITERALS"
            count += count_literals(token) // LISTED if is_list else 1
            if count > MOST_TOKENS:
                message = f"the query has more than {MOST_TOKENS:,} words and signs"
                hint = "write many values as a list, x.id IN (1, 2, …), and many rounds as {l,m}"
                if is_list:
                    message += f", {LISTED} values of a list counted as one"
                    hint = (
                        "keep the values in the data: join them, or add a column that says what to look for"
                    )
                raise BeyondBoundsError(token, message, hint)
            if token.type in _OPEN:
                depth += 1
                if depth > MOST_BRACKETS:
                    message = f"more than {MOST_BRACKETS:,} brackets are open at once"
                    hint = "leave out brackets that change nothing"
                    raise BeyondBoundsError(token, message, hint)
            elif token.type in _CLOSED:
                depth -= 1
            yield token
