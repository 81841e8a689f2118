"""Time zones: names that Arrow, Python and Spark share, and their offsets from UTC.

In: a zone's name, `Europe/Paris` or an offset such as `+02:00`, and a moment. Out: the offset in seconds, at any time:
the calendar and the rules of summer time repeat after 400 years, so moments outside of Python's years 1 to 9999 are
moved into them by whole cycles. (Arrow's own kernels know no summer time after 2037.)
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from zoneinfo import ZoneInfo

from cepheid.errors import CepheidError

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d\d?)(?::?([0-5]\d)(?::?([0-5]\d))?)?")
_UTC = frozenset(("utc", "z", "gmt", "ut", "etc/utc", "etc/uct", "uct", "zulu", "etc/zulu", "universal"))
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_CYCLE_S = 146_097 * 86_400
_FIRST_S = (dt.datetime(2, 1, 1, tzinfo=dt.UTC) - _EPOCH) // dt.timedelta(seconds=1)
_LAST_S = (dt.datetime(9998, 12, 31, tzinfo=dt.UTC) - _EPOCH) // dt.timedelta(seconds=1)


def known_zone(name: object) -> str:
    """The one name of a zone; an error where it is not known.

    >>> known_zone("Etc/UTC"), known_zone("GMT+2"), known_zone("Europe/Paris")
    ('UTC', '+02:00', 'Europe/Paris')
    """
    if not isinstance(name, str):
        raise CepheidError("bad-argument", f"`zone` requires the name of a time zone; got `{name!r}` instead")
    _zone(name)
    fixed = fixed_offset(name)
    return name if fixed is None else "UTC" if fixed == 0 else offset_name(fixed)


def checked_zone(zone: object) -> str | None:
    """The argument `zone`, if it was given.

    >>> checked_zone("Mars/Base")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[bad-argument]: time zone `Mars/Base` is not known here
    ...
    """
    return None if zone is None else known_zone(zone)


@functools.lru_cache(maxsize=256)
def fixed_offset(name: str) -> int | None:
    """Seconds east of UTC of a zone that is an offset; None for a region.

    >>> fixed_offset("-03:30"), fixed_offset("Europe/Paris")
    (-12600, None)
    """
    if name.casefold() in _UTC:
        return 0
    found = _OFFSET.fullmatch(name)
    if found is None:
        return None
    sign, hours, minutes, seconds = found.groups()
    size = int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return (size if sign == "+" else -size) if size < 86_400 else None


def offset_name(offset_s: int) -> str:
    """An offset as ISO 8601 writes it.

    >>> offset_name(7200), offset_name(-561)
    ('+02:00', '-00:09:21')
    """
    sign, size = ("-" if offset_s < 0 else "+"), abs(offset_s)
    seconds = f":{size % 60:02}" if size % 60 else ""
    return f"{sign}{size // 3600:02}:{size // 60 % 60:02}{seconds}"


def offset_at(name: str, instant_s: int) -> int:
    """The offset, in seconds, of a clock in the zone at a moment, given in seconds since 1970 UTC.

    >>> offset_at("Europe/Paris", 1_719_828_000), offset_at("Europe/Paris", 2**61)
    (7200, 7200)
    """
    fixed = fixed_offset(name)
    if fixed is not None:
        return fixed
    moment = (_EPOCH + dt.timedelta(seconds=_in_range(instant_s))).astimezone(_zone(name))
    return _seconds(moment.utcoffset())


def offset_on_clock(name: str, clock_s: int) -> int:
    """The offset at a time that a clock in the zone shows. Of an hour that occurs twice it is the first; a skipped hour
    has the offset before it, as in Spark.

    >>> offset_on_clock("Europe/Paris", 1_711_852_200), offset_on_clock("Europe/Paris", 1_729_996_200)
    (3600, 7200)
    """
    fixed = fixed_offset(name)
    if fixed is not None:
        return fixed
    clock = _EPOCH + dt.timedelta(seconds=_in_range(clock_s))
    return _seconds(clock.replace(tzinfo=_zone(name)).utcoffset())


def _in_range(seconds: int) -> int:
    """The same moment of a cycle that Python's calendar has."""
    if seconds < _FIRST_S:
        return seconds + -((seconds - _FIRST_S) // _CYCLE_S) * _CYCLE_S
    return seconds if seconds <= _LAST_S else seconds - -((_LAST_S - seconds) // _CYCLE_S) * _CYCLE_S


def _seconds(offset: dt.timedelta | None) -> int:
    return 0 if offset is None else offset.days * 86_400 + offset.seconds


@functools.lru_cache(maxsize=256)
def _zone(name: str) -> dt.tzinfo:
    fixed = fixed_offset(name)
    if fixed is not None:
        return dt.timezone(dt.timedelta(seconds=fixed))
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # not found, a path, a folder
        hint = "zones are regions such as Europe/Paris, UTC, or offsets such as +02:00"
        raise CepheidError("bad-argument", f"time zone `{name}` is not known here", hint=hint) from None
