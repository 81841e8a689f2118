"""Time slices: a stream without partitions, cut so that several tasks can match it at once.

In: a DataFrame, its time column, a time window w, the longest wait v and a number of slices. Out: the rows with the
number of their slice. Slice k holds the rows with time in [cutₖ − w, cutₖ₊₁ + v] and reports the matches that end in
[cutₖ, cutₖ₊₁): every match ends in exactly one slice and, lasting w at most, lies in it whole, and so do the events
that a NOT after its end forbids, which come v after it at most. Without such a NOT the slice ends before cutₖ₊₁. Cuts
are values of time, so that rows with the same time stay together.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from cepheid.algebra.nodes import Query, WindowUnit
from cepheid.algebra.reach import longest_wait, looks_everywhere
from cepheid.algebra.unmarked_prefix import lead
from cepheid.schema import HIDDEN, Schema
from cepheid.spark.streams import column
from cepheid.spark.task import OVERLAP
from cepheid.streams.times import MICROSECONDS_PER_DAY, times_of

CORES_THAT_PAY = 8
"""Slices cost two to four times the CPU of one ordered task (shuffle, overlap), so they need twice as many cores."""

WINDOWS_PER_SLICE = 4
"""By default a slice lasts at least so many windows, so that at most a fifth of its rows is overlap."""

ACCURACY = 1_000
SLICE = f"{HIDDEN}slice"


@dataclass(frozen=True, slots=True)
class Cuts:
    """Times as numbers (`streams.times`), ascending, at which a new slice begins, and the window and the longest wait
    likewise; None: no match waits."""

    at: tuple[float, ...]
    within: float
    wait: float | None = None


def why_not(query: Query) -> str | None:
    """Why a query without partitions cannot be cut into time slices; None when it can.

    >>> from cepheid.algebra.nodes import Atom
    >>> why_not(Query(Atom("A")))
    'it has no window'
    """
    if query.consume:
        return "CONSUME makes every match depend on the ones before it"
    if query.window is None:
        return "it has no window"
    if query.window.unit is WindowUnit.EVENTS:
        return "its window counts events, not time"
    if lead(query.pattern):
        return "it may read events before the first that it marks, which no window bounds"
    if looks_everywhere(query.pattern):
        return "a strategy inside the formula looks beyond the query's window"
    return None


def find_cuts(rows: DataFrame, schema: Schema, query: Query, slices: int, *, asked: bool) -> Cuts:
    """Cuts that give slices about the same number of rows. Runs one small job over the time column.

    Fewer cuts come back where the times are too few, or, unless the number was asked for, where slices would
    be shorter than is worth their overlap.
    """
    assert query.window is not None
    within, wait = query.window.amount, longest_wait(query)
    time = column(schema.time)
    shares = [k / slices for k in range(slices + 1)]
    # The ends and the quantiles in one row; through Arrow, which keeps timestamps exact.
    found = (
        rows.select(sql.percentile_approx(time, shares, ACCURACY).alias("cut"))
        .toArrow()["cut"]
        .combine_chunks()
    )
    values = pc.drop_null(found.flatten())
    if pa.types.is_floating(values.type):
        values = values.filter(pc.invert(pc.is_nan(values)))
    if len(values) < 2:
        return Cuts((), within, wait)
    low, *inner, high = times_of(values, schema.time).tolist()
    at = sorted({cut for cut in inner if low < cut})
    overlap = within + (wait or 0)
    if not asked and overlap * WINDOWS_PER_SLICE * slices > high - low:
        most = int((high - low) // (overlap * WINDOWS_PER_SLICE))
        at = at[:: math.ceil(slices / most)] if most > 1 else []
    return Cuts(tuple(at), within, wait)


def sliced(rows: DataFrame, schema: Schema, cuts: Cuts) -> DataFrame:
    """Each row once per slice that needs it, one slice per Spark partition, rows of overlaps marked."""
    time = column(schema.time)
    dtype = schema.time_type
    own = _how_many(time >= _literal(cut, dtype) for cut in cuts.at)
    last = _how_many(time >= _literal(_reach(cut, cuts.within, dtype), dtype) for cut in cuts.at)
    first = own
    if cuts.wait is not None:
        wait = cuts.wait
        first = _how_many(time > _literal(_end(cut, wait, dtype), dtype) for cut in cuts.at)
    copies = rows.withColumn(SLICE, sql.explode(sql.sequence(first, last))).withColumn(
        OVERLAP, sql.col(SLICE) != own
    )
    return copies.repartitionById(len(cuts.at) + 1, sql.col(SLICE)).drop(SLICE)


def _how_many(tests: Iterable[Column]) -> Column:
    """How many of the tests hold. A NULL time goes to slice 0, which refuses it."""
    total = sql.lit(0)
    for test in tests:
        total = total + sql.when(test, 1).otherwise(0)
    return total


def _reach(cut: float, within: float, dtype: pa.DataType) -> float:
    """The earliest time at which a match that ends at the cut may begin."""
    if pa.types.is_floating(dtype):
        # Rounding must not leave a row out; a few rows too many do no harm.
        return cut - within - 4 * float(np.spacing(max(abs(cut), within)))
    return max(cut - math.ceil(within), np.iinfo(np.int64).min)


def _end(cut: float, wait: float, dtype: pa.DataType) -> float:
    """A time after which nothing can forbid a match that ends before the cut."""
    if pa.types.is_floating(dtype):
        return cut + wait + 4 * float(np.spacing(max(abs(cut), wait)))
    return min(cut + math.floor(wait), np.iinfo(np.int64).max)


def _literal(number: float, dtype: pa.DataType) -> Column:
    """A time given as a number, as a value of the time column's type."""
    if pa.types.is_date(dtype):
        return sql.date_from_unix_date(sql.lit(int(number // MICROSECONDS_PER_DAY)))
    if pa.types.is_timestamp(dtype) and dtype.tz is None:
        # From a text, so that no time zone plays a part, and by an interval, which has room for all years.
        return sql.lit("1970-01-01").cast("timestamp_ntz") + sql.lit(dt.timedelta(microseconds=int(number)))
    if pa.types.is_timestamp(dtype):
        return sql.timestamp_micros(sql.lit(int(number)))
    return sql.lit(float(number) if pa.types.is_floating(dtype) else int(number))
