"""A bucket: the rows of some of the keys, buffered until the watermark and then matched in order by one engine.

In: pages of rows as they arrive, and the watermark. Out: the matches that are known by it, the late rows, and
metrics. At the end of a call all state is in the store. Nothing here depends on Spark: the operator, the end of a
stream and the tests call the same three functions.

Rows are stored before any is read; then all rows up to the watermark are read in stream order. So the engine sees the
same stream, wherever micro-batches are cut. The engine is loaded only where there are rows to read, or where a match
waits that the watermark makes known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from cepheid.algebra.moments import Moment
from cepheid.engine import Engine
from cepheid.errors import CepheidError
from cepheid.saved import unpack
from cepheid.semantics.rows import rows_of
from cepheid.spark.live.head import Head, Waiting, load_head
from cepheid.spark.live.job import Job
from cepheid.spark.live.merge import in_order
from cepheid.spark.live.pages import Page, after, read
from cepheid.spark.live.store import Store
from cepheid.spark.live.watermark import moment_of, passed
from cepheid.streams.times import times_of

CHUNK = 1 << 17
"""Bytes of a saved engine in one page."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A page that has arrived: page `number` of the task `source` in this micro-batch."""

    source: int
    number: int
    page: Page


@dataclass(slots=True)
class Numbers:
    """The metrics of one call: late rows, matches; rows and bytes left in the store; bytes of the engine."""

    late: int = 0
    matches: int = 0
    waiting: int = 0
    state_bytes: int = 0
    memory: int = 0


def _shown(rows: pa.Table) -> dict[str, object]:
    """The first row, as an error shows it."""
    (row,) = rows_of(rows.slice(0, 1))
    return {name: str(value) if isinstance(value, Moment) else value for name, value in row.items()}


