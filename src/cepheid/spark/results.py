"""The results of queries as DataFrames: what a script of several queries does with them (`cepheid.scripts`)."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from cepheid.scripts import END, ID, START
from cepheid.spark.streams import quoted
from cepheid.spark.types import to_arrow_schema

_FIRST = "first of equal matches"


class SparkResults:
    def types(self, found: DataFrame) -> pa.Schema:
        return to_arrow_schema(found.schema)

    def as_events(
        self, found: DataFrame, time: str, type: tuple[str, str], names: Sequence[str]
    ) -> DataFrame:
        name, value = type
        return found.select(
            quoted(END).alias(time), sql.lit(value).alias(name), quoted(ID), *map(quoted, names)
        )

    def united(self, one: DataFrame, other: DataFrame) -> DataFrame:
        return one.union(other.select(*map(quoted, one.columns)))

    def without_equal(self, found: DataFrame, names: Sequence[str]) -> DataFrame:
        first = sql.min(sql.struct(quoted(START), quoted(ID))).alias(_FIRST)
        grouped = found.groupBy(*map(quoted, (END, *names))).agg(first)
        of_first = {name: sql.col(_FIRST)[name].alias(name) for name in (START, ID)}
        return grouped.select(*(of_first.get(name, quoted(name)) for name in found.columns))

    def selected(self, found: DataFrame, names: Sequence[str]) -> DataFrame:
        return found.select(*map(quoted, names))

    def first(self, found: DataFrame, limit: int) -> DataFrame:
        return found.limit(limit)

    def length(self, found: DataFrame) -> int:
        return int(found.count())
