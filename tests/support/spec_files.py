"""Reads `tests/spec/*.md`: streams, queries and the matches, rows or errors they must give.

In: a markdown file. Out: its `Example`s. A file is prose with fenced blocks:

- `stream`: a small table, a header and a row per event, split at `|` if there is one, else at spaces. `-` is
NULL,
  `""` the empty string. Columns are whole numbers, reals, timestamps (`2024-01-31T10:00:00`) or text,
  whichever all values are; `type` is always text. Without a column `ts` an event's time is its row. It holds
  until the next one.
- `cel`, `sremo`, `sase`: a query of that language; `nary` after the word says that conditions compare events.
- `matches`: what the queries since the last such block must all give, one line per match: its positions and,
where
  the lines say so, its bindings: `{1,2} x=1 y=2`, and `y=[4,6]` for a variable that can hold several events.
  A variable that is not bound is left out.
- `rows`: instead, a table of columns of the output, a row per match; `-` is NULL, `""` the empty string, `[1,-]` a
  list, `#3` the event of row 3, `(1,-)` a struct; text is bare.
- `error`: the code of the error the queries must give, then lines that its text must contain.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

Binding = int | tuple[int, ...]

ROW = "_row"
"""A column the reader adds: the event's row, so that a struct in the output says which event it is."""


@dataclass(frozen=True, slots=True)
class Match:
    positions: tuple[int, ...]
    bindings: tuple[tuple[str, Binding], ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """`error` is the code and the fragments of its text; else `matches`, or `rows` with their header first, say what
    comes out."""

    name: str
    stream: pa.Table
    query: str
    matches: tuple[Match, ...]
    error: tuple[str, ...] | None
    rows: tuple[tuple[str, ...], ...] | None = None


def examples(path: Path) -> Iterator[Example]:
    """Every query of a file with what it must give, named after its heading."""
    heading, count = "", 0
    stream: pa.Table | None = None
    queries: list[str] = []
    for kind, body in _blocks(path.read_text(encoding="utf-8")):
        match kind:
            case "heading":
                assert not queries, f"{path.name}: queries without matches before {body!r}"
                heading, count = body, 0
            case "stream":
                stream = read_stream(body)
            case "cel" | "sremo" | "sase":
                queries.append(body)
            case "matches" | "error" | "rows":
                assert stream is not None, f"{path.name}: no stream before {heading!r}"
                assert queries, f"{path.name}: {kind} without a query in {heading!r}"
                matches = tuple(map(read_match, body.splitlines())) if kind == "matches" else ()
                error = tuple(body.splitlines()) if kind == "error" else None
                rows = read_rows(body) if kind == "rows" else None
                for number, text in enumerate(queries, count + 1):
                    yield Example(f"{path.stem}: {heading} {number}", stream, text, matches, error, rows)
                count += len(queries)
                queries = []
            case _:
                raise AssertionError(f"{path.name}: unknown block {kind!r}")
    assert not queries, f"{path.name}: queries without matches at the end"


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Headings and fenced blocks in order: kind, text."""
    pattern = r"^#+ +(?P<heading>[^\n]+)$|^```(?P<kind>\w+)[^\n]*\n(?P<body>.*?)^```$"
    for found in re.finditer(pattern, text, re.MULTILINE | re.DOTALL):
        if found["heading"] is not None:
            yield "heading", found["heading"]
        else:
            yield found["kind"], found["body"].strip("\n")


def read_stream(text: str) -> pa.Table:
    """A table with the columns given, `ts` and `_row`.

    >>> read_stream("type v\\nA 1\\nB -").to_pylist()
    [{'type': 'A', 'v': 1, 'ts': 0, '_row': 0}, {'type': 'B', 'v': None, 'ts': 1, '_row': 1}]
    """
    header, *rows = (
        _cells(line) for line in text.splitlines() if not re.fullmatch(r"[|\-: ]*--[|\-: ]*", line)
    )
    columns = {name: _column(name, [row[index] for row in rows]) for index, name in enumerate(header)}
    numbers = pa.array(range(len(rows)), pa.int64())
    return pa.table({**columns, "ts": columns.get("ts", numbers), ROW: numbers})


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if "|" in line else line.split()


def _column(name: str, cells: list[str]) -> pa.Array:
    known = [cell for cell in cells if cell != "-"]
    readers: list[tuple[pa.DataType, Callable[[str], Any]]] = [
        (pa.int64(), int),
        (pa.float64(), float),
        (pa.timestamp("us"), dt.datetime.fromisoformat),
    ]
    for type, read in readers if name != "type" else ():
        try:
            values = {cell: read(cell) for cell in known}
        except ValueError:
            continue
        return pa.array([values.get(cell) for cell in cells], type)
    return pa.array([None if cell == "-" else "" if cell == '""' else cell for cell in cells], pa.string())


def read_match(line: str) -> Match:
    """
    >>> read_match("{1,4,6} x=1 y=[4,6]")
    Match(positions=(1, 4, 6), bindings=(('x', 1), ('y', (4, 6))))
    """
    found = re.fullmatch(r"\{([\d,\s]+)\}(.*)", line.strip())
    assert found, f"not a match: {line!r}"
    bindings = re.findall(r"(\S+)=(\[[\d,\s]*\]|\d+)", found[2])
    return Match(_numbers(found[1]), tuple((name, _binding(value)) for name, value in sorted(bindings)))


def _binding(value: str) -> Binding:
    return _numbers(value[1:-1]) if value.startswith("[") else int(value)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def read_rows(text: str) -> tuple[tuple[str, ...], ...]:
    """
    >>> read_rows("id | v\\n1 | [2,-]")
    (('id', 'v'), ('1', '[2,-]'))
    """
    return tuple(tuple(_cells(line)) for line in text.splitlines())


def rows_of(result: pa.Table, header: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The columns of an output table as they are written in a `rows` block."""
    return [tuple(map(_written, row.values())) for row in result.select(list(header)).to_pylist()]


def _written(value: Any) -> str:
    match value:
        case None:
            return "-"
        case list():
            return f"[{','.join(map(_written, value))}]"
        case bool():
            return str(value).lower()
        case dict() if ROW in value:
            return f"#{value[ROW]}"
        case dict():
            return f"({','.join(map(_written, value.values()))})"
        case dt.datetime():
            return value.isoformat()
        case _:
            return str(value) or '""'


def matches_of(result: pa.Table, stream: pa.Table) -> list[Match]:
    """The matches of an output table with positions; the variables' columns are its structs and lists of
    structs."""
    in_order = stream.append_column("_arrival", pa.array(range(len(stream)))).sort_by(
        [("ts", "ascending"), ("_arrival", "ascending")]
    )
    position_of = {row: position for position, row in enumerate(in_order.column(ROW).to_pylist())}
    names = [field.name for field in result.schema if _is_variable(field.type)]
    return [
        Match(
            tuple(row["positions"]),
            tuple(_bound(row, name, position_of) for name in sorted(names) if row[name]),
        )
        for row in result.to_pylist()
    ]


def _is_variable(type: pa.DataType) -> bool:
    listed = pa.types.is_list(type) or pa.types.is_large_list(type)
    return bool(pa.types.is_struct(type) or (listed and pa.types.is_struct(type.value_type)))


def _bound(row: dict[str, Any], name: str, position_of: dict[int, int]) -> tuple[str, Binding]:
    value = row[name]
    if isinstance(value, list):
        return name, tuple(position_of[event[ROW]] for event in value)
    return name, position_of[value[ROW]]
