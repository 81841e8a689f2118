"""Several streams as one DataFrame.

In: a DataFrame, or a dict from stream name to DataFrame. Out: one DataFrame with the attributes of all by
name, NULL where a stream lacks one; an event without a type column has its stream's name as type.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from cepheid.schema import DEFAULT_TYPE
from cepheid.spark.types import to_arrow_schema
from cepheid.streams.zones import common_zones


def quoted(name: str) -> Column:
    """A column by its exact name, dots and backticks included."""
    return sql.col("`" + name.replace("`", "``") + "`")


def union_streams(data: DataFrame | Mapping[str, DataFrame], type: str | None) -> DataFrame:
    """The events of all streams; rows keep the order of the streams, and inside each their own. Spark would read
    timestamps without a zone beside others in the session's: that is refused, as in process."""
    if isinstance(data, DataFrame):
        return data
    common_zones({name: to_arrow_schema(frame.schema) for name, frame in data.items()})
    first, *others = (_typed(frame, name, type or DEFAULT_TYPE) for name, frame in data.items())
    for frame in others:
        first = first.unionByName(frame, allowMissingColumns=True)
    return first


def _typed(frame: DataFrame, stream: str, type: str) -> DataFrame:
    return frame if type in frame.columns else frame.withColumn(type, sql.lit(stream))
