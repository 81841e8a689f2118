"""Pages: runs of rows in stream order as bytes, as they are shuffled and buffered.

In: a table of one schema. Out: an Arrow stream, compressed with Zstandard, with its number of rows and its first and
last time. A page never changes: if the watermark has passed part of it, its later rows are read again. So pages are
small, and buffered rows are only ever copied as bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepheid.schema import Schema
from cepheid.state_checks import reading_a_state, require_columns
from cepheid.streams.times import Time, Times, times_of

BYTES = 1 << 17
"""Bytes of the rows of a page before compression. Ten thousand pages, the most that Spark hands over at once, stay
below the 2 GiB that an Arrow column can hold."""

_OPTIONS = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", 1), use_threads=False)


@dataclass(frozen=True, slots=True)
class Page:
    """Rows whose times lie between `low` and `high`."""

    rows: int
    low: int | float
    high: int | float
    content: bytes


def pages_of(table: pa.Table, schema: Schema) -> Iterator[Page]:
    """The rows, which are in stream order, as pages.

    >>> from cepheid.schema import schema_of
    >>> rows = pa.table({"ts": [1, 2, 5]})
    >>> [(page.rows, page.low, page.high) for page in pages_of(rows, schema_of(rows.schema, time="ts"))]
    [(3, 1, 5)]
    """
    if len(table) == 0:
        return
    times = times_of(table[schema.time], schema.time)
    rows = max(1, len(table) * BYTES // max(table.nbytes, 1))
    for begin in range(0, len(table), rows):
        part = table.slice(begin, rows)
        low, high = times[begin], times[begin + len(part) - 1]
        yield Page(len(part), low.item(), high.item(), written(part))


def written(table: pa.Table) -> bytes:
    """A table as bytes; of a slice only its own rows."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_OPTIONS) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def read(content: bytes, schema: Schema) -> pa.Table:
    """The rows of a page, checked: a checkpoint is not trusted."""
    with reading_a_state():
        table = pa.ipc.open_stream(content).read_all()
        table.validate(full=True)
        require_columns(table, schema.arrow, "page")
        return table


def after(table: pa.Table, times: Times, last: Time | None) -> tuple[pa.Table, Times]:
    """The rows, which are in stream order, that are later than `last`, and their times."""
    if last is None:
        return table, times
    begin = int(np.searchsorted(times, last, side="right"))
    return table.slice(begin), times[begin:]
