"""Schemas as users write them: `ts timestamp, price double, tags array<string>`, as in Spark's SQL.

In: such a text. Out: an Arrow schema, or an error that shows the place. A `:` may stand between name and type, names
may be in backticks, and NOT NULL is understood and of no effect.
"""

from __future__ import annotations

import re

import pyarrow as pa

from cepheid.errors import CepheidError, Source, Span, did_you_mean

NAMES: dict[str, pa.DataType] = {
    **dict.fromkeys(("boolean", "bool"), pa.bool_()),
    **dict.fromkeys(("tinyint", "byte"), pa.int8()),
    **dict.fromkeys(("smallint", "short"), pa.int16()),
    **dict.fromkeys(("int", "integer"), pa.int32()),
    **dict.fromkeys(("bigint", "long"), pa.int64()),
    **dict.fromkeys(("float", "real"), pa.float32()),
    "double": pa.float64(),
    **dict.fromkeys(("string", "varchar", "char"), pa.string()),
    "binary": pa.binary(),
    "date": pa.date32(),
    **dict.fromkeys(("timestamp", "timestamp_ltz"), pa.timestamp("us", "UTC")),
    "timestamp_ntz": pa.timestamp("us"),
    **dict.fromkeys(("decimal", "dec", "numeric"), pa.decimal128(10, 0)),
}
NESTED = ("array", "struct", "map")
_TOKEN = re.compile(r"\s*(?:(`(?:[^`]|``)+`)|([\w.]+)|([<>(),:]))")


def schema_of_text(text: str) -> pa.Schema:
    """The columns that a text names, in its order.

    >>> schema_of_text("ts timestamp, `unit price` decimal(10, 2), tags array<string>")
    ts: timestamp[us, tz=UTC]
    unit price: decimal128(10, 2)
    tags: list<element: string>
      child 0, element: string
    """
    try:
        return pa.schema(_Reader(text).fields(end=""))
    except RecursionError:
        raise CepheidError("bad-argument", "the types of the schema are nested too deeply") from None


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._begin = 0

    def fields(self, end: str) -> list[pa.Field]:
        found = []
        while True:
            name = self._name()
            if self._peek() == ":":
                self._next()
            found.append(pa.field(name, self._type()))
            if self._peek().lower() == "not":
                self._next()
                self._expect("null")
            if self._peek() != ",":
                self._expect(end)
                return found
            self._next()

    def _name(self) -> str:
        token = self._next()
        if not token or token in "<>(),:":
            raise self._error("expected the name of a column")
        return token[1:-1].replace("``", "`") if token.startswith("`") else token

    def _type(self) -> pa.DataType:
        word = self._next().lower()
        if word in NESTED:
            self._expect("<")
        if word == "array":
            element = self._type()
            self._expect(">")
            return pa.list_(pa.field("element", element))
        if word == "map":
            key = self._type()
            self._expect(",")
            value = self._type()
            self._expect(">")
            return pa.map_(key, value)
        if word == "struct":
            return pa.struct(self.fields(end=">"))
        if word not in NAMES:
            known = [*NAMES, *NESTED]
            raise self._error(
                f"`{word}` is no type" if word else "expected a type",
                did_you_mean(word, known, "types are " + ", ".join(known)),
            )
        numbers = self._numbers()
        if pa.types.is_decimal(NAMES[word]) and numbers:
            return self._decimal(numbers)
        return NAMES[word]

    def _decimal(self, numbers: list[int]) -> pa.DataType:
        precision, scale = (*numbers, 0)[:2]
        if not 1 <= precision <= 38 or not 0 <= scale <= precision:
            raise self._error("a decimal has 1 to 38 digits, and no more than these behind the point")
        return pa.decimal128(precision, scale)

    def _numbers(self) -> list[int]:
        """The numbers in parentheses behind a type."""
        numbers: list[int] = []
        if self._peek() != "(":
            return numbers
        self._next()
        while True:
            token = self._next()
            if not token.isascii() or not token.isdigit() or len(token) > 9:
                raise self._error("expected a number")
            numbers.append(int(token))
            if self._peek() != ",":
                self._expect(")")
                return numbers
            self._next()

    def _peek(self) -> str:
        begin, at = self._begin, self._at
        token = self._next()
        self._begin, self._at = begin, at
        return token

    def _next(self) -> str:
        """The next token; empty at the end."""
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            rest = self._text[self._at :]
            self._begin = self._at + len(rest) - len(rest.lstrip())
            if rest.strip():
                self._at = self._begin
                raise self._error("expected a name, a type or one of `<>(),:`")
            return ""
        self._begin, self._at = found.start(found.lastindex or 0), found.end()
        return found[found.lastindex or 0]

    def _expect(self, wanted: str) -> None:
        if self._next().lower() != wanted:
            raise self._error(f"expected `{wanted}`" if wanted else "expected `,` or the end")

    def _error(self, message: str, hint: str | None = None) -> CepheidError:
        source = Source(self._text, "schema")
        span = Span(source, self._begin, max(self._at, self._begin + 1))
        return CepheidError("bad-argument", message, span=span, hint=hint)
