"""The types that CAST makes, by Spark's names.

In: a name and, for decimals, digits. Out: the type, with what it can be made of; or an error that lists the names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from cepheid.algebra.kinds import Kind
from cepheid.algebra.precision import MOST_DIGITS, MOST_WIDE_DIGITS, DecimalType
from cepheid.errors import CepheidError, Span, did_you_mean, quoted

_PLAIN: dict[str, tuple[Kind, pa.DataType]] = {
    "BOOLEAN": (Kind.BOOLEAN, pa.bool_()),
    "TINYINT": (Kind.NUMBER, pa.int8()),
    "SMALLINT": (Kind.NUMBER, pa.int16()),
    "INT": (Kind.NUMBER, pa.int32()),
    "BIGINT": (Kind.NUMBER, pa.int64()),
    "FLOAT": (Kind.NUMBER, pa.float32()),
    "DOUBLE": (Kind.NUMBER, pa.float64()),
    "STRING": (Kind.STRING, pa.string()),
    "DATE": (Kind.DATE, pa.date32()),
}
_DECIMAL = "DECIMAL"
_ALIASES = {
    "BYTE": "TINYINT",
    "SHORT": "SMALLINT",
    "INTEGER": "INT",
    "LONG": "BIGINT",
    "REAL": "FLOAT",
    "DEC": _DECIMAL,
    "NUMERIC": _DECIMAL,
}
NAMES = (*_PLAIN, _DECIMAL)

_SIMPLE = frozenset([Kind.NUMBER, Kind.STRING, Kind.BOOLEAN])
_DAYS = frozenset([Kind.DATE, Kind.TIMESTAMP, Kind.STRING])
_PRINTABLE = _SIMPLE | {Kind.DATE, Kind.TIMESTAMP, Kind.TIME}


@dataclass(frozen=True, slots=True)
class CastType:
    """One of `NAMES`; `decimal` has the digits of a DECIMAL.

    >>> str(CastType("DECIMAL", DecimalType(10, 2))), CastType("INT").arrow
    ('DECIMAL(10, 2)', DataType(int32))
    """

    name: str
    decimal: DecimalType | None = None

    @property
    def kind(self) -> Kind:
        return Kind.NUMBER if self.decimal is not None else _PLAIN[self.name][0]

    @property
    def arrow(self) -> pa.DataType:
        if self.decimal is None:
            return _PLAIN[self.name][1]
        make = pa.decimal128 if self.decimal.precision <= MOST_DIGITS else pa.decimal256
        return make(self.decimal.precision, self.decimal.scale)

    @property
    def bits(self) -> int | None:
        """Of a type of whole numbers, how many bits they have."""
        dtype = None if self.decimal is not None else self.arrow
        return dtype.bit_width if dtype is not None and pa.types.is_integer(dtype) else None

    @property
    def takes(self) -> frozenset[Kind]:
        """The kinds of values that it is made of."""
        if self.kind is Kind.DATE:
            return _DAYS
        return _PRINTABLE if self.kind is Kind.STRING else _SIMPLE

    def __str__(self) -> str:
        if self.decimal is None:
            return self.name
        return f"{self.name}({self.decimal.precision}, {self.decimal.scale})"


def cast_type(name: str, digits: Sequence[int], span: Span | None) -> CastType:
    """The type as CAST names it; a DECIMAL without digits has ten, as Spark's.

    >>> cast_type("long", (), None), cast_type("decimal", (), None)
    (CastType(name='BIGINT', decimal=None), CastType(name='DECIMAL', decimal=DecimalType(precision=10, scale=0)))
    """
    known = _ALIASES.get(name.upper(), name.upper())
    if known not in NAMES:
        hint = did_you_mean(known, (*NAMES, *_ALIASES), _instead(known))
        raise CepheidError("type-mismatch", f"CAST makes no `{name}`", span=span, hint=hint)
    if known != _DECIMAL:
        if digits:
            raise CepheidError("syntax", f"{known} has no digits to say", span=span, hint=f"write {known}")
        return CastType(known)
    precision, scale = (*digits, *(10, 0)[len(digits) :])
    if not 1 <= precision <= MOST_WIDE_DIGITS or scale > precision:
        message = f"a DECIMAL has 1 to {MOST_WIDE_DIGITS} digits, and no more after the point than in all"
        raise CepheidError("type-mismatch", message, span=span, hint="write DECIMAL(10, 2)")
    return CastType(_DECIMAL, DecimalType(precision, scale))


def _instead(name: str) -> str:
    if name.startswith("TIME"):
        return "give the column its type before matching, in the DataFrame or with `--schema`"
    return f"it makes {quoted(NAMES)}"
