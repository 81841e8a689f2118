"""Several streams as one DataFrame.

In: a DataFrame, or a dict from stream name to DataFrame. Out: one DataFrame with the attributes of all by
name, NULL where a stream lacks one; an event without a type column has its stream's name as type.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from cepheid.schema import DEFAULT_TYPE


def quoted(name: str) -> Column:
    """A column by its exact name, dots and backticks included."""
    return sql.col("`" + name.replace("`", "``") + "`")


def union_streams(data: DataFrame | Mapping[str, DataFrame], type: str | None) -> DataFrame:
    """The events of all streams; rows keep the order of the streams, and inside each their own."""
    if isinstance(data, DataFrame):
        return data
    first, *others = (_typed(frame, name, type or DEFAULT_TYPE) for name, frame in data.items())
    for frame in others:
        first = first.unionByName(frame, allowMissingColumns=True)
    return first


def _typed(frame: DataFrame, stream: str, type: str) -> DataFrame:
    return frame if type in frame.columns else frame.withColumn(type, sql.lit(stream))