class Bucket:
    """One call: made from the store, used for one micro-batch."""

    def __init__(self, job: Job, store: Store) -> None:
        saved = store.head()
        self.head = Head(job.terms) if saved is None else load_head(saved)
        self._job, self._store = job.continuing(self.head.terms), store
        self._schema = job.plan.schema
        self._new: dict[int, bytes] = {}  # pages that have come and are not in the store
        self.late: list[pa.Table] = []
        self.numbers = Numbers()

    def take(self, arrived: Iterable[Arrived]) -> None:
        """Buffers rows that have arrived. Those at or before the last watermark are late."""
        head = self.head
        for page in (item.page for item in sorted(arrived, key=lambda item: (item.source, item.number))):
            waiting = Waiting(head.number(), page.rows, page.low, page.high, len(page.content))
            if head.watermark is not None and page.low <= head.watermark:
                table = read(page.content, self._schema)
                waiting.rows, waiting.done = len(self._on_time(table)), head.watermark
                self._note_late(table, waiting.rows)
                if not waiting.rows:
                    continue
            head.waiting.append(waiting)
            self._new[waiting.number] = page.content

    def release(self, watermark: int | float | None) -> Iterator[pa.Table]:
        """Advances the watermark and gives the matches that are known by it."""
        head = self.head
        if watermark is not None and (head.watermark is None or watermark > head.watermark):
            head.watermark = watermark
        last = head.watermark
        due = [] if last is None else [page for page in head.waiting if page.low <= last]
        engine: Engine | None = None
        if last is not None and (due or (head.waits_until is not None and head.waits_until <= last)):
            engine = self._engine()
            for rows in in_order(due, self._rows, last, self._schema):
                yield from self._matched(engine.pieces(rows))
            yield from self._matched(engine.pass_time(last))
        if last is not None:
            self._drop_read_pages(due, last)
            self._put_engine(engine, last)
        for number, content in self._new.items():
            self._store.put_page(number, content)

    def passed(self, watermark_ms: int) -> int | float | None:
        """The time up to which all rows have come: by Spark's watermark or, while that has not moved from 0, by the
        newest time of earlier micro-batches; None before there is one."""
        dtype, newest, delay = self._schema.time_type, self.head.newest_ms, self._job.delay_ms
        if watermark_ms > 0 or newest is None or delay is None:
            return passed(watermark_ms, dtype)
        return moment_of(newest - delay, dtype)

    def note_newest(self, newest_ms: int | None) -> None:
        """Notes the newest time of this micro-batch's rows, in all buckets. It counts from the next micro-batch on, and
        only while Spark's watermark would still be 0 for it."""
        delay = self._job.delay_ms
        if newest_ms is None or delay is None:
            return
        known = self.head.newest_ms
        newest = newest_ms if known is None else max(known, newest_ms)
        self.head.newest_ms = newest if newest - delay <= 0 else None

    def finish(self) -> Iterator[pa.Table]:
        """The matches of all buffered rows, as if the stream ended here. The store is only read."""
        engine = self._engine()
        for rows in in_order(self.head.waiting, self._rows, None, self._schema):
            yield from self._matched(engine.pieces(rows))
        yield from self._matched([engine.finish()])

    def close(self) -> None:
        """Writes the head."""
        head = self.head
        head.calls += 1
        self.numbers.waiting = sum(page.rows for page in head.waiting)
        saved = head.save()
        self.numbers.state_bytes = head.size + len(saved)
        self._store.put_head(saved)

    def _matched(self, pieces: Iterable[pa.Table]) -> Iterator[pa.Table]:
        for found in pieces:
            if len(found):
                self.numbers.matches += len(found)
                yield found

    def _note_late(self, table: pa.Table, on_time: int) -> None:
        late = table.slice(0, len(table) - on_time)
        if self._job.late == "error":
            raise CepheidError(
                "late-row",
                f"a row came after the watermark had passed it: {_shown(late)}, "
                f"and {len(late) - 1} more of its page",
                hint="make `watermark` longer, or let `late` count such rows or write them somewhere",
            )
        self.numbers.late += len(late)
        self.late.append(late)

    def _rows(self, page: Waiting) -> pa.Table:
        content = self._new.get(page.number)
        table = read(self._store.page(page.number) if content is None else content, self._schema)
        page.rows = len(self._on_time(table))
        return table

    def _on_time(self, table: pa.Table) -> pa.Table:
        """The rows after the watermark."""
        times = times_of(table[self._schema.time], self._schema.time)
        return after(table, times, self.head.watermark)[0]

    def _drop_read_pages(self, due: list[Waiting], last: int | float) -> None:
        """Drops the pages that have been read to their end."""
        for page in due:
            page.done = last
            if page.high <= last and self._new.pop(page.number, None) is None:
                self._store.drop_page(page.number)
        self.head.waiting = [page for page in self.head.waiting if page.high > last]

    def _engine(self) -> Engine:
        head, store = self.head, self._store
        engine = self._job.engine()
        if head.engine:
            engine.restore(*unpack(b"".join(store.page(number) for number in head.engine)))
        else:
            engine.resume((head.taken, head.given))
        return engine

    def _put_engine(self, engine: Engine | None, last: int | float) -> None:
        """Saves the engine, if it was used; drops its state when no match can need it any more."""
        head = self.head
        if engine is None:
            if head.until is None or last <= head.until:
                return
            saved = b""
        else:
            has_read = engine.numbers[0] > head.taken
            head.taken, head.given = engine.numbers
            saved = engine.save() if engine.expire(last) else b""
            if has_read or not saved:
                head.until = engine.remembers_until(last) if saved else None
            head.waits_until = engine.waits_until if saved else None
            self.numbers.memory = engine.memory
        for number in head.engine:
            self._store.drop_page(number)
        head.engine, head.engine_bytes = [], len(saved)
        for begin in range(0, len(saved), CHUNK):
            head.engine.append(head.number())
            self._store.put_page(head.engine[-1], saved[begin : begin + CHUNK])
