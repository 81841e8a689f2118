"""The task of a Spark worker: one engine over the rows of one Spark partition.

In: the Arrow batches of the partition. Out: Arrow batches of matches, or one row with their exact number. The task is
planned on the driver, so a bad query fails there; it is sent as the pickled plan and makes its engine once. A call of
the engine takes a run of rows with all their partition keys, never one key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from cepheid.engine import Engine
from cepheid.plan.plan import Plan
from cepheid.schema import HIDDEN
from cepheid.spark.naming import outer
from cepheid.spark.sorting import in_stream_order
from cepheid.streams.times import Ints

OVERLAP = f"{HIDDEN}overlap"
"""A column that is true for rows in which no match of a time slice ends: its matches may begin there, or be forbidden
by them."""

RANK = f"{HIDDEN}rank"
"""A column with a row's rank among all rows of the same time."""

COUNT_SCHEMA = pa.schema([("count", pa.string())])


@dataclass(frozen=True, slots=True)
class MatchTask:
    """`limit`: stop after so many matches, as many as all tasks together shall give. `ranked`: the rows have their rank
    among those of the same time."""

    plan: Plan
    positions: bool
    limit: int | None
    columns: tuple[str, ...] | None = None
    ranked: bool = False

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        partitioned = bool(self.plan.query.partition_by)
        engine = Engine(
            self.plan,
            positions=self.positions,
            limit=self.limit,
            partition_positions=partitioned,
            columns=self.columns,
        )
        given = 0
        for rows, report, ranks in _runs(batches, self.plan):
            for found in engine.pieces(rows, report, ranks if self.ranked else None):
                yield from found.to_batches()
                given += found.num_rows
                if self.limit is not None and given >= self.limit:
                    return
        yield from engine.finish().to_batches()


@dataclass(frozen=True, slots=True)
class CountTask:
    """Gives its count as hexadecimal text: Python makes no more than 4,300 digits of decimal text."""

    plan: Plan

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        engine = Engine(self.plan, counting=True)
        for rows, report, _ in _runs(batches, self.plan):
            engine.push(rows, report=report)
        engine.finish()
        yield pa.record_batch([[f"{engine.counted:x}"]], schema=COUNT_SCHEMA)


def _runs(batches: Iterable[pa.RecordBatch], plan: Plan) -> Iterator[tuple[pa.Table, bool, Ints | None]]:
    """The rows in stream order, whether matches that end in them are to be reported, and their ranks if known."""
    for piece in in_stream_order(outer(batches, plan.schema.names), plan.schema):
        rows = fitted(piece, plan.schema.arrow)
        ranks = piece[RANK].to_numpy() if RANK in piece.column_names else None
        for begin, end, report in _parts(piece):
            yield rows.slice(begin, end - begin), report, None if ranks is None else ranks[begin:end]


def _parts(piece: pa.Table) -> Iterator[tuple[int, int, bool]]:
    """The overlap before a slice, the slice, and the overlap after it: where each begins and ends, and whether matches
    that end there are its own."""
    if OVERLAP not in piece.column_names or not len(piece):
        yield 0, len(piece), True
        return
    overlap = piece[OVERLAP].to_numpy()
    edges = [0, *(np.flatnonzero(overlap[1:] != overlap[:-1]) + 1).tolist(), len(piece)]
    for begin, end in pairwise(edges):
        yield begin, end, not overlap[begin]


def fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of the schema, in its types: Spark sends timestamps in the session's time zone, the plan is for UTC.
    A column that has its type is not cast: Arrow fails on a NULL list whose items may not be NULL, even if the types
    are the same."""
    columns = [table[field.name] for field in schema]
    cast = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(cast, schema=schema)
