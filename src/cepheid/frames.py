"""What users hold, as Arrow, and Arrow as what they hold: pyarrow, pandas and polars in, the same kind out.

A kind is recognised by where its class lives, so that nothing is imported that the user has not.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from cepheid.errors import CepheidError
from cepheid.schema import DEFAULT_TYPE


def kind_of(data: Any) -> str:
    """One of arrow, batch, reader, pandas, polars, polars-lazy, spark.

    >>> kind_of(pa.table({"ts": [1]}))
    'arrow'
    """
    if isinstance(data, pa.Table):
        return "arrow"
    if isinstance(data, pa.RecordBatch):
        return "batch"
    if isinstance(data, pa.RecordBatchReader):
        return "reader"
    for cls in type(data).__mro__:
        place = (cls.__module__.split(".")[0], cls.__name__)
        if place == ("pandas", "DataFrame"):
            return "pandas"
        if place == ("polars", "DataFrame"):
            return "polars"
        if place == ("polars", "LazyFrame"):
            return "polars-lazy"
        if place == ("pyspark", "DataFrame"):
            return "spark"
    raise CepheidError(
        "bad-data",
        f"cannot read a {type(data).__module__}.{type(data).__name__} as a stream of events",
        hint="give a pyarrow Table, RecordBatch or reader, a pandas, polars or Spark frame, or a dict of these",
    )


def to_arrow(data: Any) -> pa.Table:
    """Data of any in-process kind as an Arrow table."""
    match kind_of(data):
        case "arrow":
            table = data
        case "batch":
            table = pa.Table.from_batches([data])
        case "reader":
            table = data.read_all()
        case "pandas":
            table = pa.Table.from_pandas(data, preserve_index=False)
        case "polars":
            table = data.to_arrow()
        case "polars-lazy":
            table = data.collect().to_arrow()
        case other:
            raise CepheidError("bad-data", f"{other} data cannot be mixed with data of other kinds")
    return _plain(table).replace_schema_metadata(None)


def from_arrow(table: pa.Table, like: str) -> Any:
    """An Arrow table as data of the given kind."""
    match like:
        case "arrow":
            return table
        case "batch":
            batches = table.combine_chunks().to_batches()
            return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
        case "reader":
            return table.to_reader()
        case "pandas":
            return table.to_pandas()
        case "polars" | "polars-lazy":
            import polars

            frame = polars.from_arrow(table)
            return frame.lazy() if like == "polars-lazy" else frame
        case _:
            raise AssertionError(like)


def unite(streams: dict[str, pa.Table], type: str | None) -> pa.Table:
    """Several streams as one: attributes by name, NULL where a stream lacks them.

    Without a type column an event's type is its stream's name.

    >>> unite({"a": pa.table({"ts": [1]}), "b": pa.table({"ts": [2], "v": [7]})}, "type").to_pylist()
    [{'ts': 1, 'type': 'a', 'v': None}, {'ts': 2, 'type': 'b', 'v': 7}]
    """
    column = type or DEFAULT_TYPE
    parts = []
    for name, table in streams.items():
        if column not in table.column_names:
            table = table.append_column(column, pa.array([name] * len(table), pa.string()))
        parts.append(table)
    try:
        return pa.concat_tables(parts, promote_options="permissive").combine_chunks()
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise CepheidError("bad-data", f"the streams do not fit together: {error}") from error


def _plain(table: pa.Table) -> pa.Table:
    """Views as plain text, so that all kinds give the same output types."""
    fields = []
    for field in table.schema:
        dtype = field.type
        if pa.types.is_string_view(dtype) or pa.types.is_large_string(dtype):
            dtype = pa.string()
        elif pa.types.is_binary_view(dtype) or pa.types.is_large_binary(dtype):
            dtype = pa.binary()
        fields.append(pa.field(field.name, dtype))
    schema = pa.schema(fields)
    return table if schema.types == table.schema.types else table.cast(schema)
