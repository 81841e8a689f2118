"""Data of the user's kind to Arrow and back: pyarrow, pandas and polars in, the same kind out.

Readers, datasets and paths are read piece by piece: `feeds.py`. A kind is recognised by the module of its class, so
that nothing is imported that the user does not have.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from os import PathLike
from typing import Any

import pyarrow as pa

from cepheid.algebra.precision import INTEGER_DIGITS
from cepheid.errors import CepheidError
from cepheid.schema import DEFAULT_TYPE, require_column, unreadable
from cepheid.streams.plain import plain_schema, plain_table
from cepheid.streams.zones import common_zones, in_zones


def kind_of(data: Any) -> str:
    """One of arrow, batch, pandas, polars, polars-lazy, spark, pandas-on-spark; or reader, stream, dataset, path and
    feed.

    >>> kind_of(pa.table({"ts": [1]})), kind_of("ticks.parquet")
    ('arrow', 'path')
    """
    if isinstance(data, pa.Table):
        return "arrow"
    if isinstance(data, pa.RecordBatch):
        return "batch"
    if isinstance(data, pa.RecordBatchReader):
        return "reader"
    for cls in type(data).__mro__:
        package = cls.__module__.partition(".")[0]
        kind = _KINDS.get((cls.__module__, cls.__name__)) or _KINDS.get((package, cls.__name__))
        if kind is not None:
            return kind
    if isinstance(data, str | PathLike):
        return "path"
    if hasattr(data, "__arrow_c_stream__"):
        return "stream"
    raise CepheidError(
        "bad-data",
        f"cannot read a {type(data).__module__}.{type(data).__name__} as a stream of events",
        hint="give a pyarrow Table, RecordBatch, reader or dataset, a pandas, polars or Spark frame, anything else "
        "with `__arrow_c_stream__`, the path of a file or folder, or a dict of these",
    )


_KINDS = {
    ("pyspark.pandas.frame", "DataFrame"): "pandas-on-spark",
    ("pandas", "DataFrame"): "pandas",
    ("polars", "DataFrame"): "polars",
    ("polars", "LazyFrame"): "polars-lazy",
    ("pyspark", "DataFrame"): "spark",
    ("cepheid", "Feed"): "feed",
    ("pyarrow._dataset", "Dataset"): "dataset",
}
"""Kinds by the module of a class, or its package, and its name."""


def to_arrow(data: Any) -> pa.Table:
    """Data of any in-process kind as an Arrow table in plain layouts."""
    kind = kind_of(data)
    try:
        return plain_table(_read(data, kind))
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        hint = "each column needs values of one type and a name of its own"
        raise CepheidError("bad-data", f"the {kind} data cannot be read: {error}", hint=hint) from error


def _read(data: Any, kind: str) -> pa.Table:
    match kind:
        case "arrow":
            return data
        case "batch":
            return pa.Table.from_batches([data])
        case "pandas":
            return _from_pandas(data)
        case "polars":
            return _from_polars(data)
        case "polars-lazy":
            return _from_polars(data.collect())
        case "stream":
            return pa.RecordBatchReader.from_stream(data).read_all()
        case other:
            raise CepheidError("bad-data", f"{other} data cannot be mixed with data of other kinds")


def _from_pandas(data: Any) -> pa.Table:
    """The frame without its index. A column that Arrow has no type for is left unread."""
    try:
        return pa.Table.from_pandas(data, preserve_index=False)
    except (pa.ArrowException, TypeError):  # a TypeError is about sparse columns
        columns, fields = [], []
        for place, name in enumerate(data.columns):
            try:
                values = _from_series(data.iloc[:, place])
                values.validate()
                field = pa.field(str(name), values.type)
            except (pa.ArrowException, TypeError) as error:
                reason = str(error.args[0] if error.args else error).splitlines()[0]
                field = unreadable(str(name), f"cannot be read: {reason}")
                values = pa.nulls(len(data), field.type)
            fields.append(field)
            columns.append(values)
        return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _from_series(series: Any) -> pa.ChunkedArray:
    """A column of pandas. Empty chunks of Arrow arrays are left out: after slicing, their children may be too short for
    Arrow's validation, as those of NULL maps are."""
    if not hasattr(series.dtype, "pyarrow_dtype"):
        return pa.Table.from_pandas(series.to_frame(), preserve_index=False).column(0)
    values = series.array.__arrow_array__()
    filled = [chunk for chunk in values.chunks if len(chunk)]
    return pa.chunked_array(filled) if filled else values


def _from_polars(data: Any) -> pa.Table:
    """The frame; a column of a type that Arrow lacks, such as Python's own objects or Int128, is left unread."""
    unread = [name for name in data.columns if not _has_arrow_type(data[name].head(0))]
    if not unread:
        return data.to_arrow()
    table = data.drop(unread).to_arrow()
    for place, name in enumerate(data.columns):
        if name in unread:
            field = unreadable(name, f"cannot be read: Arrow lacks polars' type {data.schema[name]}")
            table = table.add_column(place, field, pa.nulls(len(data), field.type))
    return table


def _has_arrow_type(column: Any) -> bool:
    if str(column.dtype) == "Object":  # polars would give the bits of pointers
        return False
    try:
        column.to_arrow()
    except pa.ArrowException:
        return False
    return True


