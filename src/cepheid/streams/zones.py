"""The zones of a stream's instants: one per column, also of a column that several streams share.

In: tables and schemas, and the user's zone, if any. Out: the same instants in other zones. A zone only decides how a
clock shows an instant; comparisons are of instants. Columns without a zone hold clock times and stay so.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from cepheid.errors import CepheidError


def common_zones(streams: Mapping[str, pa.Schema]) -> dict[str, str]:
    """The zone of each column of instants that several streams have; an error where one of them has none.

    >>> paris, utc = (pa.schema([("ts", pa.timestamp("us", zone))]) for zone in ("Europe/Paris", "UTC"))
    >>> common_zones({"a": paris, "b": paris}), common_zones({"a": paris, "b": utc})
    ({'ts': 'Europe/Paris'}, {'ts': 'UTC'})
    """
    found: dict[str, dict[str | None, str]] = {}  # by column, a stream for each zone
    for stream, schema in streams.items():
        for field in schema:
            if pa.types.is_timestamp(field.type):
                found.setdefault(field.name, {}).setdefault(field.type.tz, stream)
    for name, zones in found.items():
        if None in zones and len(zones) > 1:
            zone = next(zone for zone in zones if zone is not None)
            raise CepheidError(
                "bad-data",
                f"column `{name}` of `{zones[zone]}` has a time zone, {zone}, and that of `{zones[None]}` has none",
                hint="give the times without a zone the one they were written in, or take it from the others",
            )
    return {
        name: zone if len(zones) == 1 else "UTC"
        for name, zones in found.items()
        for zone in list(zones)[:1]
        if zone is not None
    }


def in_zones(table: pa.Table, zones: Mapping[str, str]) -> pa.Table:
    """The same instants, shown in these zones, by column."""
    fields = [
        pa.field(field.name, pa.timestamp(field.type.unit, zones[field.name]))
        if pa.types.is_timestamp(field.type) and field.type.tz is not None and field.name in zones
        else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def zoned_schema(schema: pa.Schema, zone: str | None) -> pa.Schema:
    """The schema with every column of instants in one zone, if there is one; clock times stay clock times.

    >>> zoned_schema(pa.schema([("a", pa.timestamp("ns", "UTC")), ("b", pa.timestamp("s"))]), "Europe/Paris").types
    [TimestampType(timestamp[ns, tz=Europe/Paris]), TimestampType(timestamp[s])]
    """
    if zone is None:
        return schema
    return pa.schema([field.with_type(_zoned(field.type, zone)) for field in schema])


def _zoned(dtype: pa.DataType, zone: str) -> pa.DataType:
    return pa.timestamp(dtype.unit, zone) if pa.types.is_timestamp(dtype) and dtype.tz is not None else dtype


def zoned_table(table: pa.Table, zone: str | None) -> pa.Table:
    """The same values, with every column of instants in one zone, if there is one."""
    schema = zoned_schema(table.schema, zone)
    return table if schema.types == table.schema.types else table.cast(schema)
