"""Columns in the layouts that the rest of the engine takes: one layout per kind of value.

In: a table or schema of any Arrow types. Out: the same values as plain text, bytes and lists, decimals of 128 or 256
bits, dictionaries only of text and without NULL in them, extension types as what they store. So all kinds of data give
the same output types.
Types that have no such layout are an error that names the column.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from cepheid.errors import CepheidError


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The types that `plain_table` gives.

    >>> plain_schema(pa.schema([("name", pa.string_view()), ("code", pa.dictionary(pa.int8(), pa.int64()))]))
    name: string
    code: int64
    """
    return pa.schema([pa.field(field.name, _supported(field)) for field in schema])


def plain_table(table: pa.Table) -> pa.Table:
    """The table with every column in its plain layout; the same table where it is already.

    >>> plain_table(pa.table({"name": pa.array(["é"], pa.large_string())})).schema
    name: string
    """
    schema = plain_schema(table.schema)
    if schema.types == table.schema.types and not any(map(pa.types.is_dictionary, schema.types)):
        return table.replace_schema_metadata(None)
    columns = [_plain(column, field) for column, field in zip(table.columns, schema, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)


def _supported(field: pa.Field) -> pa.DataType:
    dtype = plain_type(field.type)
    if pa.types.is_union(dtype):
        raise CepheidError("bad-data", f"column `{field.name}` has type {dtype}, which is not yet supported")
    return dtype


def plain_type(dtype: pa.DataType) -> pa.DataType:
    """The plain layout of a type.

    >>> plain_type(pa.large_list(pa.string_view()))
    ListType(list<item: string>)
    """
    if pa.types.is_string_view(dtype) or pa.types.is_large_string(dtype):
        return pa.string()
    if pa.types.is_binary_view(dtype) or pa.types.is_large_binary(dtype):
        return pa.binary()
    if isinstance(dtype, pa.BaseExtensionType):
        return plain_type(dtype.storage_type)
    if pa.types.is_run_end_encoded(dtype):
        return plain_type(dtype.value_type)
    if pa.types.is_dictionary(dtype):
        values = plain_type(dtype.value_type)
        # Dictionaries of several batches are united, which can take more codes than each of them has.
        return pa.dictionary(pa.int32(), values, dtype.ordered) if values == pa.string() else values
    if pa.types.is_decimal32(dtype) or pa.types.is_decimal64(dtype):
        return pa.decimal128(dtype.precision, dtype.scale)
    if pa.types.is_list(dtype) or pa.types.is_large_list(dtype):
        return pa.list_(_plain_field(dtype.value_field))
    if pa.types.is_struct(dtype):
        return pa.struct([_plain_field(field) for field in dtype])
    return dtype


def _plain_field(field: pa.Field) -> pa.Field:
    return pa.field(field.name, plain_type(field.type), field.nullable)


def _plain(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    if column.type == field.type:
        return _without_null_codes(column)
    try:
        return _without_null_codes(_stored(column).cast(field.type))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        message = f"column `{field.name}` cannot be read as {field.type}: {error}"
        raise CepheidError("bad-data", message) from error


def _stored(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """What an extension type or runs of equal values stand for."""
    dtype = column.type
    if isinstance(dtype, pa.BaseExtensionType):
        return _stored(pa.chunked_array([chunk.storage for chunk in column.chunks], dtype.storage_type))
    if pa.types.is_run_end_encoded(dtype):
        return _stored(
            pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], dtype.value_type)
        )
    if pa.types.is_dictionary(dtype) and isinstance(dtype.value_type, pa.BaseExtensionType):
        return _stored(
            pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], dtype.value_type)
        )
    return column


def _without_null_codes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """NULL as a missing code, never as a value of the dictionary: Arrow cannot unite such dictionaries."""
    if not pa.types.is_dictionary(column.type) or not any(
        chunk.dictionary.null_count for chunk in column.chunks
    ):
        return column
    decoded = [chunk.dictionary_decode().dictionary_encode().cast(column.type) for chunk in column.chunks]
    return pa.chunked_array(decoded, column.type)


def whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """The column as one array, copied only where it is in several pieces."""
    if isinstance(column, pa.Array):
        return column
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
