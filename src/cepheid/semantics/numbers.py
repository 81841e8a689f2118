"""Numbers and instants as the engine has them: 64-bit integers, IEEE doubles, times on one line (decimals: `decimals`).

In: Python values. Out: Python values that also exist in an Arrow column; where there is none, NULL (None).
"""

from __future__ import annotations

import datetime as dt
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from cepheid.algebra.moments import Interval, Moment, TimeOfDay, moment_of

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_WIDE = Context(prec=400)  # holds every double exactly enough to round it


def int64_or_null(value: Any) -> Any:
    """The value, or NULL for an integer outside 64 bits.

    >>> int64_or_null(2**63) is None, int64_or_null(1e30)
    (True, 1e+30)
    """
    if isinstance(value, int) and not _INT64_MIN <= value <= _INT64_MAX:
        return None
    return value


TIMES = (Moment, TimeOfDay, Interval, dt.date)
"""Values of time: timestamps, dates, times of day and durations; a datetime is a date, too."""


def instant(value: Any) -> int:
    """A value of time as nanoseconds on one line; without a zone it is read as UTC.

    >>> instant(dt.date(2024, 2, 29)) == instant(dt.datetime(2024, 2, 29, 0, 0))
    True
    """
    return moment_of(value).ns


def round_half_away(value: Any, digits: int) -> Any:
    """Rounding as people do it by hand on the number as it is printed: halves go away from zero.

    >>> round_half_away(2.675, 2), round_half_away(-0.5, 0), round_half_away(25, -1)
    (2.68, -1.0, 30)
    """
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return value
    exact = Decimal(repr(value))
    if -exact.as_tuple().exponent <= digits:  # type: ignore[operator]  # infinities are gone
        return value
    # No double reaches 10^400, and an exponent of a billion is none that Decimal can have.
    rounded = exact.quantize(Decimal(1).scaleb(min(-digits, 400)), ROUND_HALF_UP, _WIDE)
    return int64_or_null(type(value)(rounded))
