"""The time column as numbers: nanoseconds or microseconds for timestamps and dates, else the numbers themselves.

In: a column of a type that `schema.is_time` accepts. Out: int64 or float64, finite and without NULL; bad values are an
error that names the row. Timestamps in nanoseconds keep their unit; all others, and dates, are in microseconds, as
Spark's are. The unit follows from the type alone (`schema.counts_nanoseconds`); windows are converted to it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.errors import CepheidError
from cepheid.schema import counts_nanoseconds
from cepheid.streams.plain import whole

Ints = npt.NDArray[np.int64]
Times = Ints | npt.NDArray[np.float64]
Time = np.int64 | np.float64 | int | float

MICROSECONDS_PER_DAY = 86_400_000_000


_NO_TIME = "drop or fill the rows without a time before matching"


def times_of(column: pa.ChunkedArray | pa.Array, name: str, first_row: int = 0) -> Times:
    """Times of a batch whose first row has the number `first_row` in the whole input.

    >>> times_of(pa.array([1, 2], pa.timestamp("ms")), "ts").tolist()
    [1000, 2000]
    """
    column, what = whole(column), f"time column `{name}`"
    if column.null_count:
        row = first_row + int(np.flatnonzero(pc.is_null(column).to_numpy(zero_copy_only=False))[0])
        message = (
            f"{what} is NULL in row {row}, and in {column.null_count} rows of its batch of {len(column)}"
        )
        raise CepheidError("bad-time", message, hint=_NO_TIME)
    dtype = column.type
    if pa.types.is_date(dtype) or pa.types.is_timestamp(dtype):
        return ticks_of(column, what, "bad-time", first_row)
    if pa.types.is_floating(dtype):
        reals: npt.NDArray[np.float64] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        bad = np.flatnonzero(~np.isfinite(reals))
        if len(bad):
            value = "NaN" if np.isnan(reals[bad[0]]) else "infinite"
            message = f"{what} is {value} in row {first_row + int(bad[0])}"
            raise CepheidError("bad-time", message, hint=_NO_TIME)
        return reals + 0.0  # -0.0 and 0.0 are one time
    if dtype == pa.uint64():
        numbers: npt.NDArray[np.uint64] = column.to_numpy(zero_copy_only=False)
        _check_range(numbers > np.iinfo(np.int64).max, "64 bits with a sign", what, "bad-time", first_row)
    return _integers(column)


def _integers(column: pa.Array) -> npt.NDArray[np.int64]:
    numbers: npt.NDArray[np.int64] = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return numbers


def ticks_of(column: pa.Array, what: str, code: str = "bad-data", first_row: int = 0) -> Ints:
    """Timestamps or dates, none of them NULL, as whole numbers; `what` names the column in an error.

    >>> ticks_of(pa.array([1], pa.timestamp("ns")), "it").tolist(), ticks_of(pa.array([1], pa.date32()), "it").tolist()
    ([1], [86400000000])
    """
    dtype = column.type
    if pa.types.is_date32(dtype):
        ticks, factor = _integers(column.cast(pa.int32())), MICROSECONDS_PER_DAY
    else:
        unit = "ms" if pa.types.is_date64(dtype) else dtype.unit
        ticks, factor = _integers(column), {"s": 1_000_000, "ms": 1000, "us": 1, "ns": 1}[unit]
    if factor == 1:
        return ticks
    most = np.iinfo(np.int64).max // factor
    _check_range((ticks > most) | (ticks < -most), "microseconds in 64 bits", what, code, first_row)
    return ticks * factor


def _check_range(outside: npt.NDArray[np.bool_], of: str, what: str, code: str, first_row: int) -> None:
    bad = np.flatnonzero(outside)
    if len(bad):
        raise CepheidError(code, f"{what} lies outside the range of {of} in row {first_row + int(bad[0])}")


def same_in_all_units(times: Times, ranks: Ints, dtype: pa.DataType) -> tuple[Times, Ints]:
    """Times in microseconds, and ranks that include the rest of the nanoseconds. Ids are made of these, so that an
    event has the same id in every unit of its column.

    >>> same_in_all_units(np.array([5000, 5001]), np.array([3, 3]), pa.timestamp("ns"))
    (array([5, 5]), array([               3, 4503599627370499]))
    """
    if not counts_nanoseconds(dtype):
        return times, ranks
    micros, rest = np.divmod(times.view(np.int64), 1000)
    return micros, ranks | rest << 52


def recent(times: Times, last: Time, amount: int | float) -> npt.NDArray[np.bool_]:
    """Which of these times, none after `last`, are at most `amount` before it.

    >>> recent(np.array([-(2**63), 0, 7]), 2**63 - 1, 2**63 - 1).tolist()
    [False, True, True]
    """
    with np.errstate(over="ignore"):  # a difference of reals that overflows is infinite
        ages = np.asarray(last, times.dtype) - times
    if times.dtype == np.float64:
        return np.asarray(ages <= amount)
    return np.asarray(ages.view(np.uint64) <= age_limit(amount))


def unsigned(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """The same bits: a difference of two int64 that is not negative always fits."""
    return numbers.view(np.uint64)


def age_limit(amount: int | float) -> np.uint64:
    """A window's duration as a bound on differences of whole numbers, which have 64 bits."""
    return np.uint64(min(int(amount // 1), 2**64 - 1))


def ties_of(times: Times) -> npt.NDArray[np.int64]:
    """Whole numbers that are equal exactly when the times are."""
    return times if times.dtype == np.int64 else times.view(np.int64)  # type: ignore[return-value]
