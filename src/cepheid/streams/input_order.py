"""The input of an engine: batches with the columns of its schema, whose rows follow each other in stream order.

In: batches as a user pushes them. Out: tables of the schema's types and their times, or an error that names the first
row out of order. The last row is kept, to check the order from batch to batch.
"""

from __future__ import annotations

import pyarrow as pa

from cepheid.errors import CepheidError
from cepheid.schema import Schema
from cepheid.semantics.rows import values_of
from cepheid.state_checks import is_time, require, require_columns
from cepheid.streams.order import first_unordered
from cepheid.streams.plain import plain_table
from cepheid.streams.times import Times, times_of


class InputOrder:
    """`last` is the last row, with the columns that order rows; None before the first. At or before the time `passed`
    no row may come any more."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._names = [schema.time] if schema.order in (None, schema.time) else [schema.time, schema.order]
        self.last: pa.Table | None = None
        self.passed: int | float | None = None

    @property
    def last_time(self) -> Times | None:
        """The time of the last row, as the only one of an array."""
        name = self._schema.time
        return None if self.last is None else times_of(self.last[name], name)

    def checked(self, batch: pa.RecordBatch | pa.Table) -> pa.Table:
        """The batch as a table with exactly the columns of the schema."""
        if not isinstance(batch, pa.RecordBatch | pa.Table):
            given = f"{type(batch).__module__}.{type(batch).__name__}"
            raise CepheidError(
                "bad-data",
                f"`push` requires a pyarrow RecordBatch or Table; got a {given} instead",
                hint="`match` takes frames of other kinds",
            )
        table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        expected = self._schema.arrow
        for name in expected.names:
            if (count := table.column_names.count(name)) != 1:
                had = "no column" if count == 0 else f"{count} columns"
                message = f"the batch has {had} `{name}`; the engine's schema has one"
                raise CepheidError("bad-data", message)
        table = plain_table(table.select(expected.names))
        if table.schema.types == expected.types:
            return table
        try:
            return table.cast(expected)
        except pa.ArrowException as error:
            message = f"the batch does not fit the engine's schema: {error}"
            raise CepheidError("bad-data", message) from error

    def times(self, table: pa.Table, rows: int) -> Times:
        """The times of the next rows, after `rows` others. All are checked before the first is taken, so that an error
        changes nothing."""
        schema = self._schema
        times = times_of(table[schema.time], schema.time, rows)
        if self.passed is not None and len(times) and times[0] <= self.passed:
            (value,) = values_of(table[schema.time].slice(0, 1))
            message = f"row {rows} (time {value}) comes after that time was passed"
            raise CepheidError(
                "unsorted", message, hint="pass the time only when all its rows have been pushed"
            )
        order = table.select(self._names)
        before = 0 if self.last is None else 1
        if self.last is not None:
            order = pa.concat_tables([self.last, order])
        place = first_unordered(order, schema)
        if place >= 0:
            row = rows + place - before
            (value,) = values_of(table[schema.time].slice(place - before, 1))
            raise CepheidError(
                "unsorted",
                f"row {row} (time {value}) comes after row {row - 1} but belongs before it in stream order",
                hint="push batches in order of time, ties by the order column; `match` sorts by itself",
            )
        if len(order):
            self.last = order.slice(len(order) - 1)
        return times

    def load(self, last: pa.Table | None, passed: int | float | None = None) -> None:
        """Takes over the last row of a saved state, and the time that had passed."""
        require(passed is None or is_time(passed), "the time that has passed is none")
        if last is not None:
            schema = self._schema
            require_columns(last, pa.schema([schema.arrow.field(name) for name in self._names]), "last")
            require(len(last) == 1, "`last` is not one row")
            times_of(last[schema.time], schema.time)
        self.last, self.passed = last, passed
