"""Reading events from files and writing matches to them, for the command line and the demo.

In: paths and a format that Spark knows. Out: DataFrames; files; lines of JSON. CSV has no place for an event
inside a row, so there the events of a match are written as JSON text. A stream is a folder that files are put into.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming import DataStreamWriter
from pyspark.sql.types import ArrayType, BinaryType, DataType, StructType

from cepheid.spark.streams import quoted

CSV_OPTIONS = {"header": "true", "escape": '"'}
READ_OPTIONS: Mapping[str, Mapping[str, str]] = {"csv": {**CSV_OPTIONS, "inferSchema": "true"}}
TIME_FORMATS = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""ISO 8601 with all that Spark has of a time; its own default ends with milliseconds."""

JSON_OPTIONS = {"ignoreNullFields": "false", **TIME_FORMATS}
WRITE_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "csv": {**CSV_OPTIONS, **TIME_FORMATS},
    "json": JSON_OPTIONS,
}


def read(session: SparkSession, paths: Sequence[str], format: str) -> DataFrame:
    """The events of some files of one format."""
    return session.read.format(format).options(**READ_OPTIONS.get(format, {})).load(list(paths))


def read_stream(session: SparkSession, path: str, format: str, files_at_once: int | None) -> DataFrame:
    """The events of the files in a folder, and of those that will be put there; their columns are those of the
    first."""
    reader = session.readStream.schema(read(session, [path], format).schema)
    if files_at_once is not None:
        reader = reader.option("maxFilesPerTrigger", files_at_once)
    return reader.format(format).options(**READ_OPTIONS.get(format, {})).load(path)


def write(frame: DataFrame, path: str, format: str, *, overwrite: bool = False) -> None:
    """Runs the query and writes its matches; refuses a path that exists unless told to overwrite it."""
    writer = _writable(frame, format).write.mode("overwrite" if overwrite else "errorifexists")
    writer.format(format).options(**WRITE_OPTIONS.get(format, {})).save(path)


def append(frame: DataFrame, path: str, format: str) -> None:
    """Writes more matches to where some are."""
    writer = _writable(frame, format).write.mode("append")
    writer.format(format).options(**WRITE_OPTIONS.get(format, {})).save(path)


def write_stream(frame: DataFrame, path: str, format: str) -> DataStreamWriter:
    """A writer, not yet started, of a stream's matches to a folder."""
    writer = _writable(frame, format).writeStream.format(format).outputMode("append")
    return writer.options(**WRITE_OPTIONS.get(format, {})).option("path", path)


def json_lines(frame: DataFrame) -> Iterator[str]:
    """Runs the query and gives each match as a line of JSON, one Spark partition in memory at a time."""
    lines = frame.select(sql.to_json(sql.struct("*"), JSON_OPTIONS).alias("line"))
    for row in lines.toLocalIterator():
        yield row["line"]


def _writable(frame: DataFrame, format: str) -> DataFrame:
    if format != "csv":
        return frame
    return frame.select(*(_flat(field.name, field.dataType) for field in frame.schema))


def _flat(name: str, dtype: DataType) -> Column:
    column = quoted(name)
    if isinstance(dtype, StructType | ArrayType):
        return sql.to_json(column, JSON_OPTIONS).alias(name)
    return sql.hex(column).alias(name) if isinstance(dtype, BinaryType) else column
