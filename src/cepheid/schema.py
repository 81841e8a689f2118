"""The schema of a stream: its columns and which of them are time, type and order.

In: an Arrow schema and the names of the user's columns. Out: a `Schema` whose columns exist and whose time column can
order events. Types are those of `streams.plain`, to which every batch is converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import pyarrow as pa

from cepheid.errors import CepheidError, did_you_mean, quoted

DEFAULT_TYPE = "type"
HIDDEN = "__cepheid_"  # the prefix of columns that the engine adds

UNREADABLE = b"cepheid:unreadable"
"""In the metadata of a field: the reason why the column cannot be read, worded to follow its name. It is an error only
when the column is needed."""


def unreadable(name: str, reason: str) -> pa.Field:
    """A column that cannot be read, of a type that no condition, key or role takes.

    >>> unreadable("c", "holds values of several types").type
    StructType(struct<>)
    """
    return pa.field(name, pa.struct([]), metadata={UNREADABLE: reason})


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
    def shown(self) -> tuple[str, ...]:
        """The columns that users know of."""
        return tuple(name for name in self.names if not name.startswith(HIDDEN))

    @property
    def time_type(self) -> pa.DataType:
        return self.arrow.field(self.time).type

    def only(self, names: Iterable[str]) -> Schema:
        """The schema of events that carry only these columns."""
        return replace(self, arrow=pa.schema([self.arrow.field(name) for name in names]))

    def require_readable(self, names: Iterable[str]) -> None:
        """Refuses the first of these columns that cannot be read."""
        for name in names:
            reason = (self.arrow.field(name).metadata or {}).get(UNREADABLE)
            if reason is not None:
                raise CepheidError(
                    "bad-data",
                    f"column `{name}` {reason.decode()}",
                    hint="drop or cast the column, or name the `columns` of the output that are wanted: without the "
                    "events themselves, columns that the query does not read are left alone",
                )


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
    check_names(arrow.names)
    require_column(arrow.names, time, "time")
    if not is_time(arrow.field(time).type):
        dtype = arrow.field(time).type
        raise CepheidError("bad-time", f"time column `{time}` has type {dtype}", hint=_time_hint(dtype))
    if type == DEFAULT_TYPE and DEFAULT_TYPE not in arrow.names:
        type = None
    if type is not None:
        require_column(arrow.names, type, "type")
        _check_role(arrow.field(type), "type", is_type, "an event's type is a string, a number or a boolean")
    if order is not None:
        require_column(arrow.names, order, "order")
        hint = "ties are ordered by numbers, strings or times"
        _check_role(arrow.field(order), "order", is_comparable, hint)
    return Schema(arrow, time, type, order, stream)


def check_names(names: list[str]) -> None:
    """Refuses repeated names and names that are reserved for the engine."""
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        message = f"column names must be distinct; repeated: {quoted(sorted(repeated))}"
        raise CepheidError("bad-data", message)
    for name in names:
        if name.startswith("\0"):  # columns that `matches.history` adds to those of an event
            raise CepheidError("bad-data", f"the column name {name!r} begins with a NUL character")
        if name.startswith(HIDDEN):
            message = (
                f"column `{name}`: names that begin with `{HIDDEN}` are reserved for Cepheid's own columns"
            )
            raise CepheidError("bad-data", message, hint="rename the column")


def _check_role(field: pa.Field, role: str, fits: Callable[[pa.DataType], bool], hint: str) -> None:
    if not fits(field.type):
        raise CepheidError("bad-argument", f"{role} column `{field.name}` has type {field.type}", hint=hint)


def require_column(names: list[str] | tuple[str, ...], name: str, role: str) -> None:
    if not isinstance(name, str):
        raise CepheidError("bad-argument", f"`{role}` requires the name of a column; got `{name!r}` instead")
    if name not in names:
        listed = f"the columns are {quoted(names)}" if names else "the data has no columns"
        hint = did_you_mean(name, names, listed)
        raise CepheidError("unknown-column", f"the data has no column `{name}`, given as {role}", hint=hint)


def is_time(dtype: pa.DataType) -> bool:
    """Whether values of this Arrow type can say when an event happened."""
    return bool(
        pa.types.is_timestamp(dtype)
        or pa.types.is_date(dtype)
        or pa.types.is_integer(dtype)
        or pa.types.is_floating(dtype)
    )


def counts_nanoseconds(dtype: pa.DataType) -> bool:
    """Whether a time column of this type is counted in nanoseconds; other timestamps and dates are in microseconds.

    >>> counts_nanoseconds(pa.timestamp("ns", "UTC")), counts_nanoseconds(pa.timestamp("s"))
    (True, False)
    """
    return bool(pa.types.is_timestamp(dtype) and dtype.unit == "ns")


def _time_hint(dtype: pa.DataType) -> str:
    if pa.types.is_time(dtype):
        return "a time of day begins anew every day: add its date, to make a timestamp"
    if pa.types.is_duration(dtype):
        return "add it to the moment it counts from, to make a timestamp, or cast it to an integer"
    return "events are ordered by a timestamp, a date, an integer or a float; cast it to one of these"


def is_type(dtype: pa.DataType) -> bool:
    """Whether values of this Arrow type, written as text, can be types of events.

    >>> is_type(pa.dictionary(pa.int8(), pa.string())), is_type(pa.list_(pa.string()))
    (True, False)
    """
    if pa.types.is_dictionary(dtype):
        return is_type(dtype.value_type)
    return bool(
        pa.types.is_string(dtype)
        or pa.types.is_large_string(dtype)
        or pa.types.is_integer(dtype)
        or pa.types.is_floating(dtype)
        or pa.types.is_decimal(dtype)
        or pa.types.is_boolean(dtype)
        or pa.types.is_null(dtype)
    )


def is_comparable(dtype: pa.DataType) -> bool:
    """Whether values of this Arrow type can be keys and decide ties.

    >>> is_comparable(pa.timestamp("us")), is_comparable(pa.struct([]))
    (True, False)
    """
    if pa.types.is_dictionary(dtype):
        return is_comparable(dtype.value_type)
    return bool(
        is_type(dtype)
        or (pa.types.is_temporal(dtype) and not pa.types.is_interval(dtype))
        or pa.types.is_binary(dtype)
        or pa.types.is_large_binary(dtype)
        or pa.types.is_fixed_size_binary(dtype)
    )
