"""The description of files by which every command of the program reads them, also Spark.

In: paths, a format, the time column, and perhaps its format and a schema. Out: `Described`: the columns, their types,
and which of them are text in the files and are cast. `check` and `explain` take the types from it, `run` lets Spark
read with it, so that all of them see the same columns. Spark's timestamps are in microseconds; finer ones of Parquet
files are rounded down. Spark cannot read Parquet columns of times of day and some other types: these are left out, with
a warning.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from cepheid.algebra.precision import MOST_DIGITS
from cepheid.errors import CepheidError, warn
from cepheid.files.formats import FORMATS, files_of, format_of, is_local
from cepheid.files.reading import Files, csv_header, open_files, text_of_time, time_as_text
from cepheid.schema import check_names, counts_nanoseconds, require_column

_DIRECTIVES = {
    "Y": "yyyy",
    "y": "yy",
    "m": "MM",
    "d": "dd",
    "j": "DDD",
    "b": "MMM",
    "B": "MMMM",
    "H": "HH",
    "I": "hh",
    "p": "a",
    "M": "mm",
    "S": "ss",
    "f": "SSSSSSSSS",
    "z": "[XXX][XX][X]",
    "F": "yyyy-MM-dd",
    "T": "HH:mm:ss",
    "%": "%",
}


@dataclass(frozen=True, slots=True)
class Described:
    """`schema`: the columns of events on Spark. `stored`: the columns of the files, if the files do not tell them or
    Spark does not read all of them. `pattern`: a column and Java's pattern of its times; other times in text are ISO
    8601. `fine`: the columns in nanoseconds."""

    paths: tuple[str, ...]
    format: str
    schema: pa.Schema
    stored: pa.Schema | None
    pattern: tuple[str, str] | None
    fine: tuple[str, ...]
    files: Files | None


def describe(
    paths: Sequence[str],
    format: str | None = None,
    *,
    time: str | None = None,
    time_format: str | None = None,
    schema: pa.Schema | None = None,
) -> Described | None:
    """The description of these paths; None for formats and file systems that only Spark reads."""
    format = format or format_of(paths[0])
    if format not in FORMATS or not all(map(is_local, paths)):
        return None
    if format == "arrow":
        hint = "write Parquet, or give the path to `cepheid.match` in Python"
        raise CepheidError("bad-argument", f"{paths[0]}: Spark does not read Arrow files", hint=hint)
    files = None if schema is not None and format != "parquet" else open_files(paths, format)
    held = schema if files is None else files.schema
    assert held is not None
    check_names(held.names)
    is_text = format in ("csv", "json")
    readable = held if is_text else _readable(held, schema)
    stored, columns = _columns(paths, format, readable, schema)
    if time is not None and time_format is not None:
        require_column(columns.names, time, "time")
        columns = _with(columns, time, pa.timestamp("us", "UTC" if "%z" in time_format else None))
        if stored is not None:
            stored = _with(stored, time, pa.string())
    elif time is not None and files is not None and time in columns.names:
        found = columns.field(time).type
        if pa.types.is_string(found) and stored is None:
            found = time_as_text(files, time)
            columns = _with(columns, time, found)
        if pa.types.is_string(found):
            raise _no_time(files, time)
    # ORC has one type of timestamps, which pyarrow reads as nanoseconds and Spark as microseconds.
    fine = (
        tuple(field.name for field in readable if counts_nanoseconds(field.type))
        if format == "parquet"
        else ()
    )
    if not is_text and (len(readable) < len(held) or any(map(_is_extension, held.types))):
        stored = spark_schema(readable)
        for name in fine:
            stored = _with(stored, name, pa.int64())
    return Described(
        tuple(_known_files(paths) if is_text else paths),
        format,
        spark_schema(columns),
        stored,
        None if time is None or time_format is None else (time, java_pattern(time_format)),
        fine,
        files,
    )


def _readable(held: pa.Schema, wanted: pa.Schema | None) -> pa.Schema:
    """The columns that Spark can read; warns of other wanted columns."""
    found = [field for field in held if _is_readable(field.type)]
    for field in held:
        if field not in found and (wanted is None or field.name in wanted.names):
            warn(f"column `{field.name}` is left out: it has type {field.type}, which Spark does not read")
    return pa.schema(found)


def _is_readable(dtype: pa.DataType, inside: bool = False) -> bool:
    """Whether Spark reads columns of this type from a file."""
    if pa.types.is_dictionary(dtype):
        return _is_readable(dtype.value_type, inside)
    if _is_extension(dtype):
        return _is_readable(dtype.storage_type, inside)
    if pa.types.is_time(dtype) or pa.types.is_float16(dtype) or (inside and counts_nanoseconds(dtype)):
        return False
    if pa.types.is_decimal(dtype):
        return bool(dtype.precision <= MOST_DIGITS)
    return all(_is_readable(dtype.field(place).type, True) for place in range(dtype.num_fields))


def _columns(
    paths: Sequence[str], format: str, held: pa.Schema, given: pa.Schema | None
) -> tuple[pa.Schema | None, pa.Schema]:
    """The columns of the files, if the files do not tell them, and the columns of events."""
    columns = held if given is None else given
    if format == "csv":
        for field in columns:
            if pa.types.is_nested(field.type):
                message = f"column `{field.name}` is to be {field.type}, which CSV has no place for"
                raise CepheidError("bad-argument", message, hint="read JSON or Parquet")
        files = _known_files(paths, empty=given is not None)
        names = csv_header(files[0]) if os.path.isfile(files[0]) else columns.names
        for name in columns.names:
            require_column(names, name, "column of the schema")
        return pa.schema([(name, pa.string()) for name in names]), columns
    if format == "json":
        return pa.schema([(field.name, text_of_time(field.type)) for field in columns]), columns
    for name in columns.names:
        require_column(held.names, name, "column of the schema")
    return None, columns


def _known_files(paths: Sequence[str], *, empty: bool = True) -> list[str]:
    """The files; a folder of a stream may have none yet."""
    try:
        return files_of(paths)
    except CepheidError:
        if not empty:
            raise
        return list(paths)


def _with(schema: pa.Schema, name: str, dtype: pa.DataType) -> pa.Schema:
    return schema.set(schema.get_field_index(name), pa.field(name, dtype))


def _no_time(files: Files, time: str) -> CepheidError:
    if all(batch[time].null_count == len(batch) for batch in files.batches([time])):
        message = f"time column `{time}` has no values, so that its type is not known"
        hint = "give the types of all columns, for example --schema 'ts timestamp, price double'"
        return CepheidError("bad-time", message, hint=hint)
    return CepheidError(
        "bad-time",
        f"time column `{time}` is text, and not all of its values are ISO dates or timestamps, all of them with an "
        "offset or none",
        hint="say how they are written, for example --time-format '%d.%m.%Y %H:%M:%S'",
    )


def _is_extension(dtype: pa.DataType) -> bool:
    """Whether a type is an extension such as UUID, which Spark reads as its storage if the schema says so."""
    return isinstance(dtype, pa.BaseExtensionType)


def spark_schema(schema: pa.Schema) -> pa.Schema:
    """The types that Spark has for those of files.

    >>> spark_schema(pa.schema([("a", pa.uint32()), ("b", pa.timestamp("ns")), ("c", pa.large_string())]))
    a: int64
    b: timestamp[us]
    c: string
    """
    return pa.schema([pa.field(field.name, _spark_type(field.type)) for field in schema])


_OTHERS = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.null(): pa.int32(),
}


def _spark_type(dtype: pa.DataType) -> pa.DataType:
    if dtype in _OTHERS:
        return _OTHERS[dtype]
    if _is_extension(dtype):
        return _spark_type(dtype.storage_type)
    if pa.types.is_timestamp(dtype):
        return pa.timestamp("us", None if dtype.tz is None else "UTC")
    if pa.types.is_dictionary(dtype):
        return _spark_type(dtype.value_type)
    if pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype):
        return pa.string()
    if (
        pa.types.is_large_binary(dtype)
        or pa.types.is_binary_view(dtype)
        or pa.types.is_fixed_size_binary(dtype)
    ):
        return pa.binary()
    if pa.types.is_date(dtype):
        return pa.date32()
    if pa.types.is_duration(dtype):
        return pa.int64()  # what Parquet holds
    if pa.types.is_decimal(dtype):
        return pa.decimal128(dtype.precision, dtype.scale) if dtype.precision <= MOST_DIGITS else dtype
    if pa.types.is_struct(dtype):
        return pa.struct([pa.field(field.name, _spark_type(field.type)) for field in dtype])
    if pa.types.is_map(dtype):
        return pa.map_(_spark_type(dtype.key_type), _spark_type(dtype.item_type))
    if pa.types.is_nested(dtype):  # lists of all layouts
        return pa.list_(pa.field("element", _spark_type(dtype.value_type)))
    return dtype


def java_pattern(format: str) -> str:
    """A format with the directives of Python's `strptime` as one with the letters that Spark takes.

    >>> java_pattern("%d.%m.%Y at %H:%M")
    "dd.MM.yyyy' at 'HH:mm"
    """
    made, plain = "", ""
    at = 0
    while at < len(format):
        if format[at] != "%":
            plain, at = plain + format[at], at + 1
            continue
        letter = format[at + 1 : at + 2]
        if letter not in _DIRECTIVES:
            listed = " ".join(f"%{known}" for known in _DIRECTIVES)
            message = f"`%{letter}` is not known in the time format `{format}`"
            raise CepheidError("bad-argument", message, hint=f"known are {listed}")
        made, plain, at = made + _quoted(plain) + _DIRECTIVES[letter], "", at + 2
    return made + _quoted(plain)


def _quoted(plain: str) -> str:
    """Text that stands for itself."""
    if not any(sign.isalpha() or sign in "[]{}#'" for sign in plain):
        return plain
    return "'" + plain.replace("'", "''") + "'"
