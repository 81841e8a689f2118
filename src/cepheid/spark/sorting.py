"""Sorts the rows of one Spark partition into stream order inside the Python worker, whatever their number.

In: the Arrow batches of a partition in Spark's order. Out: consecutive tables in stream order; rows with the same time
are never in two tables. Up to `memory` bytes are sorted in memory, in about half the time of a sort in the JVM. More
rows are written to Spark's local directory in sorted runs, which are merged by time: the size need not be known
beforehand.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.errors import CepheidError
from cepheid.schema import HIDDEN, Schema
from cepheid.streams.order import sort_stream
from cepheid.streams.times import Times, times_of

ARRIVAL = f"{HIDDEN}arrival"
"""A column that numbers the rows in order of arrival; it decides ties."""

MEMORY = 256 << 20
LONGEST = 300
"""Characters of an event that an error shows."""

SAMPLES_PER_PIECE = 16
ROWS_PER_BLOCK = 1 << 16


def in_stream_order(
    batches: Iterable[pa.RecordBatch], schema: Schema, *, memory: int = MEMORY
) -> Iterator[pa.Table]:
    """The rows of the batches by time, then by the order column, then by arrival.

    >>> from cepheid.schema import schema_of
    >>> rows = pa.table({"ts": [3, 1, 2], ARRIVAL: [0, 1, 2]})
    >>> schema = schema_of(rows.select(["ts"]).schema, time="ts")
    >>> [piece["ts"].to_pylist() for piece in in_stream_order(rows.to_batches(), schema)]
    [[1, 2, 3]]
    """
    with tempfile.TemporaryDirectory(prefix="cepheid-sort-", dir=_local_directory()) as directory:
        runs: list[pa.Table] = []
        buffer: list[pa.RecordBatch] = []
        size = 0
        for batch in batches:
            buffer.append(batch)
            size += batch.nbytes
            if size >= memory:
                run = _sorted(pa.Table.from_batches(buffer), schema)
                runs.append(_spilled(run, Path(directory, f"{len(runs)}")))
                buffer, size = [], 0
        if buffer:
            runs.append(_sorted(pa.Table.from_batches(buffer), schema))
        yield from _merged(runs, schema, memory) if len(runs) > 1 else runs


def sorted_events(table: pa.Table, schema: Schema) -> pa.Table:
    """The rows in stream order. An error about a bad time shows the event: a task does not know row numbers."""
    try:
        return sort_stream(table, schema)
    except CepheidError as error:
        if error.code != "bad-time":
            raise
        message = error.message + _with_bad_time(table, schema)
        raise CepheidError(error.code, message, hint=error.hint) from None


def _with_bad_time(table: pa.Table, schema: Schema) -> str:
    times = table[schema.time]
    bad = pc.is_null(times, nan_is_null=True)
    if pa.types.is_floating(times.type):
        bad = pc.or_(bad, pc.fill_null(pc.is_inf(times), False))
    row = pc.index(bad, True).as_py()
    if row < 0:
        return ""
    event = table.select([name for name in schema.shown if name != schema.time]).slice(row, 1).to_pylist()[0]
    shown = str(event)
    return f": the event {shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + '…'}"


def _sorted(table: pa.Table, schema: Schema) -> pa.Table:
    # Sorting by time keeps the order of ties, so the rows must be in order of arrival first. They usually
    # are, or come as a few ascending blocks, one per task before the shuffle.
    arrival = table[ARRIVAL].to_numpy()
    if np.any(arrival[1:] < arrival[:-1]):
        table = table.take(pa.array(np.argsort(arrival, kind="stable")))
    return sorted_events(table, schema)


def _spilled(table: pa.Table, path: Path) -> pa.Table:
    """The same table, on disk and mapped back."""
    with pa.ipc.new_file(str(path), table.schema) as writer:
        # A file has one dictionary per column.
        writer.write_table(table.unify_dictionaries(), max_chunksize=ROWS_PER_BLOCK)
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def _merged(runs: list[pa.Table], schema: Schema, memory: int) -> Iterator[pa.Table]:
    times = [times_of(run[schema.time], schema.time) for run in runs]
    pieces = 1 + sum(run.nbytes for run in runs) // memory
    begins = [0] * len(runs)
    for cut in (*_cuts(times, pieces), None):
        ends = [len(t) if cut is None else int(np.searchsorted(t, cut)) for t in times]
        parts = [run.slice(begin, end - begin) for run, begin, end in zip(runs, begins, ends, strict=True)]
        begins = ends
        yield _sorted(pa.concat_tables(parts), schema)


def _cuts(times: list[Times], pieces: int) -> Times:
    """Times that part the rows of all runs into pieces of about the same size."""
    samples: list[Any] = [t[:: max(1, len(t) // (pieces * SAMPLES_PER_PIECE))] for t in times]
    pooled = np.sort(np.concatenate(samples))
    cuts: Times = np.unique(pooled[np.arange(1, pieces) * len(pooled) // pieces])
    return cuts


def _local_directory() -> str | None:
    """Where Spark lets a worker write; the system's own place for temporary files elsewhere."""
    return os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None
