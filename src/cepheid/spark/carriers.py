"""Carriers: columns of types that Spark does not send to Python are sent as another type and cast back afterwards.

In: Spark's types. Out: the Arrow types that the engine sees, and the casts there and back. Intervals of months, and of
months, days and microseconds, are sent as the bytes of their text, also inside arrays, maps and structs, without loss;
conditions can only test them with IS NULL. The metadata of the Arrow field holds the Spark type, so that a checkpoint
has it, too. A type without a carrier is marked as unreadable, which is an error only if a query reads or shows it.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    CalendarIntervalType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
    YearMonthIntervalType,
    _parse_datatype_json_string,
)

from cepheid.algebra.conditions import Attribute, Expression, Record
from cepheid.algebra.nodes import Computed
from cepheid.algebra.variables import output_columns
from cepheid.plan.plan import Plan
from cepheid.schema import unreadable
from cepheid.spark.types import from_arrow_schema, to_arrow_schema

CARRIES = b"cepheid:carries"
"""In the metadata of an Arrow field: the Spark type of the column, as JSON."""


def carrier(dtype: DataType) -> DataType:
    """The type as which values of this type are sent; the same for most.

    >>> carrier(ArrayType(YearMonthIntervalType()))
    ArrayType(BinaryType(), True)
    """
    return _replaced(dtype, BinaryType())


def _replaced(dtype: DataType, by: DataType) -> DataType:
    """The type with `by` in place of intervals."""
    match dtype:
        case YearMonthIntervalType() | CalendarIntervalType():
            return by
        case ArrayType():
            return ArrayType(_replaced(dtype.elementType, by), dtype.containsNull)
        case MapType():
            key, value = _replaced(dtype.keyType, by), _replaced(dtype.valueType, by)
            return MapType(key, value, dtype.valueContainsNull)
        case StructType():
            fields = [(field, _replaced(field.dataType, by)) for field in dtype.fields]
            return StructType([StructField(field.name, made, field.nullable) for field, made in fields])
        case _:
            return dtype


def arrow_schema(types: StructType, names: list[str] | None = None) -> pa.Schema:
    """The columns of a DataFrame, under these names, as the engine's Arrow types, timestamps in UTC."""
    named = zip(types.fields if names is None else names, types.fields, strict=True)
    return pa.schema([_field(getattr(name, "name", name), field.dataType) for name, field in named])


def _field(name: str, dtype: DataType) -> pa.Field:
    travels = carrier(dtype)
    try:
        found = to_arrow_schema(StructType([StructField("c", travels)])).field(0).type
    except PySparkException:
        return unreadable(name, f"has Spark's type {dtype.simpleString()}, which does not travel to Python")
    if travels == dtype:
        return pa.field(name, found)
    return pa.field(name, found, metadata={CARRIES: dtype.json()})


def carried(rows: DataFrame, types: StructType) -> DataFrame:
    """The rows with every column as it travels; their names are resolvable."""
    if all(carrier(field.dataType) == field.dataType for field in types.fields):
        return rows
    return rows.select(*(_cast(sql.col(field.name), field) for field in types.fields))


def _cast(column: Column, field: StructField) -> Column:
    travels = carrier(field.dataType)
    if travels == field.dataType:
        return column
    return column.cast(_replaced(field.dataType, StringType())).cast(travels).alias(field.name)


def restored(found: DataFrame, made: pa.Schema, plan: Plan) -> DataFrame:
    """The matches with every column in the type it has in the events; `made`: the columns that come from Python."""
    types = {
        field.name: _type(field.metadata[CARRIES])
        for field in plan.schema.arrow
        if CARRIES in (field.metadata or {})
    }
    if not types:
        return found
    # By place: the names of the columns need not be resolvable.
    places = [f"c{place}" for place in range(len(made))]
    columns = []
    for place, field in zip(places, from_arrow_schema(made).fields, strict=True):
        target = _target(field, types, plan)
        texts = _replaced(target, StringType())
        column = sql.col(place) if target == field.dataType else sql.col(place).cast(texts).cast(target)
        columns.append(column.alias(field.name))
    return found.toDF(*places).select(*columns)


def _target(field: StructField, types: dict[str, DataType], plan: Plan) -> DataType:
    """The type of a column of the matches: a key of the partition, an event, several, a value, or ours."""
    if field.name in plan.query.partition_by:
        return types.get(field.name, field.dataType)
    items = {item.name: item for item in output_columns(plan.query)}
    if field.name not in items:
        return field.dataType
    item = items[field.name]
    if isinstance(item, Computed) and not isinstance(item.value, Record):
        return _attribute(field, item.value, types)
    if isinstance(field.dataType, ArrayType):
        return ArrayType(_event(field.dataType.elementType, types), field.dataType.containsNull)
    return _event(field.dataType, types)


def _attribute(field: StructField, value: Expression, types: dict[str, DataType]) -> DataType:
    """The type of an expression: only an attribute as it is can have a type that does not travel."""
    carried = types.get(value.name) if isinstance(value, Attribute) else None
    if carried is None or not isinstance(value, Attribute):
        return field.dataType
    return ArrayType(carried) if value.each else carried


def _event(event: DataType, types: dict[str, DataType]) -> StructType:
    assert isinstance(event, StructType)
    return StructType(
        [
            StructField(field.name, types.get(field.name, field.dataType), field.nullable)
            for field in event.fields
        ]
    )


def _type(text: bytes) -> DataType:
    found: DataType = _parse_datatype_json_string(text.decode())
    return found
