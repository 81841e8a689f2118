"""Moments: points in time as whole nanoseconds, with the zone in which a clock shows them.

In: ISO 8601 text, or ticks and a unit of an Arrow column. Out: `Moment`s, which compare by their nanoseconds and print
as they were written. Python's `datetime` has microseconds and the years 1 to 9999; a moment has neither limit.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from cepheid.algebra.zones import offset_at, offset_name

PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
SECOND = 1_000_000_000
DAY = 86_400 * SECOND
_EPOCH = dt.datetime(1970, 1, 1)
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal() - 1  # days from 0001-01-01
_CYCLE = 146_097  # days in 400 years of the Gregorian calendar, after which it repeats
_FRACTION = re.compile(r"(?<=:\d\d)[.,](\d+)")
_FRACTION_OF_OFFSET = re.compile(r"[+-]\d\d:?\d\d:?\d\d[.,]")
_COMPACT_FRACTION = re.compile(r"(?<=T\d{6})[.,](\d+)")


@dataclass(frozen=True, slots=True)
class Moment:
    """`ns` are nanoseconds since 1970-01-01 00:00: in UTC where there is a `zone`, else on the clock that was read.

    >>> Moment(1_500_000_000, "+02:00"), str(Moment(1_500_000_000, "+02:00"))
    (Moment(ns=1500000000, zone='+02:00'), '1970-01-01 02:00:01.500000+02:00')
    """

    ns: int
    zone: str | None = None

    @property
    def clock_ns(self) -> int:
        """Nanoseconds since 1970-01-01 00:00 on a clock in the moment's zone."""
        return self.ns if self.zone is None else self.ns + offset_at(self.zone, self.ns // SECOND) * SECOND

    @property
    def date(self) -> tuple[int, int, int]:
        """Year, month and day; years before 1 are 0, -1, …

        >>> Moment(-(2**63) * 1000).date
        (-290308, 12, 21)
        """
        cycles, days = divmod(self.clock_ns // DAY + _EPOCH_DAY, _CYCLE)
        day = dt.date.fromordinal(days + 1)
        return day.year + 400 * cycles, day.month, day.day

    @property
    def time(self) -> tuple[int, int, int, int]:
        """Hour, minute, second and nanosecond."""
        seconds, ns = divmod(self.clock_ns % DAY, SECOND)
        return seconds // 3600, seconds // 60 % 60, seconds % 60, ns

    @property
    def day_of_week(self) -> int:
        """From 1, Sunday, to 7."""
        return (self.clock_ns // DAY + 4) % 7 + 1  # 1970-01-01 was a Thursday

    def __str__(self) -> str:
        year, month, day = self.date
        zone = "" if self.zone is None else offset_name(offset_at(self.zone, self.ns // SECOND))
        return f"{_year(year)}-{month:02}-{day:02} {_clock(*self.time)}{zone}"


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """Nanoseconds since midnight.

    >>> str(TimeOfDay(45_000_000_000_001))
    '12:30:00.000000001'
    """

    ns: int

    def __str__(self) -> str:
        return _clock(*Moment(self.ns).time)


UNITS = {
    "WEEKS": 7 * DAY,
    "DAYS": DAY,
    "HOURS": 3600 * SECOND,
    "MINUTES": 60 * SECOND,
    "SECONDS": SECOND,
    "MILLISECONDS": 1_000_000,
    "MICROSECONDS": 1_000,
    "NANOSECONDS": 1,
}


@dataclass(frozen=True, slots=True)
class Interval:
    """A duration, as a literal writes it; columns of durations have moments, so many nanoseconds after 1970 began.

    >>> str(Interval(90 * SECOND)), str(Interval(-1))
    ("'90' SECONDS", "'-1' NANOSECONDS")
    """

    ns: int

    def __str__(self) -> str:
        unit = next(unit for unit, ns in UNITS.items() if self.ns % ns == 0) if self.ns else "SECONDS"
        return f"'{self.ns // UNITS[unit]}' {unit}"


def moment_of(value: dt.date | TimeOfDay | Interval | Moment) -> Moment:
    """Any value of time as a moment: a date is its midnight, a time of day is on the first of January 1970.

    >>> moment_of(dt.date(1970, 1, 2)).ns == DAY, moment_of(TimeOfDay(1))
    (True, Moment(ns=1, zone=None))
    """
    match value:
        case Moment():
            return value
        case TimeOfDay(ns) | Interval(ns):
            return Moment(ns)
        case dt.datetime():
            since = (value if value.tzinfo is None else value.replace(tzinfo=None)) - _EPOCH
            ns = since.days * DAY + since.seconds * SECOND + since.microseconds * 1000
            ns += getattr(value, "nanosecond", 0)  # of pandas' subclass
            offset = None if value.tzinfo is None else value.utcoffset()
            if offset is None:
                return Moment(ns)
            seconds = offset // dt.timedelta(seconds=1)
            return Moment(ns - offset // dt.timedelta(microseconds=1) * 1000, _fixed(seconds))
        case _:
            return Moment((value.toordinal() - 1 - _EPOCH_DAY) * DAY)


def read_moment(text: str) -> Moment:
    """A timestamp in ISO 8601, with up to nine digits after the second; `ValueError` for all else.

    >>> read_moment("2024-01-31 12:30:00.123456789"), read_moment("2024-01-31T12:30+02:00").zone
    (Moment(ns=1706704200123456789, zone=None), '+02:00')
    """
    short, ns = _without_fraction(text.strip())
    moment = moment_of(dt.datetime.fromisoformat(short))
    return Moment(moment.ns + ns, moment.zone) if ns else moment


def read_time_of_day(text: str) -> TimeOfDay:
    """A time of day in ISO 8601, with up to nine digits after the second; `ValueError` for all else.

    >>> read_time_of_day("00:00:01.5")
    TimeOfDay(ns=1500000000)
    """
    short, ns = _without_fraction(text.strip())
    time = dt.time.fromisoformat(short)
    if time.tzinfo is not None:
        raise ValueError("a time of day has no zone")
    seconds = time.hour * 3600 + time.minute * 60 + time.second
    return TimeOfDay(seconds * SECOND + time.microsecond * 1000 + ns)


def _without_fraction(text: str) -> tuple[str, int]:
    """The text without the fraction of its second, and that in nanoseconds: Python would cut digits off."""
    if "." not in text and "," not in text:
        return text, 0
    found = _FRACTION.search(text) or _COMPACT_FRACTION.search(text)
    if found is None:
        return text, 0
    digits = found[1]
    if len(digits.rstrip("0")) > 9 or _FRACTION_OF_OFFSET.search(text):
        raise ValueError("a second has at most nine digits after the point, and an offset none")
    return text[: found.start()] + text[found.end() :], int(digits[:9].ljust(9, "0"))


def _fixed(offset_s: int) -> str:
    return "UTC" if offset_s == 0 else offset_name(offset_s)


def _year(year: int) -> str:
    """With four digits at least, and a sign where Python's calendar ends."""
    return f"{year:04}" if 0 <= year <= 9999 else f"{year:+05}"


def _clock(hour: int, minute: int, second: int, ns: int) -> str:
    fraction = "" if ns == 0 else f".{ns // 1000:06}" if ns % 1000 == 0 else f".{ns:09}"
    return f"{hour:02}:{minute:02}:{second:02}{fraction}"
