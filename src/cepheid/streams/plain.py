"""Columns in plain layouts: one Arrow layout per kind of value.

In: a table or schema of any Arrow types. Out: the same values as plain text, bytes and lists, decimals of 128 or 256
bits, dictionaries only of text and without NULL in them, extension types as their storage, a union as a struct with one
field per member, NULL except for the member of the row. So all kinds of data give the same output types.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.errors import CepheidError
from cepheid.schema import UNREADABLE


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The types that `plain_table` gives.

    >>> plain_schema(pa.schema([("name", pa.string_view()), ("code", pa.dictionary(pa.int8(), pa.int64()))]))
    name: string
    code: int64
    """
    return pa.schema(
        [pa.field(field.name, plain_type(field.type), metadata=_kept(field)) for field in schema]
    )


def _kept(field: pa.Field) -> dict[bytes, bytes] | None:
    reason = (field.metadata or {}).get(UNREADABLE)
    return None if reason is None else {UNREADABLE: reason}


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
    if pa.types.is_union(dtype):
        return pa.struct(_members(dtype))
    inside = [dtype.field(place).type for place in range(dtype.num_fields)]
    if [plain_type(part) for part in inside] == inside:
        return dtype
    if pa.types.is_map(dtype):
        return pa.map_(plain_type(dtype.key_type), _plain_field(dtype.item_field), dtype.keys_sorted)
    if pa.types.is_fixed_size_list(dtype):
        return pa.list_(_plain_field(dtype.value_field), dtype.list_size)
    return pa.list_(_plain_field(dtype.value_field))  # a list of views


def _members(union: pa.UnionType) -> list[pa.Field]:
    """One field per member of a union, under its name, or with its place where two have one name."""
    fields = [union.field(place) for place in range(union.num_fields)]
    names = [field.name for field in fields]
    return [
        pa.field(name if names.count(name) == 1 else f"{name}_{place}", plain_type(field.type))
        for place, (name, field) in enumerate(zip(names, fields, strict=True))
    ]


def _plain_field(field: pa.Field) -> pa.Field:
    return pa.field(field.name, plain_type(field.type), field.nullable)


def _plain(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    if column.type == field.type:
        return _without_null_codes(column)
    try:
        chunks = [_plain_array(chunk, field.type) for chunk in column.chunks]
        return _without_null_codes(pa.chunked_array(chunks, field.type))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        message = f"column `{field.name}` cannot be read as {field.type}: {error}"
        raise CepheidError("bad-data", message) from error


def _plain_array(array: pa.Array, target: pa.DataType) -> pa.Array:
    """The array in the layout `target`, which is `plain_type` of its own."""
    dtype = array.type
    if dtype == target:
        return array
    if isinstance(dtype, pa.BaseExtensionType):
        return _plain_array(array.storage, target)
    if pa.types.is_run_end_encoded(dtype):
        return _plain_array(pc.run_end_decode(array), target)
    if pa.types.is_dictionary(dtype) and not pa.types.is_dictionary(target):
        return _plain_array(_plain_array(array.dictionary, target).take(array.indices), target)
    if pa.types.is_union(dtype):
        return _as_struct(array, target)
    if pa.types.is_struct(dtype):
        parts = [_plain_array(array.field(n), target.field(n).type) for n in range(dtype.num_fields)]
        return pa.StructArray.from_arrays(parts, fields=list(target), mask=_missing(array))
    if pa.types.is_map(dtype):
        keys, items = _plain_array(array.keys, target.key_type), _plain_array(array.items, target.item_type)
        return pa.MapArray.from_arrays(_fresh(array.offsets), keys, items, type=target, mask=_missing(array))
    if pa.types.is_fixed_size_list(dtype):
        begin = array.offset * dtype.list_size
        values = array.values.slice(begin, len(array) * dtype.list_size)
        values = _plain_array(values, target.value_type)
        return pa.FixedSizeListArray.from_arrays(values, type=target, mask=_missing(array))
    if pa.types.is_list_view(dtype) or pa.types.is_large_list_view(dtype):
        sizes = np.where(array.is_valid(), pc.fill_null(array.sizes, 0), 0)
        offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))
        values = _plain_array(array.flatten(), target.value_type)
        return pa.ListArray.from_arrays(offsets, values, type=target, mask=_missing(array))
    if (pa.types.is_list(dtype) or pa.types.is_large_list(dtype)) and dtype.value_type != target.value_type:
        values = _plain_array(array.values, target.value_type)
        offsets = _fresh(array.offsets.cast(pa.int32()))
        return pa.ListArray.from_arrays(offsets, values, type=target, mask=_missing(array))
    return array.cast(target)


def _missing(array: pa.Array) -> pa.Array | None:
    return array.is_null() if array.null_count else None


def _fresh(offsets: pa.Array) -> pa.Array:
    """A copy of the offsets: with a mask, Arrow refuses offsets that are a slice."""
    return pa.array(np.array(offsets))


def _as_struct(union: pa.UnionArray, target: pa.StructType) -> pa.Array:
    """One field per member, NULL except for the member of the row."""
    # Read from the buffers: pyarrow's `type_codes` and `offsets` ignore slicing.
    _, codes, *places = union.buffers()
    rows = slice(union.offset, union.offset + len(union))
    members = np.frombuffer(codes, np.int8)[rows]
    dense = union.type.mode == "dense"
    where = np.frombuffer(places[0], np.int32)[rows] if dense else np.arange(len(union), dtype=np.int32)
    parts = []
    for place, code in enumerate(union.type.type_codes):
        member = _plain_array(union.field(place), target.field(place).type)
        parts.append(member.take(pa.array(where, mask=members != code)))
    return pa.StructArray.from_arrays(parts, fields=list(target))


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
