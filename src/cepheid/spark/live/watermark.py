"""Spark's watermark and the times of a stream.

Spark's event time is a timestamp, its watermark is in milliseconds. Both are translated here: the time column into a
timestamp with a watermark, and the watermark into a time of the stream in the unit of `streams.times`.

| the time column | one millisecond of Spark's watermark is |
| --- | --- |
| timestamp, date | a millisecond |
| whole number | 1 |
| real number | 0.001 |

All rows at or before the watermark have arrived; rows that arrive after it has passed them are *late*. The watermark
starts at 0 and never goes back, so 0 means none. Until it moves, the buckets compute their own from the newest times
that the source's tasks send, by the same rule: the newest time of earlier micro-batches less the delay
(`Bucket.passed`). So times before 1970 pass, too.
"""

from __future__ import annotations

import datetime as dt
import math

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from cepheid.errors import CepheidError
from cepheid.schema import HIDDEN, Schema
from cepheid.spark.live.delays import EXAMPLE, MOST_MS, milliseconds_of
from cepheid.spark.naming import inner
from cepheid.spark.streams import column

AT = f"{HIDDEN}at"
DELAY = "spark.watermarkDelayMs"  # how Spark notes a watermark in the metadata of a column


def with_watermark(
    rows: DataFrame, schema: Schema, watermark: str | float | dt.timedelta | None
) -> tuple[DataFrame, int]:
    """The rows with a watermark on their time, the argument or the rows' own, and its delay in milliseconds."""
    fields = rows.schema.fields
    has = [name for name, field in zip(schema.names, fields, strict=True) if DELAY in (field.metadata or {})]
    if has:
        if has != [schema.time] or watermark is not None:
            message = f"the DataFrame has a watermark already, on `{has[0]}`, and Spark allows one"
            hint = f"leave out `withWatermark`, or set it on `{schema.time}` and leave out `watermark`"
            raise CepheidError("bad-argument", message, hint=hint)
        place = schema.names.index(schema.time)
        return rows, int(fields[place].metadata[DELAY])
    delay = delay_of(schema, watermark)
    if _is_spark_timestamp(rows, schema):
        return rows.withWatermark(inner(schema.time), f"{delay} milliseconds"), delay
    return rows.withColumn(AT, _moment(schema)).withWatermark(AT, f"{delay} milliseconds"), delay


def delay_of(schema: Schema, watermark: str | float | dt.timedelta | None) -> int:
    """How long Spark is to wait for late rows, in milliseconds of its watermark.

    >>> from cepheid.schema import schema_of
    >>> delay_of(schema_of(pa.schema([("ts", pa.float64())]), time="ts"), 2.5)
    2500
    """
    dtype = schema.time_type
    counted = pa.types.is_integer(dtype) or pa.types.is_floating(dtype)
    if watermark is None:
        example = "10" if counted else EXAMPLE
        message = "a stream needs a watermark: how much later than others a row may come"
        hint = f"add `watermark={example}`; rows that come later still are counted, or go where `late` says"
        raise CepheidError("bad-argument", message, hint=hint)
    if not counted:
        return milliseconds_of(watermark)
    try:
        number = float(watermark)  # type: ignore[arg-type]  # whatever it is
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(watermark, bool) or not 0 <= number < MOST_MS / 1000:
        hint = f"`{schema.time}` counts in units of its own, and so does its watermark: a number such as 10"
        raise CepheidError(
            "bad-argument", f"`watermark` requires a number from 0; got `{watermark!r}` instead", hint=hint
        )
    return math.ceil(number * (1000 if pa.types.is_floating(dtype) else 1))


def passed(watermark_ms: int, dtype: pa.DataType) -> int | float | None:
    """The time up to which all rows have come, by Spark's watermark; None before there is one.

    >>> passed(1500, pa.timestamp("us")), passed(1500, pa.int64()), passed(1500, pa.float64()), passed(0, pa.int64())
    (1500000, 1500, 1.5, None)
    """
    return None if watermark_ms <= 0 else moment_of(watermark_ms, dtype)


def moment_of(watermark_ms: int, dtype: pa.DataType) -> int | float:
    """A watermark as a time of the stream."""
    if pa.types.is_floating(dtype):
        return watermark_ms / 1000
    return watermark_ms if pa.types.is_integer(dtype) else watermark_ms * 1000


def spark_ms(time: int | float, schema: Schema) -> int:
    """A time of the stream as Spark's watermark counts it, the other way round than `moment_of`.

    >>> from cepheid.schema import schema_of
    >>> spark_ms(-0.0015, schema_of(pa.schema([("ts", pa.float64())]), time="ts"))
    -2
    """
    if pa.types.is_floating(schema.time_type):
        return math.floor(time * 1_000_000) // 1000
    return int(time) if pa.types.is_integer(schema.time_type) else int(time) // 1000


def _is_spark_timestamp(rows: DataFrame, schema: Schema) -> bool:
    return bool(rows.schema[inner(schema.time)].dataType.typeName() == "timestamp")


def _moment(schema: Schema) -> Column:
    """The time as a timestamp. A time out of a timestamp's range is Spark's error; NULL is the engine's."""
    time, dtype = column(schema.time), schema.time_type
    if pa.types.is_date(dtype):
        return sql.timestamp_seconds(sql.unix_date(time).cast("bigint") * 86_400)
    if pa.types.is_timestamp(dtype):  # without a time zone: as if in UTC
        since = time - sql.lit("1970-01-01").cast("timestamp_ntz")
        return sql.timestamp_micros(sql.lit(0)) + since
    if pa.types.is_floating(dtype):
        return sql.timestamp_micros(sql.floor(time * 1_000_000).cast("bigint"))
    return sql.timestamp_millis(time.cast("bigint"))
