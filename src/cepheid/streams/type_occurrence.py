"""Which of the event types that a query names occur in the data, searched for while the data is read.

In: the type column, whole or batch by batch. Out: a warning that names the missing types and lists those that occur. A
type is searched for only until it is found; almost always the first rows have them all.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from cepheid.algebra.event_types import types_named
from cepheid.algebra.nodes import Query
from cepheid.errors import did_you_mean, warn
from cepheid.schema import DEFAULT_TYPE

MOST_LISTED = 10
MOST_KEPT = 256  # of the types that occur, to find the nearest among
FIRST_ROWS = 1 << 12  # searched before the rest, as most types occur in them


class TypeOccurrence:
    def __init__(self, query: Query, column: str | None) -> None:
        """`column` holds an event's type; None: nothing is searched for."""
        self._column = column
        self._missing = [] if column is None else list(types_named(query, column))
        self._types: dict[str, None] = {}  # that occur: a few, for the message
        self._rows = 0

    @property
    def complete(self) -> bool:
        """Whether every type that the query names has been found."""
        return not self._missing

    def look(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Searches some rows, which have the type column."""
        self._rows += rows.num_rows
        if not self._missing or not rows.num_rows:
            return
        assert self._column is not None
        column = rows[self._column]
        for part in (column.slice(0, FIRST_ROWS), column.slice(FIRST_ROWS)):
            self._missing = [name for name in self._missing if not _holds(part, name)]
        if self._missing and len(self._types) < MOST_KEPT:
            self._types.update(dict.fromkeys(_texts(column)[:MOST_KEPT]))

    def warn(self) -> None:
        """Warns of the types that do not occur, if there were rows at all."""
        if not self._missing or not self._rows:
            return
        names = " or ".join(f"`{name}`" for name in self._missing[:MOST_LISTED])
        near = did_you_mean(self._missing[0], self._types)
        near = f"; {near}" if near and len(self._missing) == 1 else "."
        warn(
            f"no event is of type {names}: column `{self._column}` holds {self._listed()}{near} {self._hint()}"
        )

    def _listed(self) -> str:
        shown = [f"`{name}`" for name in list(self._types)[:MOST_LISTED]]
        return ", ".join([*shown, "…"] if len(self._types) > MOST_LISTED else shown) or "NULL only"

    def _hint(self) -> str:
        if self._column == DEFAULT_TYPE:
            return (
                f"If column `{DEFAULT_TYPE}` does not hold the event types, name the column that does with `type=` "
                "(`--type`), or say that there is none with `type=None` (`--no-type`)."
            )
        return "Another column is named with `type=` (`--type`)."


def _holds(column: pa.ChunkedArray | pa.Array, name: str) -> bool:
    dtype = column.type
    if pa.types.is_string(dtype) or pa.types.is_large_string(dtype):
        return bool(pc.index(column, pa.scalar(name, dtype)).as_py() >= 0)
    return name in _texts(column)


def _texts(column: pa.ChunkedArray | pa.Array) -> list[str]:
    """The distinct types as queries write them."""
    distinct = pc.unique(column)
    if pa.types.is_dictionary(distinct.type):
        distinct = distinct.dictionary_decode()
    return [str(value) for value in distinct.to_pylist() if value is not None]