def to_spark(data: Any) -> Any:
    """Frames of pandas on Spark as Spark's own, without their index; other data as it is."""
    if isinstance(data, Mapping):
        return {name: to_spark(part) for name, part in data.items()}
    if kind_of(data) != "pandas-on-spark":
        return data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the index is lost
        return data.to_spark()


def from_spark(frame: Any) -> Any:
    """A DataFrame of Spark as a frame of pandas on Spark."""
    return frame.pandas_api()


def columns_of(data: Any) -> list[str]:
    """The names of the columns; no rows are read.

    >>> columns_of(pa.table({"ts": [1]}))
    ['ts']
    """
    match kind_of(data):
        case "arrow" | "batch" | "feed":
            return list(data.schema.names)
        case "polars-lazy":
            return list(data.collect_schema().names())
        case _:
            return [str(name) for name in data.columns]


def require_no_index(data: Any, time: str) -> None:
    """Refuses a pandas frame whose time is its index, which is no column."""
    if kind_of(data) == "pandas" and time in data.index.names and time not in data.columns:
        message = f"the data has no column `{time}`, given as time: it is the index of the frame"
        raise CepheidError("unknown-column", message, hint="give `frame.reset_index()`")


def schema_without_rows(data: Any) -> pa.Schema:
    """The types that `to_arrow` gives; a feed stays unread and a lazy frame uncollected.

    >>> schema_without_rows(pa.table({"ts": [1]}))
    ts: int64
    """
    match kind_of(data):
        case "feed":
            return plain_schema(data.schema)
        case "stream":
            return plain_schema(pa.RecordBatchReader.from_stream(data).schema)
        case "polars-lazy":
            return to_arrow(data.head(0)).schema
        case _:
            return to_arrow(data).schema


def from_arrow(table: pa.Table, like: str) -> Any:
    """An Arrow table as data of the given kind."""
    try:
        return _written(table, like)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        hint = "give the data as a pyarrow Table to get the matches as one"
        raise CepheidError("bad-data", f"{like} cannot hold the matches: {error}", hint=hint) from error


def _written(table: pa.Table, like: str) -> Any:
    match like:
        case "arrow" | "stream":
            return table
        case "batch":
            batches = table.combine_chunks().to_batches()
            return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
        case "pandas":
            return table.to_pandas()
        case "polars" | "polars-lazy":
            import polars

            frame = polars.from_arrow(table)
            return frame.lazy() if like == "polars-lazy" else frame
        case _:
            raise AssertionError(like)


def type_column(streams: Mapping[str, list[str]], type: str | None) -> str:
    """The column that tells the types of several streams' events; `streams` are the columns of each.

    Without one it is a new column, whose name no stream has.

    >>> type_column({"a": ["ts"], "b": ["ts", "type"]}, "type"), type_column({"a": ["ts", "type"]}, None)
    ('type', 'type_')
    """
    names = list(dict.fromkeys(name for columns in streams.values() for name in columns))
    if type is None:
        type = DEFAULT_TYPE
        while type in names:
            type += "_"
    elif type != DEFAULT_TYPE:
        require_column(names, type, "type")
    return type


def unite(streams: Mapping[str, pa.Table], type: str) -> pa.Table:
    """Several streams as one: attributes by name, NULL where a stream lacks them.

    Where a stream has no type column, an event's type is its stream's name. Instants that the streams show in different
    zones are shown in UTC; times of different units are in the finest; whole numbers beside decimals are decimals.

    >>> unite({"a": pa.table({"ts": [1]}), "b": pa.table({"ts": [2], "v": [7]})}, "type").to_pylist()
    [{'ts': 1, 'type': 'a', 'v': None}, {'ts': 2, 'type': 'b', 'v': 7}]
    """
    parts = []
    for name, table in streams.items():
        if type not in table.column_names:
            table = table.append_column(type, pa.array([name] * len(table), pa.string()))
        parts.append(table if len(streams) == 1 else _decoded(table))
    if len(parts) > 1:
        zones = common_zones({name: part.schema for name, part in zip(streams, parts, strict=True)})
        parts = _with_decimals([in_zones(part, zones) for part in parts])
    try:
        return pa.concat_tables(parts, promote_options="permissive").combine_chunks()
    except pa.ArrowException as error:
        raise CepheidError("bad-data", f"the streams do not fit together: {error}") from error


def _with_decimals(parts: list[pa.Table]) -> list[pa.Table]:
    """Whole numbers as decimals in columns that are decimals in another stream: Arrow would keep the precision of the
    decimals, into which not all whole numbers fit."""
    decimals = {field.name for part in parts for field in part.schema if pa.types.is_decimal(field.type)}

    def widened(field: pa.Field) -> pa.Field:
        if field.name not in decimals or not pa.types.is_integer(field.type):
            return field
        return field.with_type(pa.decimal128(INTEGER_DIGITS[field.type.bit_width], 0))

    return [part.cast(pa.schema(map(widened, part.schema))) for part in parts]


def _decoded(table: pa.Table) -> pa.Table:
    """Without dictionaries, since those of two streams may differ."""
    fields = [
        pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))
