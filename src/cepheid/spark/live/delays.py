"""How long a watermark waits: durations as people write them.

In: a text such as "10 seconds", "10s", "1 day 2 hours" or ISO 8601's "PT10S", or a `timedelta`. Out: milliseconds,
which Spark's watermark counts in, rounded up: to wait longer than asked loses nothing. A month lasts 31 days here and a
year 372, as in Spark.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from fractions import Fraction

from cepheid.errors import CepheidError, did_you_mean
from cepheid.languages.words import NANOSECONDS

_DAY = NANOSECONDS["day"]
UNITS = NANOSECONDS | {
    **dict.fromkeys(("month", "months"), 31 * _DAY),
    **dict.fromkeys(("year", "years"), 372 * _DAY),
}
MOST_MS = (2**63 - 1) // 1000
"""What Spark can hold of a delay, which it counts in microseconds as well."""

_PART = re.compile(r"\s*(?:,|\band\b)?\s*([-+]?)\s*(\d+(?:\.\d*)?|\.\d+)\s*([^\W\d_]*)\s*", re.IGNORECASE)
_NUMBER = r"(?:(\d+(?:[.,]\d+)?){})?"
_ISO = re.compile(
    "P"
    + "".join(_NUMBER.format(unit) for unit in "YMWD")
    + "(?:T"
    + "".join(_NUMBER.format(unit) for unit in "HMS")
    + ")?"
)
_ISO_UNITS = ("year", "month", "week", "day", "hour", "minute", "second")
LONGEST = 200
"""Characters of a duration that are read at all."""


def milliseconds_of(watermark: object) -> int:
    """A duration in milliseconds.

    >>> [milliseconds_of(text) for text in ("10 seconds", "10seconds", "1 day 2 hours", "PT1.5S", "INTERVAL 3 ms")]
    [10000, 10000, 93600000, 1500, 3]
    """
    if isinstance(watermark, dt.timedelta):
        nanos = Fraction(watermark // dt.timedelta(microseconds=1)) * 1000
    elif isinstance(watermark, str):
        nanos = _nanos(watermark)
    else:
        raise _refused(watermark, f"it is a duration, like {EXAMPLE}, where the time column holds timestamps")
    if nanos < 0:
        raise _refused(
            watermark, f"a watermark cannot be negative; 0 seconds waits for no row, {EXAMPLE} for some"
        )
    found = math.ceil(nanos / 1_000_000)
    if found >= MOST_MS:
        raise _refused(watermark, f"the longest that can be waited is {MOST_MS - 1} milliseconds")
    return found


EXAMPLE = '"10 seconds"'


def _nanos(text: str) -> Fraction:
    stripped = text.strip()
    iso = _ISO.fullmatch(stripped.upper()) if len(stripped) <= LONGEST else None
    if iso is not None and any(iso.groups()):
        parts = zip(iso.groups(), _ISO_UNITS, strict=True)
        return sum(
            (Fraction(number.replace(",", ".")) * UNITS[unit] for number, unit in parts if number),
            Fraction(0),
        )
    rest = re.sub(r"\Ainterval\b", "", stripped, flags=re.IGNORECASE).strip()
    if not rest or len(rest) > LONGEST:
        raise _refused(text, f"write a number and a unit, like {EXAMPLE}")
    total, at = Fraction(0), 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None:
            raise _refused(text, f"write a number and a unit, like {EXAMPLE}")
        sign, number, unit = part.groups()
        total += Fraction(f"{sign}{number}") * _unit(text, number, unit)
        at = part.end()
    return total


def _unit(text: str, number: str, unit: str) -> int:
    if not unit:
        raise _refused(text, f'it lacks a unit: write "{number} seconds" if these are seconds')
    found = UNITS.get(unit.casefold())
    if found is None:
        known = [name for name in UNITS if len(name) > 2]
        listed = "units are milliseconds, seconds, minutes, hours, days, weeks"
        raise _refused(text, did_you_mean(unit, known, listed) or listed)
    return found


def _refused(given: object, hint: str) -> CepheidError:
    shown = repr(given)
    shown = shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"
    return CepheidError("bad-argument", f"`watermark` requires a duration; got `{shown}` instead", hint=hint)
