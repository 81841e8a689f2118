"""CAST: a value in another type, as Spark's TRY_CAST makes it, over plain Python values (None is NULL).

In: a value and a type. Out: the value in that type; NULL where it has no such value: a text that is none, a number out
of range, NaN as a whole number or a decimal.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import struct
from decimal import ROUND_DOWN, Decimal
from typing import Any, assert_never

from cepheid.algebra.cast_types import CastType
from cepheid.algebra.kinds import Kind
from cepheid.algebra.moments import DAY, Moment, moment_of
from cepheid.algebra.precision import DecimalType
from cepheid.semantics.decimals import EXACT, fitted

SPACES = "".join(map(chr, range(33)))
"""Characters that are passed over at both ends of a text."""

WHOLE = re.compile(r"[+-]?[0-9]+")
REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MOST_DIGITS = 1_000  # of a text that is read as a number; more than any type has room for
_NAMED = {
    **dict.fromkeys(("nan", "+nan", "-nan"), math.nan),
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), math.inf),
    **dict.fromkeys(("-inf", "-infinity"), -math.inf),
}
_TRUTHS = {
    **dict.fromkeys(("t", "true", "y", "yes", "1"), True),
    **dict.fromkeys(("f", "false", "n", "no", "0"), False),
}
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL)


def cast(value: Any, target: CastType, kind: Kind | None = None) -> Any:
    """The value in the type; `kind` tells times apart, which are all moments.

    >>> cast("1e3", CastType("DOUBLE")), cast(-2.7, CastType("INT")), cast(300, CastType("TINYINT"))
    (1000.0, -2, None)
    """
    if value is None:
        return None
    match target.kind:
        case Kind.NUMBER:
            return _number(value, target)
        case Kind.STRING:
            return _text(value, kind)
        case Kind.BOOLEAN:
            return _TRUTHS.get(value.strip(SPACES).lower()) if isinstance(value, str) else bool(value)
        case Kind.DATE:
            return _date(value, kind)
        case Kind.TIMESTAMP | Kind.TIME | Kind.DURATION | Kind.NULL | Kind.OTHER:
            raise AssertionError(target)  # CAST makes none
        case _:
            assert_never(target.kind)


def _number(value: Any, target: CastType) -> Any:
    if isinstance(value, bool):
        value = int(value)
    if target.bits is not None:
        return _whole(value, target.bits)
    if target.decimal is not None:
        return _decimal(value, target.decimal)
    real = _real(value)
    return real if real is None or target.name == "DOUBLE" else single(real)


def _whole(value: Any, bits: int) -> int | None:
    """Digits after the point are cut off, but a text must be a whole number."""
    if isinstance(value, str):
        text = value.strip(SPACES)
        if len(text) > _MOST_DIGITS or not WHOLE.fullmatch(text):
            return None
        value = int(text)
    elif isinstance(value, float) and not math.isfinite(value):
        return None
    elif isinstance(value, Decimal):
        value = value.to_integral_value(ROUND_DOWN, EXACT)
    whole = int(value)
    return whole if -(1 << bits - 1) <= whole < 1 << bits - 1 else None


def _real(value: Any) -> float | None:
    if not isinstance(value, str):
        return float(value)
    text = value.strip(SPACES)
    return float(text) if REAL.fullmatch(text) else _NAMED.get(text.lower())


def single(real: float) -> float:
    """The nearest real of 32 bits, infinite when too large.

    >>> single(0.1), single(-1e300)
    (0.10000000149011612, -inf)
    """
    try:
        (rounded,) = struct.unpack("f", struct.pack("f", real))
    except OverflowError:
        return math.copysign(math.inf, real)
    return float(rounded)


def _decimal(value: Any, dtype: DecimalType) -> Decimal | None:
    """Of a real the shortest decimal that stands for it, rounded halves away from zero."""
    if isinstance(value, str):
        text = value.strip(SPACES)
        if len(text) > _MOST_DIGITS or not REAL.fullmatch(text):
            return None
        exact = EXACT.create_decimal(text)
    elif isinstance(value, float):
        exact = Decimal(repr(value))
    else:
        exact = Decimal(value)
    if not exact.is_finite() or (exact and exact.adjusted() >= dtype.before_point):
        return None
    return fitted(exact if exact and exact.adjusted() > -_MOST_DIGITS else Decimal(0), dtype)


def _text(value: Any, kind: Kind | None) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return real_text(value)
        case Decimal():
            return f"{value:f}"
        case int():
            return str(value)
        case _:
            day, _, clock = str(Moment(moment_of(value).clock_ns)).partition(" ")
            clock = clock.rstrip("0") if "." in clock else clock
            return day if kind is Kind.DATE else clock if kind is Kind.TIME else f"{day} {clock}"


def real_text(real: float) -> str:
    """The shortest digits that stand for it, in Spark's form.

    >>> [real_text(real) for real in (0.1, 100.0, 1e7, -2.5e-4, float("inf"))]
    ['0.1', '100.0', '1.0E7', '-2.5E-4', 'Infinity']
    """
    if not math.isfinite(real):
        return "NaN" if real != real else "Infinity" if real > 0 else "-Infinity"
    sign, digits, _ = Decimal(repr(real)).as_tuple()
    shown = "".join(map(str, digits)).strip("0") or "0"
    power = Decimal(repr(real)).adjusted() if real else 0
    if -3 <= power < 7:
        shown = f"{Decimal(repr(abs(real))):f}"
        plain = shown if "." in shown else f"{shown}.0"
        return "-" * sign + plain
    return f"{'-' * sign}{shown[0]}.{shown[1:] or '0'}E{power}"


def _date(value: Any, kind: Kind | None) -> Any:
    """Of a timestamp the day on the clock of its own zone."""
    if isinstance(value, str):
        found = _DATE.fullmatch(value.strip(SPACES))
        try:
            return found and dt.date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
        except ValueError:
            return None
    return Moment(moment_of(value).clock_ns // DAY * DAY) if kind is Kind.TIMESTAMP else value
