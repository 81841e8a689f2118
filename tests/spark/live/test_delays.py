"""Durations of a watermark, as people write them and as they should not."""

from __future__ import annotations

import datetime as dt
import re

import pytest

from cepheid.errors import CepheidError
from cepheid.spark.live.delays import MOST_MS, milliseconds_of

READ = {
    "10 seconds": 10_000,
    "10seconds": 10_000,
    "10 s": 10_000,
    " 10\tSeconds ": 10_000,
    "1 day 2 hours": 93_600_000,
    "1 day, 2 hours and 3 ms": 93_600_003,
    "1d2h": 93_600_000,
    "interval 5 minutes": 300_000,
    "INTERVAL 1 hour -30 minutes": 1_800_000,
    "1.5 seconds": 1_500,
    ".5s": 500,
    "1 microsecond": 1,
    "0 seconds": 0,
    "2 weeks": 1_209_600_000,
    "1 month": 31 * 86_400_000,
    "1 year": 372 * 86_400_000,
    "PT10S": 10_000,
    "P1DT2H": 93_600_000,
    "pt1,5s": 1_500,
    "P1W": 604_800_000,
    f"{MOST_MS - 1} ms": MOST_MS - 1,
}


@pytest.mark.parametrize("text", READ, ids=[str(n) for n in range(len(READ))])
def test_durations_are_read(text: str) -> None:
    assert milliseconds_of(text) == READ[text]


def test_a_timedelta_is_a_duration() -> None:
    assert milliseconds_of(dt.timedelta(days=1, microseconds=1)) == 86_400_001


REFUSED = {
    "": "a number and a unit",
    "soon": "a number and a unit",
    "10": 'write "10 seconds"',
    "10 secnods": "did you mean `second",
    "10 parsecs": "did you mean|units are",
    "ten seconds": "a number and a unit",
    "10 seconds!": "a number and a unit",
    "-5 seconds": "cannot be negative",
    "P": "a number and a unit",
    "PT": "a number and a unit",
    "9" * 40 + " days": "the longest that can be waited",
    f"{MOST_MS} ms": "the longest that can be waited",
    "9" * 100_000 + " days": "a number and a unit",
    "1 s " * 100_000: "a number and a unit",
    "NaN seconds": "a number and a unit",
    "1e5 seconds": "did you mean|units are",
    "\ud800 s": "a number and a unit",
}


@pytest.mark.parametrize("text", REFUSED, ids=[str(n) for n in range(len(REFUSED))])
def test_what_is_no_duration_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(CepheidError, match=r"bad-argument.*`watermark` requires a duration") as raised:
        milliseconds_of(text)
    assert re.search(REFUSED[text], raised.value.hint or "")
    assert len(str(raised.value)) < 600


@pytest.mark.parametrize("given", [10, 1.5, True, dt.timedelta(-1), b"10 s", ["10 s"]])
def test_what_is_no_text_is_refused(given: object) -> None:
    with pytest.raises(CepheidError, match="`watermark` requires a duration"):
        milliseconds_of(given)
