"""How files are read by every command of the program: one description, made here and given to Spark.

In: paths, a format, the time column, and perhaps its format and a schema. Out: `Described`: which columns there are, of
which types, and which of them are text in the files and are to be cast. `check` and `explain` take the types from it,
`run` has Spark read with it, so that all of them see the same columns. Spark's timestamps count in microseconds;
finer ones of Parquet files are rounded down.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from cepheid.errors import CepheidError
from cepheid.files.formats import FORMATS, files_of, format_of, is_local
from cepheid.files.reading import Files, csv_header, open_files, text_of_time, time_as_text
from cepheid.schema import require_column

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
    """`schema` has the columns as events carry them on Spark, `stored` what the files hold where they do not say it
    themselves. The column in `pattern` is read by that pattern of Java's, other times that are text as ISO has them.
    The columns `fine` count in nanoseconds."""

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
    """What is read from these paths; None where only Spark can tell: other formats, other file systems."""
    format = format or format_of(paths[0])
    if format not in FORMATS or not all(map(is_local, paths)):
        return None
    if format == "arrow":
        raise CepheidError(
            "bad-argument",
            f"{paths[0]}: Spark does not read Arrow files",
            hint="write Parquet, or give the path to `cepheid.match` in Python",
        )
    files = None if schema is not None and format != "parquet" else open_files(paths, format)
    held = schema if files is None else files.schema
    assert held is not None
    stored, columns = _columns(paths, format, _known_to_spark(held), schema)
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
            raise _no_time(time)
    return Described(
        tuple(paths if stored is None else _known_files(paths)),
        format,
        spark_schema(columns),
        stored,
        None if time is None or time_format is None else (time, java_pattern(time_format)),
        tuple(field.name for field in held if _is_fine(field.type)) if stored is None else (),
        files,
    )


def _known_to_spark(schema: pa.Schema) -> pa.Schema:
    """Refuses what Spark refuses: it reads no file with a column of times of day, whether it is used or not."""
    for field in schema:
        if pa.types.is_time(field.type):
            message = f"column `{field.name}` holds times of day, and Spark reads no file with such a column"
            raise CepheidError("bad-data", message, hint="write the files without it, or as text")
    return schema


def _columns(
    paths: Sequence[str], format: str, held: pa.Schema, given: pa.Schema | None
) -> tuple[pa.Schema | None, pa.Schema]:
    """What the files hold, where they do not say, and what is made of it."""
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


def _no_time(time: str) -> CepheidError:
    return CepheidError(
        "bad-time",
        f"time column `{time}` is text, and not all of its values are ISO dates or timestamps",
        hint="say how they are written, for example --time-format '%d.%m.%Y %H:%M:%S'",
    )


def _is_fine(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(dtype) and dtype.unit == "ns")


def spark_schema(schema: pa.Schema) -> pa.Schema:
    """The types that Spark has for those of files.

    >>> spark_schema(pa.schema([("a", pa.uint32()), ("b", pa.timestamp("ns")), ("c", pa.large_string())]))
    a: int64
    b: timestamp[us]
    c: string
    """
    return pa.schema([pa.field(field.name, _spark_type(field.type)) for field in schema])


_UNSIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}


def _spark_type(dtype: pa.DataType) -> pa.DataType:
    if dtype in _UNSIGNED:
        return _UNSIGNED[dtype]
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
        return pa.decimal128(dtype.precision, dtype.scale) if dtype.precision <= 38 else dtype
    if pa.types.is_struct(dtype):
        return pa.struct([pa.field(field.name, _spark_type(field.type)) for field in dtype])
    if pa.types.is_list(dtype) or pa.types.is_large_list(dtype):
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
            raise CepheidError(
                "bad-argument",
                f"`%{letter}` is not known in the time format `{format}`",
                hint=f"known are {listed}",
            )
        made, plain, at = made + _quoted(plain) + _DIRECTIVES[letter], "", at + 2
    return made + _quoted(plain)


def _quoted(plain: str) -> str:
    """Text that stands for itself."""
    if not any(sign.isalpha() or sign in "[]{}#'" for sign in plain):
        return plain
    return "'" + plain.replace("'", "''") + "'"
