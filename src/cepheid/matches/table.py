"""Found matches → a table: one row per match (DESIGN, section 7).

Columns: `match_id`, the partition columns, `start` and `end` (times), one column per selected variable (a struct for
one event, a list of structs for many) or expression, `positions` on request. Everything is gathered column by column,
and only what is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.algebra.conditions import sets_chosen
from cepheid.algebra.nodes import Computed
from cepheid.algebra.types import type_of_value
from cepheid.algebra.variables import Shown
from cepheid.errors import CepheidError, did_you_mean
from cepheid.kernels.matches.ids import BLOCK, match_ids, sequence_ids
from cepheid.kernels.memory.hashing import hash_words
from cepheid.matches.computed import Evaluate, Expressions
from cepheid.matches.event_rows import Identities, RowsOfMatches
from cepheid.matches.history import ROW, integers
from cepheid.matches.lists import copied, lists
from cepheid.matches.match_arrays import Found, Ints
from cepheid.matches.shown_events import Chosen
from cepheid.schema import Schema
from cepheid.streams.gather import Gathered, Rows, new_array

Labels = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """What the output shows."""

    schema: Schema
    partition_by: tuple[str, ...]
    items: tuple[Shown | Computed, ...]  # what SELECT asks for
    positions: str | None  # the hidden column that positions are read from, or None
    columns: tuple[str, ...] | None = None  # which of the columns, None for all

    @property
    def arrow(self) -> pa.Schema:
        """The schema of the output."""
        known = self._names
        names = known if self.columns is None else self.columns
        for name in names:
            if name not in known:
                listed = "the columns of the output are " + ", ".join(f"`{other}`" for other in known)
                hint = did_you_mean(name, known, listed)
                raise CepheidError("unknown-column", f"the output has no column `{name}`", hint=hint)
        return pa.schema([self.field(name) for name in names])

    @property
    def reads_events(self) -> bool:
        """Whether the rows of the matches' events are needed, and not only their numbers."""
        return self.positions != ROW or self.columns is None or set(self.columns) != {"positions"}

    @property
    def _names(self) -> tuple[str, ...]:
        """The columns that there are."""
        positions = () if self.positions is None else ("positions",)
        items = (item.name for item in self.items)
        return ("match_id", *self.partition_by, "start", "end", *items, *positions)

    def field(self, name: str) -> pa.Field:
        """A column of the output; only the types of the columns that it reads need be known."""
        if name == "match_id":
            return pa.field(name, pa.string(), nullable=False)
        if name in ("start", "end"):
            return pa.field(name, self.schema.time_type)
        if name == "positions":
            return pa.field(name, pa.list_(pa.int64()))
        if name in self.partition_by:
            return pa.field(name, self.schema.arrow.field(name).type)
        (item,) = (item for item in self.items if item.name == name)
        if isinstance(item, Computed):
            one, many = type_of_value(item.value, self.schema), bool(sets_chosen(item.value))
        else:
            one, many = event_type(self.schema), item.many
        return pa.field(name, pa.list_(one) if many else one)


def event_type(schema: Schema) -> pa.StructType:
    """An event as the output shows it: all its columns."""
    return pa.struct([pa.field(name, schema.arrow.field(name).type) for name in schema.shown])


def tabulate(
    found: Found,
    labels: Labels,
    layout: Layout,
    rows: RowsOfMatches,
    evaluate: Evaluate,
    given_away: bool = False,
) -> pa.Table:
    """The matches as a table; `labels` says what the numbers of their labels mean, `evaluate` computes expressions.
    Rows that are given away are not copied."""
    schema = layout.arrow
    if len(found) == 0:
        return schema.empty_table()
    makers: dict[str, Callable[[], pa.Array]] = {}
    if layout.reads_events:
        at = rows.events(found.rows)
        chosen, gathered, time = Chosen(found, labels, at.places), Gathered(at.table), layout.schema.time
        expressions = Expressions(chosen, gathered, layout.schema, evaluate)
        makers["match_id"] = lambda: ids_of(found, labels, chosen, at.identities())
        makers |= {name: partial(gathered.column, name, chosen.last) for name in layout.partition_by}
        makers["start"] = lambda: gathered.column(time, chosen.first)
        makers["end"] = lambda: gathered.column(time, chosen.last)
        for item in layout.items:
            if isinstance(item, Computed):
                makers[item.name] = partial(expressions.column, item)
            else:
                makers[item.name] = partial(_variable, item, chosen, gathered, layout.schema)
    if layout.positions == ROW:
        own = pa.array if given_away else partial(copied, dtype=np.int64)
        makers["positions"] = lambda: lists(found.offsets, own(found.rows))
    elif layout.positions is not None:
        numbers = integers(at.table, layout.positions)
        makers["positions"] = lambda: lists(found.offsets, pa.array(numbers[at.places.numbers]))
    return pa.Table.from_arrays(
        [_fitting(makers[field.name](), field.type) for field in schema], schema=schema
    )


def _variable(variable: Shown, chosen: Chosen, gathered: Gathered, schema: Schema) -> pa.Array:
    if variable.many:
        offsets, index = chosen.all_of(variable.name)
        return lists(offsets, _events(schema, gathered, index, None))
    return _events(schema, gathered, *chosen.one_of(variable.name))


def _events(
    schema: Schema, gathered: Gathered, index: Rows, missing: npt.NDArray[np.bool_] | None
) -> pa.StructArray:
    columns = [gathered.column(name, index) for name in schema.shown]
    mask = None if missing is None else pa.array(missing)
    return pa.StructArray.from_arrays(columns, fields=list(event_type(schema)), mask=mask)


def _fitting(column: pa.Array, dtype: pa.DataType) -> pa.Array:
    return column if column.type == dtype else column.cast(dtype)


def ids_of(found: Found, labels: Labels, chosen: Chosen, identities: Identities) -> pa.Array:
    digits, words = new_array(4 * len(found), np.uint64)
    places, *event_hashes = identities
    at, room = chosen.at(places), np.empty((4, BLOCK), np.uint64)
    hashes = (*event_hashes, found.labels, *label_hashes(labels), room, words)
    if chosen.is_sequence:
        sequence_ids(at, *hashes)
    else:
        match_ids(found.offsets, at[0], *hashes)
    if sys.byteorder == "big":
        words.byteswap(inplace=True)
    return pa.Array.from_buffers(pa.string(), len(found), [None, _id_offsets(len(found)), digits])


@lru_cache(maxsize=1)
def _id_offsets(count: int) -> pa.Buffer:
    """Where each of so many ids begins."""
    return pa.py_buffer(np.arange(0, 32 * count + 1, 32, dtype=np.int32))


def label_hashes(labels: Labels) -> tuple[Ints, Ints]:
    """Hashes of the variables' names, so that an id depends on the binding but not on how labels are numbered."""
    low, high = np.zeros(len(labels), np.int64), np.zeros(len(labels), np.int64)
    for number, names in enumerate(labels):
        text = "\0".join(sorted(names)).encode()
        words = np.frombuffer(text, np.uint8).astype(np.int64).reshape(1, -1)
        hash_words(words, low[number : number + 1], high[number : number + 1])
    return low, high
