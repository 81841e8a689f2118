"""The user's DataFrames as one DataFrame of events, whose columns have inner names.

In: a DataFrame, or a dict from stream name to DataFrame. Out: one DataFrame with the attributes of all by name, NULL
where a stream lacks one; an event without a type column has its stream's name as type.

Columns are renamed by position before anything refers to them (`naming.py`); types that Spark does not send to Python,
such as intervals of months, are cast to a type that it does (`carriers.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from cepheid.algebra.zones import checked_zone
from cepheid.errors import CepheidError
from cepheid.schema import DEFAULT_TYPE, check_names
from cepheid.spark.carriers import arrow_schema, carried
from cepheid.spark.naming import inner
from cepheid.spark.zones import session_zone
from cepheid.streams.zones import common_zones, zoned_schema


def column(name: str) -> Column:
    """A user's column in a DataFrame that `union_streams` gave."""
    return sql.col(inner(name))


def engine_schema(frame: DataFrame, zone: str | None, names: list[str] | None = None) -> pa.Schema:
    """The columns of a DataFrame, under these names, as Arrow types; timestamps in `zone`, else in the zone of the
    session on the driver when the query is planned."""
    shown_in = checked_zone(zone) or session_zone(frame.sparkSession)
    return zoned_schema(arrow_schema(frame.schema, names), shown_in)


def union_streams(
    data: DataFrame | Mapping[str, DataFrame], type: str | None, zone: str | None = None
) -> tuple[DataFrame, pa.Schema]:
    """The events of all streams, in the order of the streams and of each stream's rows, and their columns as the engine
    sees them. Timestamps with and without a zone in one column are refused, as in-process: Spark would read the latter
    in the session's zone."""
    if isinstance(data, DataFrame):
        frames = [_renamed(data)]
        names = list(data.columns)
    else:
        chosen = type or DEFAULT_TYPE
        common_zones({name: arrow_schema(frame.schema) for name, frame in data.items()})
        frames = [_typed(frame, name, chosen) for name, frame in data.items()]
        names = list(
            dict.fromkeys(
                name
                for frame in data.values()
                for name in (*frame.columns, *(() if chosen in frame.columns else (chosen,)))
            )
        )
    rows, *others = frames
    try:
        for frame in others:
            rows = rows.unionByName(frame, allowMissingColumns=True)
        types = rows.schema
    except PySparkException as error:
        said = str(error).strip().partition("\n")[0]
        raise CepheidError("bad-data", f"the streams do not fit together: {said}") from error
    return carried(rows, types), engine_schema(rows, zone, names)


def quoted(name: str) -> Column:
    """A column by its exact name, dots and backticks included; not where two names differ only in case."""
    return sql.col("`" + name.replace("`", "``") + "`")


def _renamed(frame: DataFrame) -> DataFrame:
    check_names(frame.columns)
    return frame.toDF(*map(inner, frame.columns))


def _typed(frame: DataFrame, stream: str, type: str) -> DataFrame:
    renamed = _renamed(frame)
    return renamed if type in frame.columns else renamed.withColumn(inner(type), sql.lit(stream))
