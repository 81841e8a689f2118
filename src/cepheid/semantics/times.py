"""Arithmetic on times and durations, exact to the nanosecond.

In: values of time, and numbers beside durations. Out: a moment, which is a duration where two times are subtracted; or
the quotient of two durations. A product or quotient is rounded to whole nanoseconds, halves away from zero. NULL (None)
where something is divided by zero or a number is not finite.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from cepheid.algebra.moments import Moment, moment_of
from cepheid.semantics.numbers import TIMES


def arithmetic_of_times(op: str, left: Any, right: Any) -> Moment | float | None:
    """`left op right`, neither of them NULL.

    >>> from cepheid.algebra.moments import Interval
    >>> arithmetic_of_times("-", Moment(5, "UTC"), Moment(3, "UTC")), arithmetic_of_times("*", Interval(3), 0.5)
    (Moment(ns=2, zone=None), Moment(ns=2, zone=None))
    """
    if not isinstance(left, TIMES):
        left, right = right, left  # a number times a duration
    one = moment_of(left)
    if not isinstance(right, TIMES):
        return _scaled(op, one, right)
    other = moment_of(right)
    match op:
        case "+":
            return Moment(one.ns + other.ns, one.zone or other.zone)
        case "-":
            return Moment(one.ns - other.ns, one.zone if other.zone is None else None)
        case "/":
            return None if other.ns == 0 else float(Fraction(one.ns, other.ns))
        case _:
            raise AssertionError(op)


def _scaled(op: str, duration: Moment, number: Any) -> Moment | None:
    if not math.isfinite(number) or (op == "/" and number == 0):
        return None
    exact = duration.ns * Fraction(number) if op == "*" else duration.ns / Fraction(number)
    return Moment(int(abs(exact) + Fraction(1, 2)) * (-1 if exact < 0 else 1))
