"""Tokens → the names and values they stand for: identifiers, numbers, strings, times, durations."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable
from decimal import Context, Decimal, InvalidOperation

from lark import Token

from cepheid.algebra.moments import Interval, Moment, TimeOfDay, read_moment, read_time_of_day
from cepheid.algebra.nodes import Window, WindowUnit
from cepheid.algebra.precision import is_held
from cepheid.errors import CepheidError, Source, clipped, did_you_mean
from cepheid.languages.parsed import span_of

NANOSECONDS: dict[str, int] = {
    name: amount
    for names, amount in (
        (("nanosecond", "nanoseconds", "ns"), 1),
        (("microsecond", "microseconds", "us", "µs", "μs"), 1_000),
        (("millisecond", "milliseconds", "ms"), 1_000_000),
        (("second", "seconds", "sec", "secs", "s"), 1_000_000_000),
        (("minute", "minutes", "min", "mins", "m"), 60_000_000_000),
        (("hour", "hours", "hr", "hrs", "h"), 3_600_000_000_000),
        (("day", "days", "d"), 86_400_000_000_000),
        (("week", "weeks", "w"), 604_800_000_000_000),
    )
    for name in names
}
EVENTS = ("event", "events")

INT64 = range(-(2**63), 2**63)

MOST_DECIMALS = 30  # of a window
_INTERVAL = re.compile(r"[+-]?(\d{1,30}\.?\d{0,30}|\.\d{1,30})")
_EXACT = Context(prec=200)  # for products of windows and units


def name_of(token: Token) -> str:
    """An identifier; quotes are taken off and doubled ones inside become single.

    >>> name_of(Token("QUOTED_NAME", '"a ""b"" c"'))
    'a "b" c'
    """
    if token.type != "QUOTED_NAME":
        return str(token)
    quote = token[0]
    return token[1:-1].replace(quote * 2, quote)


def text_of(token: Token) -> str:
    """A string in single quotes.

    >>> text_of(Token("STRING", "'it''s'"))
    "it's"
    """
    return token[1:-1].replace("''", "'")


def integer_of(source: Source, token: Token, sign: int = 1) -> int:
    digits = token.lstrip("0")
    value = sign * int(digits or "0") if len(digits) <= 40 else INT64.stop
    if value not in INT64:
        span, hint = span_of(source, token), f"write it as a decimal number: {clipped(token, 60)}.0"
        raise CepheidError("syntax", "this integer does not fit into 64 bits", span=span, hint=hint)
    return value


def decimal_of(source: Source, token: Token) -> float | Decimal:
    """A number with a point or an exponent: a double if its shortest decimal equals the text, so that typing can still
    make it a decimal without loss; else the decimal."""
    value = float(token)
    if math.isinf(value):
        raise CepheidError("syntax", "this number is too large", span=span_of(source, token))
    shortest = repr(value)
    if shortest == token or not 1e-77 <= value <= 1e77 or Decimal(shortest) == (exact := Decimal(token)):
        return value
    plain = Decimal(f"{exact:f}")  # without an exponent above 0
    return plain if is_held(plain) else value


def negated(value: float | Decimal) -> float | Decimal:
    """The number with the other sign, all of its digits kept: `-` rounds a decimal to 28.

    >>> negated(Decimal("1234567890123456789012345678901.5"))
    Decimal('-1234567890123456789012345678901.5')
    """
    return value.copy_negate() if isinstance(value, Decimal) else -value


_TIMES: dict[str, tuple[Callable[[str], Moment | TimeOfDay | dt.date], str, str]] = {
    "timestamp": (read_moment, "a timestamp", "TIMESTAMP '2024-01-31 12:30:00'"),
    "date": (dt.date.fromisoformat, "a date", "DATE '2024-01-31'"),
    "time": (read_time_of_day, "a time of day", "TIME '12:30:00'"),
}


def time_of(source: Source, rule: str, token: Token) -> Moment | TimeOfDay | dt.date:
    """The value of a literal of time; `rule` is the keyword before it, in lower case."""
    read, name, example = _TIMES[rule]
    try:
        return read(text_of(token))
    except ValueError:
        message, span = f"{token} is not {name}", span_of(source, token)
        raise CepheidError("syntax", message, span=span, hint=f"write it as {example}") from None


def interval_of(source: Source, token: Token, unit: Token) -> Interval:
    """The value of a literal of a duration: a number, in quotes or not, and a unit.

    >>> interval_of(Source("INTERVAL '1.5' HOURS"), Token("STRING", "'1.5'"), Token("NAME", "HOURS")).ns
    5400000000000
    """
    text = text_of(token).strip() if token.type == "STRING" else str(token)
    word = unit.casefold()
    if word not in NANOSECONDS:
        known = [name for name in NANOSECONDS if len(name) > 2]
        nearest = did_you_mean(word, known, "weeks are the largest unit: months differ in length")
        raise CepheidError("syntax", f"unknown unit `{unit}`", span=span_of(source, unit), hint=nearest)
    hint = "write it as INTERVAL 5 MINUTES, INTERVAL '-1.5' HOURS"
    if not _INTERVAL.fullmatch(text):
        raise CepheidError(
            "syntax", f"{token} is no number of an interval", span=span_of(source, token), hint=hint
        )
    ns = _EXACT.multiply(Decimal(text), Decimal(NANOSECONDS[word]))
    if ns != ns.to_integral_value() or abs(ns) >= INT64.stop * 1000:
        message = "an interval is a whole number of nanoseconds, of at most 64 bits in microseconds"
        raise CepheidError("syntax", message, span=span_of(source, token), hint=hint)
    return Interval(int(ns))


def bounds_of(rule: str, numbers: list[int]) -> tuple[int, int | None]:
    """The fewest and the most rounds of a repetition, by the rule of the grammar; None: no bound."""
    match rule, numbers:
        case "plus", []:
            return 1, None
        case "star", []:
            return 0, None
        case "optional", []:
            return 0, 1
        case "exactly", [count]:
            return count, count
        case "at_least", [lo]:
            return lo, None
        case "from_to", [lo, hi]:
            return lo, hi
        case other:
            raise AssertionError(other)


def window_of(source: Source, sign: Token | None, number: Token, unit: Token | None) -> Window:
    """The argument of WITHIN; `algebra.scope` checks that the amount makes sense."""
    word = "" if unit is None else unit.casefold()
    amount = _amount_of(source, number)
    if amount >= Decimal(INT64.stop) * 1000 / NANOSECONDS.get(word, 1000):
        raise _too_large(source, number)
    amount = -amount if sign is not None else amount
    if unit is None:
        return Window(_plain(amount), WindowUnit.PLAIN)
    if word in EVENTS:
        return Window(_plain(amount), WindowUnit.EVENTS)
    if word not in NANOSECONDS:
        known = (*(name for name in NANOSECONDS if len(name) > 2), *EVENTS, "partition", "consume", "limit")
        hint = did_you_mean(word, known, "units are milliseconds, seconds, minutes, hours, days, events, …")
        raise CepheidError("syntax", f"unknown unit `{unit}`", span=span_of(source, unit), hint=hint)
    ns = _EXACT.multiply(amount, Decimal(NANOSECONDS[word]))
    if _EXACT.remainder(ns, Decimal(1000)) == 0:
        return Window(_plain(_EXACT.divide(ns, Decimal(1000))), WindowUnit.MICROSECONDS)
    return Window(_plain(ns), WindowUnit.NANOSECONDS)


def _amount_of(source: Source, number: Token) -> Decimal:
    """A window's number, exactly; numbers far too large or too fine are refused before any arithmetic."""
    try:
        amount = Decimal(number)
    except InvalidOperation:  # an exponent beyond those that decimals have
        amount = Decimal("1e-999999") if "e-" in number.lower() else Decimal("1e999999")
    if amount == 0:
        return Decimal(0)
    if amount.adjusted() > len(str(INT64.stop)):
        raise _too_large(source, number)
    exponent = amount.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -MOST_DECIMALS:
        message = f"this window has more than {MOST_DECIMALS} decimals"
        hint = "a window with a unit is a whole number of nanoseconds"
        raise CepheidError("syntax", message, span=span_of(source, number), hint=hint)
    return amount


def _too_large(source: Source, number: Token) -> CepheidError:
    hint = "a window has at most 64 bits, in microseconds if it has a unit"
    return CepheidError("syntax", "this window is too large", span=span_of(source, number), hint=hint)


def _plain(amount: Decimal) -> int | float:
    """The number of a window; a fraction stays a fraction, however near a whole number it is."""
    if amount == amount.to_integral_value():
        return int(amount)
    nearest = float(amount)
    return nearest if not nearest.is_integer() or abs(nearest) >= 2**53 else math.nextafter(nearest, math.inf)
