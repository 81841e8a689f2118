"""Puts the rows of one Spark partition in stream order inside the Python worker, whatever their number.

In: the Arrow batches of a partition in the order Spark hands them. Out: tables in stream order that follow
one another; rows with the same time are never in two tables. Up to `memory` bytes are sorted in place, which
takes about half the time of a sort in the JVM. What is beyond goes to Spark's local directory in sorted runs,
which are then merged by time: the size need not be known, or guessed, beforehand.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from cepheid.order import sort_stream

from cepheid.schema import Schema

ARRIVAL = "__cepheid_arrival"
"""A column that numbers the rows as they arrived; it decides between rows that are otherwise equal in
order."""

MEMORY = 256 << 20
SAMPLES_PER_PIECE = 16
ROWS_PER_BLOCK = 1 << 16

Ticks = npt.NDArray[np.int64] | npt.NDArray[np.float64]


def in_stream_order(
    batches: Iterable[pa.RecordBatch], schema: Schema, *, memory: int = MEMORY
) -> Iterator[pa.Table]:
    """The rows of the batches by time, then by the order column, then by arrival.

    >>> from cepheid.schema import schema_of
    >>> rows = pa.table({"ts": [3, 1, 2], ARRIVAL: [0, 1, 2]})
    >>> schema = schema_of(rows.schema, time="ts")
    >>> [piece["ts"].to_pylist() for piece in in_stream_order(rows.to_batches(), schema)]
    [[1, 2, 3]]
    """
    with tempfile.TemporaryDirectory(prefix="cepheid-sort-", dir=_local_directory()) as directory:
        runs: list[pa.Table] = []
        held: list[pa.RecordBatch] = []
        size = 0
        for batch in batches:
            held.append(batch)
            size += batch.nbytes
            if size >= memory:
                runs.append(
                    _spilled(_sorted(pa.Table.from_batches(held), schema), Path(directory, f"{len(runs)}"))
                )
                held, size = [], 0
        if held:
            runs.append(_sorted(pa.Table.from_batches(held), schema))
        yield from _merged(runs, schema, memory) if len(runs) > 1 else runs


def _sorted(table: pa.Table, schema: Schema) -> pa.Table:
    # Sorting by time keeps the order of ties, so the rows must be in order of arrival first. They usually
    # are, or come as a few ascending blocks, one per task before the shuffle.
    arrival = table[ARRIVAL].to_numpy()
    if np.any(arrival[1:] < arrival[:-1]):
        table = table.take(pa.array(np.argsort(arrival, kind="stable")))
    return sort_stream(table, schema)


def _spilled(table: pa.Table, path: Path) -> pa.Table:
    """The same table, on disk and mapped back."""
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=ROWS_PER_BLOCK)
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def _merged(runs: list[pa.Table], schema: Schema, memory: int) -> Iterator[pa.Table]:
    times = [ticks(run[schema.time]) for run in runs]
    pieces = 1 + sum(run.nbytes for run in runs) // memory
    begins = [0] * len(runs)
    for cut in (*_cuts(times, pieces), None):
        ends = [len(t) if cut is None else int(np.searchsorted(t, cut)) for t in times]
        parts = [run.slice(begin, end - begin) for run, begin, end in zip(runs, begins, ends, strict=True)]
        begins = ends
        yield _sorted(pa.concat_tables(parts), schema)


def _cuts(times: list[Ticks], pieces: int) -> Ticks:
    """Times that part the rows of all runs into pieces of about the same size."""
    samples: list[Any] = [t[:: max(1, len(t) // (pieces * SAMPLES_PER_PIECE))] for t in times]
    pooled = np.sort(np.concatenate(samples))
    cuts: Ticks = np.unique(pooled[np.arange(1, pieces) * len(pooled) // pieces])
    return cuts


def ticks(times: pa.ChunkedArray) -> Ticks:
    """Times as numbers in their own order: microseconds for timestamps and dates, else the numbers
    themselves.

    >>> import datetime as dt
    >>> ticks(pa.chunked_array([[dt.date(1970, 1, 2)]])).tolist()
    [86400000000]
    """
    if pa.types.is_date(times.type):
        times = times.cast(pa.timestamp("us"))
    if pa.types.is_timestamp(times.type):
        times = times.cast(pa.timestamp("us", times.type.tz), safe=False).cast(pa.int64())
    numbers: Ticks = pc.cast(
        times, pa.float64() if pa.types.is_floating(times.type) else pa.int64()
    ).to_numpy()
    return numbers


def _local_directory() -> str | None:
    """Where Spark lets a worker write; the system's own place for temporary files elsewhere."""
    return os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None
