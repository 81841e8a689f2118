"""Matches as a table for people: one line per event, under the match it belongs to.

In: an Arrow table of matches, as `cepheid.match` gives. Out: a `rich` table that fits 80 columns: start and end are
above each other, the rest is folded where it is too long. The zone of the times stands above them. Attributes that
are NULL are left out, since most of them belong to other types of event.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from rich.markup import escape
from rich.table import Table

from cepheid.errors import CepheidError

MOST_LINES = 4
LAID_OUT = ("match_id", "start", "end", "positions")
"""Columns of every match; the others are partition columns and variables."""


def matches_table(matches: pa.Table, time: str, *, hide: tuple[str, ...] = ()) -> Table:
    """One row per match. `time` is the events' time column; `hide` names attributes not worth repeating."""
    variables = [field.name for field in matches.schema if _holds_events(field.type)]
    keys = [name for name in matches.column_names if name not in (*LAID_OUT, *variables)]
    table = Table(header_style="bold", show_lines=True)
    for name in keys:
        table.add_column(escape(_printable(name)), overflow="fold")
    table.add_column(f"start, end{_zone(matches.schema)}", no_wrap=True)
    table.add_column("events", overflow="fold")
    for match in _rows(matches):
        shown = [cell(match[name]) for name in keys]
        when = "\n".join(_to_second(match[name]) for name in ("start", "end") if name in match)
        lines = [line for name in variables for line in _lines(name, match[name], time, hide)]
        table.add_row(*map(escape, shown), escape(when), "\n".join(lines))
    return table


def _zone(schema: pa.Schema) -> str:
    """The zone that times are shown in, as part of a heading; times without one have none."""
    dtype = schema.field("start").type if "start" in schema.names else None
    zone = dtype.tz if dtype is not None and pa.types.is_timestamp(dtype) else None
    return f" ({escape(zone)})" if zone else ""


def _rows(matches: pa.Table) -> list[dict[str, Any]]:
    try:
        return matches.to_pylist()  # type: ignore[no-any-return]
    except (OverflowError, ValueError) as error:
        message = f"a match holds a time that cannot be shown: {error}"
        hint = "--output writes all times; only the years 1 to 9999 can be shown"
        raise CepheidError("bad-data", message, hint=hint) from error


def cell(value: object) -> str:
    """A value as people write it.

    >>> cell(dt.datetime(2024, 7, 1, 12, 30)), cell(41.250000001), cell(None)
    ('2024-07-01 12:30:00', '41.25', '–')
    >>> cell(dt.datetime(2024, 7, 1, 12, 30, 0, 5)), cell(dt.datetime(2024, 7, 1, 12, 30, 0, 500_000))
    ('2024-07-01 12:30:00.000005', '2024-07-01 12:30:00.500')
    """
    match value:
        case None:
            return "–"
        case float():
            return f"{value:.6g}"
        case dt.datetime():
            finest = "microseconds" if value.microsecond % 1000 else "milliseconds"
            return value.replace(tzinfo=None).isoformat(" ", finest).removesuffix(".000")
        case _:
            return _printable(str(value))


def _printable(text: str) -> str:
    """The text with control characters, such as escape sequences and new lines, written out."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def _to_second(value: object) -> str:
    # The events show the fractions of a second; in the match they would take too much room.
    return cell(value.replace(microsecond=0) if isinstance(value, dt.datetime) else value)


def _holds_events(dtype: pa.DataType) -> bool:
    return bool(
        pa.types.is_struct(dtype) or (pa.types.is_list(dtype) and pa.types.is_struct(dtype.value_type))
    )


def _lines(variable: str, bound: Any, time: str, hide: tuple[str, ...]) -> list[str]:
    """A line per event that the variable is bound to; of many, the first ones and the last."""
    events = bound if isinstance(bound, list) else [bound] if bound is not None else []
    lines = [f"[bold]{escape(variable)}[/bold]  {escape(_event(event, time, hide))}" for event in events]
    folded = len(lines) - MOST_LINES
    if folded < 2:
        return lines
    return [*lines[: MOST_LINES - 1], f"[dim]… {folded} more[/dim]", lines[-1]]


def _event(event: Mapping[str, Any], time: str, hide: tuple[str, ...]) -> str:
    when = event.get(time)
    clock = cell(when).split(" ")[-1] if isinstance(when, dt.datetime) else cell(when)
    known = [
        f"{_printable(name)}={cell(value)}"
        for name, value in event.items()
        if value is not None and name != time
    ]
    return "  ".join([clock, *(text for text in known if text.partition("=")[0] not in hide)])
