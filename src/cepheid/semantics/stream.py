"""A stream as the definitions have it: a Python list of events, and windows over it.

In: an Arrow table in stream order. Out: `Event`s, whose positions are their indices. A time is a number: in
nanoseconds for timestamps that are counted so, in microseconds for others and for dates, else the number itself. A
window over them is in the same unit: typing has seen to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cepheid.algebra.nodes import Window, WindowUnit
from cepheid.schema import Schema, counts_nanoseconds
from cepheid.semantics.rows import rows_of, values_of


@dataclass(frozen=True, slots=True)
class Event:
    """`attributes` holds every column of the stream, NULL as None."""

    type: str | None
    time: int | float
    attributes: Mapping[str, Any]


Stream = Sequence[Event]


def events_of(table: pa.Table, schema: Schema, times: Sequence[int | float] | None = None) -> list[Event]:
    """The rows of a table, already in stream order, as events.

    >>> from cepheid.schema import schema_of
    >>> table = pa.table({"ts": [1, 2], "type": ["A", "B"]})
    >>> [(event.type, event.time) for event in events_of(table, schema_of(table.schema, time="ts"))]
    [('A', 1), ('B', 2)]
    """
    rows = rows_of(table)
    numbers = times if times is not None else _numbers(table.column(schema.time))
    return [Event(_type_of(row, schema), time, row) for row, time in zip(rows, numbers, strict=True)]


def _type_of(row: Mapping[str, Any], schema: Schema) -> str | None:
    if schema.type is None:
        return schema.stream
    given = row[schema.type]
    return None if given is None else str(given)


def _numbers(column: pa.ChunkedArray) -> list[int | float]:
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        ns = 1 if counts_nanoseconds(column.type) else 1000
        return [value.ns // ns for value in values_of(column)]
    numbers: list[int | float] = column.to_pylist()
    return numbers


def inside(window: Window | None, stream: Stream, first: int, last: int) -> bool:
    """Whether a match from position `first` to position `last` lies within the window.

    >>> stream = [Event("A", time, {}) for time in (0, 0, 5)]
    >>> inside(Window(5, WindowUnit.PLAIN), stream, 0, 2), inside(Window(2, WindowUnit.EVENTS), stream, 0, 2)
    (True, False)
    """
    if window is None:
        return True
    if window.unit is WindowUnit.EVENTS:
        return last - first + 1 <= window.amount
    return stream[last].time - stream[first].time <= window.amount
