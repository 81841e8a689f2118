"""The time column as numbers: microseconds for timestamps and dates, else the numbers themselves.

In: a column of a type that `schema.is_time` accepts. Out: int64 or float64, finite and without NULL; bad values are an
error that names the row. Timestamps count in microseconds, as Spark's do, so that both give the same matches.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.errors import CepheidError
from cepheid.streams.plain import whole

Ints = npt.NDArray[np.int64]
Times = Ints | npt.NDArray[np.float64]
Time = np.int64 | np.float64 | int | float

MICROSECONDS_PER_DAY = 86_400_000_000


def times_of(column: pa.ChunkedArray | pa.Array, name: str, first_row: int = 0) -> Times:
    """Times of a batch whose first row has the number `first_row` in the whole input.

    >>> times_of(pa.array([1, 2], pa.timestamp("ms")), "ts").tolist()
    [1000, 2000]
    """
    column = whole(column)
    if column.null_count:
        row = first_row + int(np.flatnonzero(pc.is_null(column).to_numpy(zero_copy_only=False))[0])
        raise CepheidError(
            "bad-time",
            f"time column `{name}` is NULL in row {row}, and in {column.null_count} rows of its batch of {len(column)}",
            hint="drop or fill the rows without a time before matching",
        )
    dtype = column.type
    if pa.types.is_date(dtype):
        days = _integers(column.cast(pa.date32()).cast(pa.int32()))
        return _to_microseconds(days, MICROSECONDS_PER_DAY, name, first_row)
    if pa.types.is_timestamp(dtype):
        ticks = _integers(column.cast(pa.timestamp(dtype.unit)).cast(pa.int64()))
        if dtype.unit == "ns":
            return ticks // 1000
        factor = {"s": 1_000_000, "ms": 1000, "us": 1}[dtype.unit]
        return ticks if factor == 1 else _to_microseconds(ticks, factor, name, first_row)
    if pa.types.is_floating(dtype):
        reals: npt.NDArray[np.float64] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        bad = np.flatnonzero(~np.isfinite(reals))
        if len(bad):
            value = "NaN" if np.isnan(reals[bad[0]]) else "infinite"
            raise CepheidError(
                "bad-time",
                f"time column `{name}` is {value} in row {first_row + int(bad[0])}",
                hint="drop or fill the rows without a time before matching",
            )
        return reals + 0.0  # -0.0 and 0.0 are one time
    if dtype == pa.uint64():
        numbers: npt.NDArray[np.uint64] = column.to_numpy(zero_copy_only=False)
        _check_range(numbers > np.iinfo(np.int64).max, "64 bits with a sign", name, first_row)
    return _integers(column)


def _integers(column: pa.Array) -> npt.NDArray[np.int64]:
    numbers: npt.NDArray[np.int64] = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return numbers


def _to_microseconds(
    ticks: npt.NDArray[np.int64], factor: int, name: str, first_row: int
) -> npt.NDArray[np.int64]:
    most = np.iinfo(np.int64).max // factor
    _check_range((ticks > most) | (ticks < -most), "microseconds in 64 bits", name, first_row)
    return ticks * factor


def _check_range(outside: npt.NDArray[np.bool_], of: str, name: str, first_row: int) -> None:
    bad = np.flatnonzero(outside)
    if len(bad):
        raise CepheidError(
            "bad-time",
            f"time column `{name}` lies outside the range of {of} in row {first_row + int(bad[0])}",
        )


def recent(times: Times, last: Time, amount: int | float) -> npt.NDArray[np.bool_]:
    """Which of these times, none after `last`, are at most `amount` before it.

    >>> recent(np.array([-(2**63), 0, 7]), 2**63 - 1, 2**63 - 1).tolist()
    [False, True, True]
    """
    with np.errstate(
        over="ignore"
    ):  # reals that lie further apart than there are numbers are at an infinite distance
        ages = np.asarray(last, times.dtype) - times
    if times.dtype == np.float64:
        return np.asarray(ages <= amount)
    return np.asarray(ages.view(np.uint64) <= age_limit(amount))


def unsigned(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """The same bits: a difference of two int64 that is not negative always fits."""
    return numbers.view(np.uint64)


def age_limit(amount: int | float) -> np.uint64:
    """A window's duration as a bound on differences of whole numbers."""
    return np.uint64(int(np.floor(amount)))


def ties_of(times: Times) -> npt.NDArray[np.int64]:
    """Whole numbers that are equal exactly when the times are."""
    return times if times.dtype == np.int64 else times.view(np.int64)  # type: ignore[return-value]
