"""Arithmetic on times and durations: which kinds go together.

In: an operator and the kinds of its operands. Out: the kind of the value, or None where there is none. Values are exact
to the nanosecond, and have no bounds in the definition; a quotient of two durations is a real.
"""

from __future__ import annotations

from cepheid.algebra.kinds import Kind

_DIFFERENT = (Kind.TIMESTAMP, Kind.DATE, Kind.TIME, Kind.DURATION)


def kind_of_times(op: str, left: Kind, right: Kind) -> Kind | None:
    """The kind of `left op right`, one of which is a time or a duration; NULL goes with any.

    >>> kind_of_times("-", Kind.TIMESTAMP, Kind.TIMESTAMP), kind_of_times("+", Kind.TIMESTAMP, Kind.TIMESTAMP)
    (<Kind.DURATION: 'a duration'>, None)
    """
    if Kind.NULL in (left, right):
        other = right if left is Kind.NULL else left
        return kind_of_times(op, other, Kind.DURATION) or kind_of_times(op, other, other)
    match op, left, right:
        case "-", _, _ if left is right and left in _DIFFERENT:
            return Kind.DURATION
        case "+", Kind.DURATION, Kind.DURATION:
            return Kind.DURATION
        case "+" | "-", Kind.TIMESTAMP, Kind.DURATION:
            return Kind.TIMESTAMP
        case "+", Kind.DURATION, Kind.TIMESTAMP:
            return Kind.TIMESTAMP
        case "*" | "/", Kind.DURATION, Kind.NUMBER:
            return Kind.DURATION
        case "*", Kind.NUMBER, Kind.DURATION:
            return Kind.DURATION
        case "/", Kind.DURATION, Kind.DURATION:
            return Kind.NUMBER
        case _:
            return None
