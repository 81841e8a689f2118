"""Packing: the rows of a task of the source become pages, by bucket. Runs in a Spark worker.

In: Arrow batches, each row with the number of its partition's bucket. Out: one row per page: bucket, source, number of
rows, first and last time, and bytes. Rows enter the shuffle as a few large values instead of one by one, already
sorted. Each task also sends every bucket an empty page, so that all buckets are called in every micro-batch and see
every watermark; it carries the newest time of the task's rows, in the unit of Spark's watermark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from cepheid.schema import HIDDEN, Schema
from cepheid.spark.live.gc_freeze import freeze_modules
from cepheid.spark.live.pages import pages_of
from cepheid.spark.live.watermark import spark_ms
from cepheid.spark.naming import outer
from cepheid.spark.sorting import sorted_events
from cepheid.spark.task import fitted
from cepheid.streams.plain import whole
from cepheid.streams.times import times_of

BUCKET = f"{HIDDEN}bucket"
SORTED_BYTES = 64 << 20
"""Bytes of rows that are sorted together."""

PACKED = pa.schema(
    [
        ("bucket", pa.int32()),
        ("source", pa.int32()),
        ("number", pa.int32()),
        ("rows", pa.int32()),
        ("low", pa.binary()),
        ("high", pa.binary()),
        ("content", pa.binary()),
    ]
)


@dataclass(frozen=True, slots=True)
class PackTask:
    """`keys` are the numbers that the buckets go by."""

    schema: Schema
    keys: tuple[int, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        freeze_modules()
        context = TaskContext.get()
        source = 0 if context is None else context.partitionId()
        number = 0
        newest: int | None = None
        for table in _gathered(outer(batches, self.schema.names)):
            rows = self._sorted(table)
            last = spark_ms(
                times_of(rows[self.schema.time].slice(len(rows) - 1), self.schema.time)[0].item(), self.schema
            )
            newest = last if newest is None else max(newest, last)
            made = [page for bucket in self._buckets(rows) for page in bucket]
            yield _packed(made, source, number)
            number += len(made)
        newest_time = b"" if newest is None else number_bytes(newest)
        yield _packed([(key, 0, b"", newest_time, b"") for key in self.keys], source, number)

    def _sorted(self, table: pa.Table) -> pa.Table:
        rows = fitted(table, self.schema.arrow).append_column(BUCKET, table[BUCKET])
        return sorted_events(rows, self.schema)

    def _buckets(self, rows: pa.Table) -> Iterator[list[tuple[int, int, bytes, bytes, bytes]]]:
        buckets = whole(rows[BUCKET]).to_numpy()
        rows = rows.drop_columns([BUCKET]).combine_chunks()
        if len(self.keys) == 1:
            yield self._pages(self.keys[0], rows)
            return
        places = np.argsort(buckets.astype(np.uint16), kind="stable")
        ends = np.searchsorted(buckets[places], np.arange(len(self.keys) + 1))
        for bucket, key in enumerate(self.keys):
            own = places[ends[bucket] : ends[bucket + 1]]
            yield self._pages(key, rows.take(pa.array(own)))

    def _pages(self, key: int, rows: pa.Table) -> list[tuple[int, int, bytes, bytes, bytes]]:
        return [
            (key, page.rows, number_bytes(page.low), number_bytes(page.high), page.content)
            for page in pages_of(rows, self.schema)
        ]


def number_bytes(time: int | float) -> bytes:
    """A time, whole or real, in 8 bytes.

    >>> number_of(number_bytes(0.1), real=True), number_of(number_bytes(-7), real=False)
    (0.1, -7)
    """
    return np.array(time, "<f8" if isinstance(time, float) else "<i8").tobytes()


def number_of(content: bytes, *, real: bool) -> int | float:
    found: int | float = np.frombuffer(content, "<f8" if real else "<i8")[0].item()
    return found


def newest_of(times_of_tasks: Iterable[bytes]) -> int | None:
    """The newest time of a micro-batch, from its empty pages.

    >>> newest_of([b"", number_bytes(-7), number_bytes(-9)])
    -7
    """
    times = [int(number_of(bytes(content), real=False)) for content in times_of_tasks if len(content)]
    return max(times, default=None)


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    buffer: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if batch.num_rows:
            buffer.append(batch)
            size += batch.nbytes
        if size >= SORTED_BYTES:
            yield pa.Table.from_batches(buffer)
            buffer, size = [], 0
    if buffer:
        yield pa.Table.from_batches(buffer)


def _packed(made: list[tuple[int, int, bytes, bytes, bytes]], source: int, number: int) -> pa.RecordBatch:
    columns = list(zip(*made, strict=True)) if made else [()] * 5
    arrays = [columns[0], [source] * len(made), range(number, number + len(made)), *columns[1:]]
    return pa.record_batch(
        [pa.array(list(values), field.type) for values, field in zip(arrays, PACKED, strict=True)],
        schema=PACKED,
    )
