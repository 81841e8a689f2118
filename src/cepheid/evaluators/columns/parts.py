"""Parts of times (year, month, …, second) and days for all rows at once.

In: times in one zone. Out: whole numbers, equal to `semantics.functions`. Arrow knows no summer time after 2037
and no years beyond 32767, so they compute only moments for which a check, once per zone, has found them right; the
definition computes each distinct moment outside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.algebra.moments import DAY, PER_SECOND, SECOND, Moment
from cepheid.algebra.zones import fixed_offset, offset_at
from cepheid.evaluators.columns.kinds import Times
from cepheid.semantics import functions as definition

Ints = npt.NDArray[np.int64]

PARTS: dict[str, Callable[[Any], Any]] = {
    "year": pc.year,
    "month": pc.month,
    "day": pc.day,
    "hour": pc.hour,
    "minute": pc.minute,
    "second": pc.second,
    "dayofweek": functools.partial(pc.day_of_week, count_from_zero=False, week_start=7),
}
_ANY_CLOCK = (-62_000_000_000, 253_000_000_000)  # seconds, some of the years 5 to 9987
_REGION = (-2_208_988_800, 2_114_380_800)  # from 1900 to 2037


def part_of(name: str, times: Times) -> Ints:
    """One part of each time.

    >>> part_of("hour", Times(np.array([0, 2**62]), "us", zone="Europe/Paris"))
    array([ 1, 16])
    """
    return _on_a_clock(times, PARTS[name], lambda moment: definition.apply(name, [moment]))


def days_of(times: Times) -> Ints:
    """The day of each time since 1970.

    >>> days_of(Times(np.array([-1, 82_800]), "s", zone="Europe/Paris"))
    array([0, 1])
    """
    per_day = 86_400 * PER_SECOND[times.unit]
    return _on_a_clock(
        times,
        lambda clock: pa.array(clock.cast(pa.int64()).to_numpy(zero_copy_only=False) // per_day),
        lambda moment: moment.clock_ns // DAY,
    )


def _on_a_clock(times: Times, of_clock: Callable[[Any], Any], of_moment: Callable[[Moment], int]) -> Ints:
    """What Arrow computes of times on a clock, and the definition of those that Arrow has no clock for."""
    offset = 0 if times.zone is None else fixed_offset(times.zone)
    low, high = _ANY_CLOCK if offset is not None else _trusted(times.zone or "")
    per_second, values = PER_SECOND[times.unit], times.values.reshape(-1)
    room = 2**63 - 86_400 * per_second  # so that no offset leads out of 64 bits
    least, most = max(low * per_second, -room), min(high * per_second, room)
    outside = None
    if len(values) and (int(values.min()) < least or int(values.max()) >= most):
        outside = (values < least) | (values >= most)
    inside = values if outside is None else np.where(outside, 0, values)
    if offset is None and low < high:
        # As clock times, since the kernel `second` forgets the seconds of an offset (+00:09:21).
        clock = pc.local_timestamp(pa.array(inside, pa.timestamp(times.unit, times.zone)))
    else:
        clock = pa.array(inside + offset * per_second if offset else inside, pa.timestamp(times.unit))
    found: Ints = of_clock(clock).to_numpy(zero_copy_only=False).astype(np.int64)
    if outside is not None:
        distinct, places = np.unique(values[outside], return_inverse=True)
        each = SECOND // per_second
        parts = [of_moment(Moment(int(tick) * each, times.zone)) for tick in distinct]
        found[outside] = np.array(parts, np.int64)[places.reshape(-1)]
    return found.reshape(times.values.shape)


@functools.lru_cache(maxsize=64)
def _trusted(zone: str) -> tuple[int, int]:
    """The seconds between which Arrow has the zone's offsets; none where it lacks the zone, or its tables are short."""
    months = np.arange(*_REGION, 28 * 86_400)
    try:
        clock = pc.local_timestamp(pa.array(months, pa.timestamp("s", zone))).cast(pa.int64()).to_numpy()
    except pa.ArrowException:
        return (0, 0)
    offsets = [offset_at(zone, int(moment)) for moment in months]
    return _REGION if np.array_equal(clock - months, np.array(offsets)) else (0, 0)
