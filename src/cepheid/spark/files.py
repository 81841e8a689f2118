"""Reading events from files and writing matches to them, for the command line and the demo.

In: paths and a format that Spark knows. Out: DataFrames; files; lines of JSON. CSV has no place for an event
inside a row, so there the events of a match are written as JSON text. A stream is a folder that files are put into.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming import DataStreamReader, DataStreamWriter
from pyspark.sql.types import ArrayType, BinaryType, DataType, StructType, TimestampNTZType

from cepheid.files.described import Described
from cepheid.spark.streams import quoted
from cepheid.spark.types import from_arrow_schema

CSV_OPTIONS = {"header": "true", "escape": '"'}
READ_OPTIONS: Mapping[str, Mapping[str, str]] = {"csv": {**CSV_OPTIONS, "inferSchema": "true"}}
STRICT = {"mode": "FAILFAST"}  # else values that do not fit become NULL silently
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
    """The events of the files in a folder, and of those that will be put there, with the columns of the first."""
    schema = read(session, [path], format).schema
    return _stream(session, schema, format, READ_OPTIONS.get(format, {}), files_at_once).load(path)


def read_described(session: SparkSession, described: Described) -> DataFrame:
    """The events of files whose columns are known."""
    reader = session.read.format(described.format).options(**_options(session, described))
    if described.stored is not None:
        reader = reader.schema(from_arrow_schema(described.stored))
    return _typed(reader.load(list(described.paths)), described)


def stream_described(
    session: SparkSession, folder: str, described: Described, files_at_once: int | None
) -> DataFrame:
    """The events of the files in a folder, and of those that will be put there, which have the same columns."""
    options = _options(session, described)
    if described.stored is not None:
        stored = from_arrow_schema(described.stored)
    else:
        stored = session.read.format(described.format).load(list(described.paths)).schema
    return _typed(_stream(session, stored, described.format, options, files_at_once).load(folder), described)


def _stream(
    session: SparkSession,
    schema: StructType,
    format: str,
    options: Mapping[str, str],
    files_at_once: int | None,
) -> DataStreamReader:
    reader = session.readStream.schema(schema).format(format).options(**options)
    return reader if files_at_once is None else reader.option("maxFilesPerTrigger", files_at_once)


def _options(session: SparkSession, described: Described) -> dict[str, str]:
    if described.fine:
        session.conf.set("spark.sql.legacy.parquet.nanosAsLong", "true")
    if described.format == "csv":
        # An empty field is NULL, a quoted empty one is empty text: two marks, or both are NULL. Headers must agree.
        return {**CSV_OPTIONS, **STRICT, "nullValue": "\0", "emptyValue": "", "enforceSchema": "false"}
    return dict(STRICT) if described.format == "json" else {}


def _typed(frame: DataFrame, described: Described) -> DataFrame:
    """The columns in the types that were described; a value that has none of its type is an error."""
    types = {field.name: field.dataType for field in from_arrow_schema(described.schema)}
    return frame.select(
        *(_cast(quoted(name), name, dtype, described).alias(name) for name, dtype in types.items())
    )


def _cast(column: Column, name: str, dtype: DataType, described: Described) -> Column:
    zoned = not isinstance(dtype, TimestampNTZType)
    if name in described.fine:
        micros = sql.call_function("div", column - sql.pmod(column, sql.lit(1000)), sql.lit(1000))
        moment = sql.timestamp_micros(micros)
        # Without a zone it is what a clock in UTC shows.
        return moment if zoned else sql.convert_timezone(None, sql.lit("UTC"), moment)
    if described.pattern is not None and name == described.pattern[0]:
        parse = sql.to_timestamp_ltz if zoned else sql.to_timestamp_ntz
        return parse(column, sql.lit(described.pattern[1]))
    return column.cast(dtype)


def write(frame: DataFrame, path: str, format: str, mode: str = "errorifexists") -> None:
    """Runs the query and writes its matches; `mode` as Spark has it: errorifexists, overwrite or append."""
    writer = _writable(frame, format).write.mode(mode)
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
