"""Literals in the type of what they are compared with.

In: a literal, its kind and the kind (and time zone) across the comparison. Out: a string as the timestamp
or date it writes, a date as the midnight it begins with; anything else as it was. A timestamp literal has a
time zone exactly when the column has one; without its own it is in the column's.
"""

from __future__ import annotations

import datetime as dt
import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cepheid.algebra.conditions import Literal
from cepheid.algebra.kinds import Kind
from cepheid.errors import CepheidError

OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")


def as_literal_of(literal: Literal, kind: Kind, wanted: Kind, zone: str | None) -> Literal:
    """The literal as a value of the wanted kind, when it can be one.

    >>> as_literal_of(Literal("2024-01-31"), Kind.STRING, Kind.DATE, None)
    Literal(value=datetime.date(2024, 1, 31))
    """
    value = literal.value
    if wanted is Kind.DATE and isinstance(value, str):
        return Literal(_date(literal, value), literal.span)
    if wanted is Kind.TIMESTAMP and isinstance(value, str):
        return Literal(_in_zone(literal, _timestamp(literal, value), zone), literal.span)
    if wanted is Kind.TIMESTAMP and kind is Kind.TIMESTAMP and isinstance(value, dt.datetime):
        return Literal(_in_zone(literal, value, zone), literal.span)
    if wanted is Kind.TIMESTAMP and kind is Kind.DATE and isinstance(value, dt.date):
        midnight = dt.datetime.combine(value, dt.time())
        return Literal(_in_zone(literal, midnight, zone), literal.span)
    return literal


def _date(literal: Literal, text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text.strip())
    except ValueError:
        hint = "write a date as '2024-01-31'"
        raise CepheidError("type-mismatch", f"'{text}' is not a date", span=literal.span, hint=hint) from None


def _timestamp(literal: Literal, text: str) -> dt.datetime:
    try:
        return dt.datetime.fromisoformat(text.strip())
    except ValueError:
        hint = "write a time as '2024-01-31 12:30:00'"
        raise CepheidError(
            "type-mismatch", f"'{text}' is not a timestamp", span=literal.span, hint=hint
        ) from None


def _in_zone(literal: Literal, time: dt.datetime, zone: str | None) -> dt.datetime:
    if zone is None:
        if time.tzinfo is not None:
            raise CepheidError(
                "type-mismatch",
                "this time has a time zone and the column has none",
                span=literal.span,
                hint="write it without the zone",
            )
        return time
    local = time if time.tzinfo is not None else time.replace(tzinfo=_zone(zone))
    return local.astimezone(dt.UTC)


def _zone(name: str) -> dt.tzinfo:
    """A zone as Arrow names it: `Europe/Paris` or `+02:00`."""
    offset = OFFSET.fullmatch(name)
    if offset:
        sign, hours, minutes = offset.groups()
        delta = dt.timedelta(hours=int(hours), minutes=int(minutes))
        return dt.timezone(delta if sign == "+" else -delta)
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        raise CepheidError(
            "type-mismatch",
            f"time zone `{name}` is not known here",
            hint="write the time with an offset: +02:00",
        ) from None
