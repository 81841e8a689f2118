"""Literals converted to the type that they are compared with.

In: a literal, its kind and the kind (and time zone) of the other side. Out: a string as the timestamp, date or time of
day that it writes, a date as its midnight; any other literal unchanged. A timestamp literal has a time zone exactly
when the column has one: its own, else the column's.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import TypeVar

from cepheid.algebra.conditions import Literal
from cepheid.algebra.kinds import Kind
from cepheid.algebra.moments import SECOND, Moment, TimeOfDay, moment_of, read_moment, read_time_of_day
from cepheid.algebra.zones import offset_on_clock
from cepheid.errors import CepheidError

Read = TypeVar("Read", dt.date, Moment, TimeOfDay)


def as_literal_of(literal: Literal, kind: Kind, wanted: Kind, zone: str | None) -> Literal:
    """The literal as a value of the wanted kind, when it can be one.

    >>> as_literal_of(Literal("2024-01-31"), Kind.STRING, Kind.DATE, None)
    Literal(value=datetime.date(2024, 1, 31))
    """
    value = literal.value
    match wanted, value:
        case Kind.DATE, str():
            day = _read(literal, value, dt.date.fromisoformat, "a date", "write a date as '2024-01-31'")
            return Literal(day, literal.span)
        case Kind.TIME, str():
            hint = "write a time of day as '12:30:00'"
            return Literal(_read(literal, value, read_time_of_day, "a time of day", hint), literal.span)
        case Kind.TIMESTAMP, str():
            hint = "write a time as '2024-01-31 12:30:00'"
            time = _read(literal, value, read_moment, "a timestamp", hint)
            return Literal(_in_zone(literal, time, zone), literal.span)
        case Kind.TIMESTAMP, Moment() | dt.date():
            return Literal(_in_zone(literal, moment_of(value), zone), literal.span)
        case _:
            return literal


def _read(literal: Literal, text: str, read: Callable[[str], Read], what: str, hint: str) -> Read:
    try:
        return read(text.strip())
    except ValueError:
        raise CepheidError("type-mismatch", f"'{text}' is not {what}", span=literal.span, hint=hint) from None


def _in_zone(literal: Literal, time: Moment, zone: str | None) -> Moment:
    """The literal as an instant if the column has a zone, else as a clock time."""
    if zone is None:
        if time.zone is not None:
            message = "this time has a time zone and the column has none"
            raise CepheidError("type-mismatch", message, span=literal.span, hint="write it without the zone")
        return time
    if time.zone is None:
        return Moment(time.ns - offset_on_clock(zone, time.ns // SECOND) * SECOND, zone)
    there = Moment(time.ns, zone)
    # At the ends of the calendar it may be a year there that no literal can have.
    return there if 1 <= there.date[0] <= 9999 else time
