"""What a stream carries: its columns and which of them are time, type and order.

In: an Arrow schema and the names a user gave. Out: a `Schema` whose names are known to exist and whose time
column is known to order events.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from cepheid.errors import CepheidError, did_you_mean

DEFAULT_TYPE = "type"


@dataclass(frozen=True, slots=True)
class Schema:
    """`type` None: there is no type column, and every event's type is `stream`."""

    arrow: pa.Schema
    time: str
    type: str | None
    order: str | None
    stream: str

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.arrow.names)

    @property
    def time_type(self) -> pa.DataType:
        return self.arrow.field(self.time).type


def schema_of(
    arrow: pa.Schema,
    *,
    time: str,
    type: str | None = DEFAULT_TYPE,
    order: str | None = None,
    stream: str = "stream",
) -> Schema:
    """Checks the names a user gave against the columns there are.

    The default type column may be missing: then every event's type is its stream's name.

    >>> columns = pa.schema([("ts", pa.int64()), ("price", pa.float64())])
    >>> schema_of(columns, time="ts", stream="stocks").type is None
    True
    """
    repeated = {name for name in arrow.names if arrow.names.count(name) > 1}
    if repeated:
        listed = ", ".join(f"`{name}`" for name in sorted(repeated))
        raise CepheidError("bad-data", f"column names must be distinct; repeated: {listed}")
    require_column(arrow.names, time, "time")
    if not is_time(arrow.field(time).type):
        raise CepheidError(
            "bad-time",
            f"time column `{time}` has type {arrow.field(time).type}",
            hint="events are ordered by a timestamp, a date or a number",
        )
    if type == DEFAULT_TYPE and DEFAULT_TYPE not in arrow.names:
        type = None
    if type is not None:
        require_column(arrow.names, type, "type")
    if order is not None:
        require_column(arrow.names, order, "order")
    return Schema(arrow, time, type, order, stream)


def require_column(names: list[str] | tuple[str, ...], name: str, role: str) -> None:
    if name not in names:
        listed = ", ".join(f"`{known}`" for known in names)
        hint = did_you_mean(name, names, f"the columns are {listed}" if names else "the data has no columns")
        raise CepheidError("unknown-column", f"the data has no column `{name}`, given as {role}", hint=hint)


def is_time(dtype: pa.DataType) -> bool:
    """Whether values of this Arrow type can say when an event happened."""
    return bool(
        pa.types.is_timestamp(dtype)
        or pa.types.is_date(dtype)
        or (pa.types.is_integer(dtype) and dtype != pa.uint64())
        or pa.types.is_floating(dtype)
    )
