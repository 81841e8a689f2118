"""The scalar functions of conditions, over plain Python values (None is NULL).

In: a function's lower-case name and its arguments. Out: its value. NULL in gives NULL out but for `coalesce`, `least`,
`greatest` and `nullif`; outside a function's domain the value is NULL; what overflows a double is infinite. Characters
are Unicode code points and positions in text start at 1; the parts of a timestamp are those of its own time zone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from cepheid.algebra.moments import moment_of
from cepheid.semantics.decimals import rounded_decimal, whole_decimal
from cepheid.semantics.numbers import TIMES, instant, int64_or_null, round_half_away


def apply(function: str, arguments: Sequence[Any]) -> Any:
    """The function's value for these arguments.

    >>> apply("substr", ["pressure", -4]), apply("greatest", [1, None, 3]), apply("sqrt", [-1])
    ('sure', 3, None)
    """
    if function in _TAKES_NULL:
        return _TAKES_NULL[function](*arguments)
    if any(argument is None for argument in arguments):
        return None
    return _STRICT[function](*arguments)


def _coalesce(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _nullif(left: Any, right: Any) -> Any:
    if isinstance(left, TIMES) and isinstance(right, TIMES):
        return None if instant(left) == instant(right) else left
    return None if left is not None and right is not None and left == right else left


def _least(*values: Any) -> Any:
    return _extreme(min, values)


def _greatest(*values: Any) -> Any:
    return _extreme(max, values)


def _extreme(choose: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """NULLs are skipped; a NaN among the rest is the result, so that the order of arguments does not matter."""
    given = [value for value in values if value is not None]
    not_a_number = next((value for value in given if value != value), None)
    return choose(given, key=_rank, default=None) if not_a_number is None else not_a_number


def _rank(value: Any) -> Any:
    return instant(value) if isinstance(value, TIMES) else value


def _floor(value: Any) -> Any:
    return whole_decimal(value, ROUND_FLOOR) if isinstance(value, Decimal) else _whole(value, math.floor)


def _ceil(value: Any) -> Any:
    return whole_decimal(value, ROUND_CEILING) if isinstance(value, Decimal) else _whole(value, math.ceil)


def _abs(value: Any) -> Any:
    return value.copy_abs() if isinstance(value, Decimal) else int64_or_null(abs(value))


def _whole(value: Any, towards: Callable[[Any], int]) -> int | None:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    whole: int | None = int64_or_null(towards(value))
    return whole


def _real(function: Callable[..., float], *arguments: Any) -> float | None:
    try:
        return function(*(float(argument) for argument in arguments))
    except OverflowError:
        return math.inf
    except ValueError:
        return None


def _power(base: Any, exponent: Any) -> float | None:
    value = _real(math.pow, base, exponent)
    # Only a negative base with an odd exponent overflows downwards.
    overflowed = value == math.inf and math.isfinite(base) and math.isfinite(exponent)
    return -math.inf if overflowed and base < 0 and float(exponent) % 2 == 1 else value


def _ln(value: Any) -> float | None:
    return None if value == 0 else _real(math.log, value)


def _sign(value: Any) -> float:
    return value if value != value else float((value > 0) - (value < 0))


def _round(value: Any, digits: Any = 0) -> Any:
    places = _whole(digits, math.trunc)
    if places is None:
        return None
    return rounded_decimal(value, places) if isinstance(value, Decimal) else round_half_away(value, places)


def _substr(text: str, *places: Any) -> str | None:
    """Places that are not whole are cut off; where they are not finite there is no text."""
    whole = [number for place in places if (number := _whole(place, math.trunc)) is not None]
    return _characters(text, *whole) if len(whole) == len(places) else None


def _characters(text: str, start: int, length: int | None = None) -> str:
    """A start before the text still uses up length, as in Spark: substr('abc', -5, 3) is 'a'."""
    first = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    last = len(text) if length is None else first + length
    return text[max(0, first) : max(0, last)] if last > first else ""


def _replace(text: str, search: str, by: str = "") -> str:
    return text.replace(search, by) if search else text


def _date(place: int) -> Callable[[Any], int]:
    return lambda value: moment_of(value).date[place]


def _time(place: int) -> Callable[[Any], int]:
    return lambda value: moment_of(value).time[place]  # of a date, its midnight


_TAKES_NULL: dict[str, Callable[..., Any]] = {
    "coalesce": _coalesce,
    "nullif": _nullif,
    "least": _least,
    "greatest": _greatest,
}

_STRICT: dict[str, Callable[..., Any]] = {
    "abs": _abs,
    "round": _round,
    "floor": _floor,
    "ceil": _ceil,
    "sqrt": lambda value: _real(math.sqrt, value),
    "power": _power,
    "ln": _ln,
    "exp": lambda value: _real(math.exp, value),
    "sign": _sign,
    "length": len,
    "upper": str.upper,
    "lower": str.lower,
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "substr": _substr,
    "substring": _substr,
    "concat": lambda *texts: "".join(texts),
    "replace": _replace,
    "startswith": str.startswith,
    "endswith": str.endswith,
    "contains": lambda text, part: part in text,
    "year": _date(0),
    "month": _date(1),
    "day": _date(2),
    "hour": _time(0),
    "minute": _time(1),
    "second": _time(2),
    "dayofweek": lambda value: moment_of(value).day_of_week,
}
