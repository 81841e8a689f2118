"""Matches as a table for people: one line per event, under the match it belongs to.

In: an Arrow table of matches, as `cepheid.match` gives. Out: a `rich` table. Attributes that are NULL are
left out, since most of them belong to other types of event.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from rich.table import Table

LAID_OUT = ("match_id", "start", "end", "positions")
"""Columns of every match; the others are partition columns and variables."""


def matches_table(matches: pa.Table, *, hide: tuple[str, ...] = (), title: str | None = None) -> Table:
    """One row per match. `hide` names attributes not worth repeating in every event."""
    variables = [field.name for field in matches.schema if _holds_events(field.type)]
    keys = [name for name in matches.column_names if name not in (*LAID_OUT, *variables)]
    table = Table(title=title, title_justify="left", header_style="bold", show_lines=True)
    for name in (*keys, "start", "end", "events"):
        table.add_column(name)
    for match in matches.to_pylist():
        shown = [cell(match[name]) for name in (*keys, "start", "end")]
        table.add_row(*shown, "\n".join(_lines(match, variables, hide)))
    return table


def cell(value: object) -> str:
    """A value as people write it.

    >>> cell(dt.datetime(2024, 7, 1, 12, 30)), cell(41.250000001), cell(None)
    ('2024-07-01 12:30:00', '41.25', '–')
    """
    match value:
        case None:
            return "–"
        case float():
            return f"{value:.6g}"
        case dt.datetime():
            return value.replace(tzinfo=None).isoformat(" ", "milliseconds").removesuffix(".000")
        case _:
            return str(value)


def _holds_events(dtype: pa.DataType) -> bool:
    return bool(
        pa.types.is_struct(dtype) or (pa.types.is_list(dtype) and pa.types.is_struct(dtype.value_type))
    )


def _lines(match: Mapping[str, Any], variables: list[str], hide: tuple[str, ...]) -> list[str]:
    """`x: type=T tmp=45`, one line per event, in the order of the variables."""
    lines = []
    for variable in variables:
        events = match[variable] if isinstance(match[variable], list) else [match[variable]]
        for event in events:
            if event is not None:
                known = [
                    f"{name}={cell(value)}"
                    for name, value in event.items()
                    if value is not None and name not in hide
                ]
                lines.append(f"[bold]{variable}[/bold]  {'  '.join(known)}")
    return lines
