"""Spark's types as Arrow's, and the other way, alike on every release of Spark.

Spark's own functions differ between releases: Spark 4.1 has no argument for the zone (it is UTC), and gives every Arrow
timestamp a zone by default. No other module imports `pyspark.sql.pandas`.
"""

from __future__ import annotations

import inspect

import pyarrow as pa
from pyspark.sql.pandas import types as pyspark_types
from pyspark.sql.types import StructType

_NAMES_ZONE = "timezone" in inspect.signature(pyspark_types.to_arrow_schema).parameters


def to_arrow_schema(schema: StructType) -> pa.Schema:
    """The Arrow types that Spark hands over; timestamps are in UTC, those without a zone have none.

    >>> from pyspark.sql.types import TimestampNTZType, TimestampType
    >>> to_arrow_schema(StructType().add("a", TimestampType()).add("b", TimestampNTZType()))
    a: timestamp[us, tz=UTC]
    b: timestamp[us]
    """
    found = pyspark_types.to_arrow_schema(schema, **({"timezone": "UTC"} if _NAMES_ZONE else {}))
    return pa.schema([pa.field(field.name, field.type) for field in found])


def from_arrow_schema(schema: pa.Schema) -> StructType:
    """The Spark types of Arrow columns.

    >>> names = pa.schema([("a", pa.timestamp("us", "UTC")), ("b", pa.timestamp("us"))])
    >>> from_arrow_schema(names).simpleString()
    'struct<a:timestamp,b:timestamp_ntz>'
    """
    return pyspark_types.from_arrow_schema(schema, prefer_timestamp_ntz=True)
