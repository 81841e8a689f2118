"""Reading events from files and writing matches to them, for the command line and the demo.

In: paths and a format that Spark knows. Out: DataFrames; files; lines of JSON. CSV has no place for an event
inside a row, so there the events of a match are written as JSON text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import ArrayType, BinaryType, DataType, StructType

from cepheid.spark.streams import quoted

CSV_OPTIONS = {"header": "true", "escape": '"'}
READ_OPTIONS: Mapping[str, Mapping[str, str]] = {"csv": {**CSV_OPTIONS, "inferSchema": "true"}}
KEEP_NULLS = {"ignoreNullFields": "false"}


def read(session: SparkSession, paths: Sequence[str], format: str) -> DataFrame:
    """The events of some files of one format."""
    return session.read.format(format).options(**READ_OPTIONS.get(format, {})).load(list(paths))


def write(frame: DataFrame, path: str, format: str, *, overwrite: bool = False) -> None:
    """Runs the query and writes its matches; refuses a path that exists unless told to overwrite it."""
    rows = (
        frame.select(*(_flat(field.name, field.dataType) for field in frame.schema))
        if format == "csv"
        else frame
    )
    writer = rows.write.mode("overwrite" if overwrite else "errorifexists")
    if format == "csv":
        writer = writer.options(**CSV_OPTIONS)
    if format == "json":
        writer = writer.options(**KEEP_NULLS)
    writer.format(format).save(path)


def json_lines(frame: DataFrame) -> Iterator[str]:
    """Runs the query and gives each match as a line of JSON, one Spark partition in memory at a time."""
    lines = frame.select(sql.to_json(sql.struct("*"), KEEP_NULLS).alias("line"))
    for row in lines.toLocalIterator():
        yield row["line"]


def _flat(name: str, dtype: DataType) -> Column:
    column = quoted(name)
    if isinstance(dtype, StructType | ArrayType):
        return sql.to_json(column, KEEP_NULLS).alias(name)
    return sql.hex(column).alias(name) if isinstance(dtype, BinaryType) else column
