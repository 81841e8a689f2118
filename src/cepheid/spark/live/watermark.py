"""Spark's watermark and the times of a stream.

Spark knows one kind of event time, a timestamp, and counts its watermark in milliseconds. Here both are translated:
the time column into a timestamp that Spark can watch, and its watermark into a time of the stream, as `streams.times`
counts.

| the time column | one millisecond of Spark's watermark is |
| --- | --- |
| timestamp, date | a millisecond |
| whole number | 1 |
| real number | 0.001 |

All rows at or before the watermark have come; those that come later are *late*. Spark's watermark starts at 0 and never
goes back, so 0 says nothing, and a stream of times before that waits.
"""

from __future__ import annotations

import math

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from cepheid.errors import CepheidError
from cepheid.schema import HIDDEN, Schema
from cepheid.spark.streams import quoted

AT = f"{HIDDEN}at"
DELAY = "spark.watermarkDelayMs"  # how Spark notes a watermark in the metadata of a column
_LARGEST = (2**63 - 1) // 1000


def watched(rows: DataFrame, schema: Schema, watermark: str | float | None) -> DataFrame:
    """The rows with a watermark on their time: the one given, or the one they have."""
    has = [field.name for field in rows.schema.fields if DELAY in (field.metadata or {})]
    if has:
        if has != [schema.time] or watermark is not None:
            raise CepheidError(
                "bad-argument",
                f"the DataFrame has a watermark already, on `{has[0]}`, and Spark allows one",
                hint=f"leave out `withWatermark`, or set it on `{schema.time}` and leave out `watermark`",
            )
        return rows
    delay = delay_of(schema, watermark)
    if _is_watched_as_it_is(rows, schema):
        return rows.withWatermark(schema.time, delay)
    return rows.withColumn(AT, _moment(schema)).withWatermark(AT, delay)


def delay_of(schema: Schema, watermark: str | float | None) -> str:
    """How long Spark is to wait for late rows, in its words.

    >>> from cepheid.schema import schema_of
    >>> delay_of(schema_of(pa.schema([("ts", pa.float64())]), time="ts"), 2.5)
    '2500 milliseconds'
    """
    dtype = schema.time_type
    counted = pa.types.is_integer(dtype) or pa.types.is_floating(dtype)
    if watermark is None:
        example = "10" if counted else '"10 seconds"'
        raise CepheidError(
            "bad-argument",
            "a stream needs a watermark: how much later than others a row may come",
            hint=f"add `watermark={example}`; rows that come later still are counted, or go where `late` says",
        )
    if not counted:
        if not isinstance(watermark, str):
            hint = 'with a time column of timestamps it is a duration, like "10 seconds"'
            raise CepheidError(
                "bad-argument", f"`watermark` requires a text; got `{watermark!r}` instead", hint=hint
            )
        return watermark
    try:
        number = float(watermark)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(watermark, bool) or not 0 <= number < _LARGEST / 1000:
        hint = f"`{schema.time}` counts in units of its own, and so does its watermark: a number such as 10"
        raise CepheidError(
            "bad-argument", f"`watermark` requires a number from 0; got `{watermark!r}` instead", hint=hint
        )
    return f"{math.ceil(number * (1000 if pa.types.is_floating(dtype) else 1))} milliseconds"


def passed(watermark_ms: int, dtype: pa.DataType) -> int | float | None:
    """The time up to which all rows have come, by Spark's watermark; None before there is one.

    >>> passed(1500, pa.timestamp("us")), passed(1500, pa.int64()), passed(1500, pa.float64()), passed(0, pa.int64())
    (1500000, 1500, 1.5, None)
    """
    if watermark_ms <= 0:
        return None
    if pa.types.is_floating(dtype):
        return watermark_ms / 1000
    return watermark_ms if pa.types.is_integer(dtype) else watermark_ms * 1000


def _is_watched_as_it_is(rows: DataFrame, schema: Schema) -> bool:
    return bool(rows.schema[schema.time].dataType.typeName() == "timestamp")


def _moment(schema: Schema) -> Column:
    """The time as a timestamp. One beyond what a timestamp can be is an error of Spark's; NULL is left to the
    engine."""
    time, dtype = quoted(schema.time), schema.time_type
    if pa.types.is_date(dtype):
        return sql.timestamp_seconds(sql.unix_date(time).cast("bigint") * 86_400)
    if pa.types.is_timestamp(dtype):  # without a time zone: as if in UTC
        since = time - sql.lit("1970-01-01").cast("timestamp_ntz")
        return sql.timestamp_micros(sql.lit(0)) + since
    if pa.types.is_floating(dtype):
        return sql.timestamp_micros(sql.floor(time * 1_000_000).cast("bigint"))
    return sql.timestamp_millis(time.cast("bigint"))
