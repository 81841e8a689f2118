"""Elements: the types of what lies inside of columns of structs, lists and maps.

In: an attribute, or a path into one, and the schema. Out: the Arrow type of its values, or an error that says what
there is.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from cepheid.algebra.conditions import Attribute, Element, Expression, Literal, attributes, children
from cepheid.errors import CepheidError, did_you_mean, quoted
from cepheid.schema import Schema


def places(expression: Expression) -> Iterator[Attribute | Element]:
    """The attributes that an expression reads, each with the path into it."""
    if isinstance(expression, Attribute | Element):
        yield from (expression,) if next(attributes(expression), None) else ()
        return
    for child in children(expression):
        if not isinstance(child, Literal):  # lists have many
            yield from places(child)


def type_of(place: Expression, schema: Schema) -> pa.DataType:
    """The type of an attribute or of an element of one; of dictionaries that of their values.

    >>> from cepheid.schema import schema_of
    >>> columns = pa.schema([("ts", pa.int64()), ("tags", pa.list_(pa.string()))])
    >>> type_of(Element(Attribute("x", "tags"), 0), schema_of(columns, time="ts"))
    DataType(string)
    """
    if isinstance(place, Element):
        return _plain(_inside(type_of(place.operand, schema), place))
    (attribute,) = attributes(place)
    return _plain(schema.arrow.field(attribute.name).type)


def _plain(dtype: pa.DataType) -> pa.DataType:
    return dtype.value_type if pa.types.is_dictionary(dtype) else dtype


def is_list(dtype: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(dtype) or pa.types.is_large_list(dtype) or pa.types.is_fixed_size_list(dtype)
    )


def _inside(dtype: pa.DataType, element: Element) -> pa.DataType:
    key = element.key
    if pa.types.is_struct(dtype):
        names = [dtype.field(number).name for number in range(dtype.num_fields)]
        if isinstance(key, str) and names.count(key) == 1:
            return dtype.field(key).type
        hint = did_you_mean(str(key), names, f"its fields are {quoted(names)}")
        message = f"there is no one field `{key}` in this struct"
        raise CepheidError("unknown-attribute", message, span=element.span, hint=hint)
    if is_list(dtype):
        if isinstance(key, int):
            return dtype.value_type
        raise _wrong(element, "a list", "its items are counted from 0: x.tags[0]")
    if pa.types.is_map(dtype):
        if isinstance(key, str) and pa.types.is_string(dtype.key_type):
            return dtype.item_type
        if isinstance(key, int) and pa.types.is_integer(dtype.key_type):
            return dtype.item_type
        raise _wrong(element, f"a map whose keys are {dtype.key_type}", "write a key of that type")
    raise _wrong(element, f"of type {dtype}", "structs, lists and maps have elements")


def _wrong(element: Element, what: str, hint: str) -> CepheidError:
    message = f"this is {what}, and has no element `{element.key}`"
    return CepheidError("type-mismatch", message, span=element.span, hint=hint)
