"""The stateful operator: Spark calls it for each bucket with new pages, and when the watermark has moved.

In: a group of packed pages, or a timer. Out: tables of matches as bytes, and a row of metrics. The state is a head
(`ValueState`) and pages (`MapState`). A timer is always set just after the last watermark: so each bucket is called
whenever the watermark has moved, with or without new rows, releases the rows it has passed, and knows which are late.

Facts about Spark that this rests on: the watermark given is the current micro-batch's; timers fire after all rows
have been handed over; a timer is deleted after it has fired, so the next must be set for another time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from cepheid.errors import CepheidError
from cepheid.spark.live.bucket import Arrived, Bucket, Numbers
from cepheid.spark.live.gc_freeze import freeze_modules
from cepheid.spark.live.job import Job
from cepheid.spark.live.late import write_late
from cepheid.spark.live.pack import newest_of, number_of
from cepheid.spark.live.pages import Page, written
from cepheid.spark.sending import NOTHING, SentKernels
from cepheid.spark.task import fitted

OUTPUT = "content binary, late bigint, matches bigint, waiting bigint, state_bytes bigint, memory bigint"
ROWS = 1 << 15
"""Matches in one piece of output."""


class MatchOperator(StatefulProcessor):  # type: ignore[misc]
    def __init__(self, job: Job, kernels: SentKernels = NOTHING) -> None:
        self._job, self._kernels = job, kernels

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._kernels.use()
        self._handle = handle
        self._head = handle.getValueState("head", "head binary")
        self._pages = handle.getMapState("pages", "number bigint", "content binary")

    # Spark calls these by name, and passes by name.
    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        real = pa.types.is_floating(self._job.plan.schema.time_type)
        packed = [row for frame in rows for row in frame.to_dict("records")]
        arrived = [_arrived(row, real) for row in packed if row["rows"]]
        newest = newest_of(row["high"] for row in packed if not row["rows"])
        yield from self._call(int(key[0]), arrived, int(timerValues.getCurrentWatermarkInMs()), newest)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        yield from self._call(int(key[0]), [], int(timerValues.getCurrentWatermarkInMs()))

    def close(self) -> None:
        pass

    def _call(
        self, key: int, arrived: list[Arrived], watermark_ms: int, newest_ms: int | None = None
    ) -> Iterator[pd.DataFrame]:
        freeze_modules()
        bucket = Bucket(self._job, _SparkStore(self._head, self._pages))
        bucket.take(arrived)
        for found in bucket.release(bucket.passed(watermark_ms)):
            for begin in range(0, len(found), ROWS):
                yield _row(written(found.slice(begin, ROWS)), Numbers())
        if bucket.late:
            write_late(self._job.late, bucket.late, f"{_query()}-{key}-{bucket.head.calls}")
        self._set_alarm(bucket, watermark_ms)
        bucket.note_newest(newest_ms)
        bucket.close()
        yield _row(None, bucket.numbers)

    def _set_alarm(self, bucket: Bucket, watermark_ms: int) -> None:
        alarm = max(watermark_ms, 0) + 1
        if bucket.head.alarm == alarm:
            return
        if bucket.head.alarm is not None:
            self._handle.deleteTimer(bucket.head.alarm)
        self._handle.registerTimer(alarm)
        bucket.head.alarm = alarm


def _query() -> str:
    """The query's id, the same after every restart. In Python only the properties of a task have it."""
    context = TaskContext.get()
    found = None if context is None else context.getLocalProperty("sql.streaming.queryId")
    if not found:
        raise CepheidError("bad-state", "Spark does not say which query a task belongs to")
    return str(found)


class _SparkStore:
    def __init__(self, head: Any, pages: Any) -> None:
        self._head, self._pages = head, pages

    def head(self) -> bytes | None:
        found = self._head.get()
        return None if found is None else bytes(found[0])

    def put_head(self, head: bytes) -> None:
        self._head.update((head,))

    def page(self, number: int) -> bytes:
        return bytes(self._pages.getValue((number,))[0])

    def put_page(self, number: int, content: bytes) -> None:
        self._pages.updateValue((number,), (content,))

    def drop_page(self, number: int) -> None:
        self._pages.removeKey((number,))


def _arrived(row: Mapping[Any, Any], real: bool) -> Arrived:
    low, high = number_of(bytes(row["low"]), real=real), number_of(bytes(row["high"]), real=real)
    return Arrived(
        int(row["source"]), int(row["number"]), Page(int(row["rows"]), low, high, bytes(row["content"]))
    )


def _row(content: bytes | None, numbers: Numbers) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "content": pd.Series([content], dtype=object),
            "late": [numbers.late],
            "matches": [numbers.matches],
            "waiting": [numbers.waiting],
            "state_bytes": [numbers.state_bytes],
            "memory": [numbers.memory],
        }
    )


@dataclass(frozen=True, slots=True)
class UnpackTask:
    """`unpack`, to be sent to a worker."""

    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return unpack(batches, self.schema)


def unpack(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The matches in the operator's output. Runs in a Spark worker."""
    freeze_modules()
    for batch in batches:
        for content in batch.column(0):
            if content.is_valid:
                table = pa.ipc.open_stream(content.as_buffer()).read_all()
                yield from fitted(table, schema).to_batches()
