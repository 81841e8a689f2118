"""CAST value by value: what a type holds, and NULL for all else."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest

from cepheid.algebra.cast_types import CastType, cast_type
from cepheid.algebra.kinds import Kind
from cepheid.algebra.moments import DAY, Moment
from cepheid.semantics.casts import cast, real_text

INT, BIGINT, DOUBLE, TEXT = (CastType(name) for name in ("INT", "BIGINT", "DOUBLE", "STRING"))
MONEY = cast_type("decimal", (5, 2), None)


@pytest.mark.parametrize(
    ("value", "target", "expected"),
    [
        (" 12\n", INT, 12),
        ("1.5", INT, None),
        ("٣", INT, None),  # digits of ASCII only
        ("1_000", INT, None),
        (2**31, INT, None),
        (-(2**31), INT, -(2**31)),
        (-2.9, INT, -2),
        (2.0**63, BIGINT, None),
        (-(2.0**63), BIGINT, -(2**63)),
        (math.nan, BIGINT, None),
        (Decimal("-2.9"), BIGINT, -2),
        (True, BIGINT, 1),
        ("1e400", DOUBLE, math.inf),
        (".5", DOUBLE, 0.5),
        ("-Infinity", DOUBLE, -math.inf),
        ("0x10", DOUBLE, None),
        ("", DOUBLE, None),
        (0.1, CastType("FLOAT"), 0.10000000149011612),
        (999.995, MONEY, None),
        (999.994, MONEY, Decimal("999.99")),
        (2.675, MONEY, Decimal("2.68")),  # the shortest decimal counts, not the double just below it
        (0, cast_type("decimal", (2, 2), None), Decimal("0.00")),
        ("1e-9999", MONEY, Decimal("0.00")),
        ("1e999999999", MONEY, None),
        (math.inf, MONEY, None),
        (Decimal("2.50"), TEXT, "2.50"),
        (10**18, TEXT, "1000000000000000000"),
        (False, TEXT, "false"),
        (0.0, CastType("BOOLEAN"), False),
        (math.nan, CastType("BOOLEAN"), True),
        (" Yes ", CastType("BOOLEAN"), True),
        ("2", CastType("BOOLEAN"), None),
        ("2024-02-30", CastType("DATE"), None),
        ("2024-02-29", CastType("DATE"), dt.date(2024, 2, 29)),
        (None, TEXT, None),
    ],
)
def test_a_value_in_another_type(value: Any, target: CastType, expected: Any) -> None:
    made = cast(value, target)
    assert (type(made), made) == (type(expected), expected)


@pytest.mark.parametrize(
    ("kind", "text"),
    [(Kind.TIMESTAMP, "1970-01-02 01:00:00.5"), (Kind.DATE, "1970-01-02"), (Kind.TIME, "01:00:00.5")],
)
def test_times_print_as_a_clock_in_their_zone_shows_them(kind: Kind, text: str) -> None:
    assert cast(Moment(DAY + 500_000_000, "+01:00"), TEXT, kind) == text


def test_the_day_of_a_timestamp_is_that_of_its_zone() -> None:
    late = Moment(DAY - 1, "+01:00")
    assert cast(late, CastType("DATE"), Kind.TIMESTAMP) == Moment(DAY)


def test_reals_print_as_spark_prints_them() -> None:
    reals = (1.0, -0.0, 0.001, 1e-3 / 10, 9_999_999.0, 1e7, 123_456_789.125, 5e-324, -1.7976931348623157e308)
    texts = "1.0 -0.0 0.001 1.0E-4 9999999.0 1.0E7 1.23456789125E8 5.0E-324 -1.7976931348623157E308"
    assert " ".join(map(real_text, reals)) == texts
