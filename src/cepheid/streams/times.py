"""The time column as numbers: microseconds for timestamps and dates, else the numbers themselves.

In: a column of a type that `schema.is_time` accepts. Out: int64 or float64 without NULL or NaN; bad values are an error
that names the row. Timestamps count in microseconds, as Spark's do, so that both give the same matches.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.errors import CepheidError

Times = npt.NDArray[np.int64] | npt.NDArray[np.float64]

MICROSECONDS_PER_DAY = 86_400_000_000


def times_of(column: pa.ChunkedArray | pa.Array, name: str, first_row: int = 0) -> Times:
    """Times of a batch whose first row has the number `first_row` in the whole input.

    >>> times_of(pa.array([1, 2], pa.timestamp("ms")), "ts").tolist()
    [1000, 2000]
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if column.null_count:
        row = first_row + int(np.flatnonzero(pc.is_null(column).to_numpy(zero_copy_only=False))[0])
        raise CepheidError(
            "bad-time",
            f"time column `{name}` is NULL in row {row}, and in {column.null_count} rows of its batch of {len(column)}",
            hint="drop or fill the rows without a time before matching",
        )
    dtype = column.type
    if pa.types.is_date(dtype):
        return _integers(column.cast(pa.date32()).cast(pa.int32())) * MICROSECONDS_PER_DAY
    if pa.types.is_timestamp(dtype):
        ticks = _integers(column.cast(pa.timestamp(dtype.unit)).cast(pa.int64()))
        return _to_microseconds(ticks, dtype.unit, name)
    if pa.types.is_floating(dtype):
        reals: npt.NDArray[np.float64] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        bad = np.flatnonzero(np.isnan(reals))
        if len(bad):
            raise CepheidError(
                "bad-time",
                f"time column `{name}` is NaN in row {first_row + int(bad[0])}",
                hint="drop or fill the rows without a time before matching",
            )
        return reals + 0.0  # -0.0 and 0.0 are one time
    return _integers(column)


def _integers(column: pa.Array) -> npt.NDArray[np.int64]:
    numbers: npt.NDArray[np.int64] = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return numbers


def _to_microseconds(ticks: npt.NDArray[np.int64], unit: str, name: str) -> npt.NDArray[np.int64]:
    if unit == "us":
        return ticks
    if unit == "ns":
        return ticks // 1000
    factor = 1_000_000 if unit == "s" else 1000
    if len(ticks) and np.abs(ticks).max() > np.iinfo(np.int64).max // factor:
        raise CepheidError(
            "bad-time", f"time column `{name}` lies outside the range of microseconds in 64 bits"
        )
    return ticks * factor


def ties_of(times: Times) -> npt.NDArray[np.int64]:
    """Whole numbers that are equal exactly when the times are."""
    return times if times.dtype == np.int64 else times.view(np.int64)  # type: ignore[return-value]
