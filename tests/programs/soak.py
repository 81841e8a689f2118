"""A stream that runs for a while, to see that nothing grows: `python tests/programs/soak.py SECONDS`.

Micro-batches follow one another as fast as they are done; each has rows of some keys of its own and of some of the
one before, in disorder, a few of them late. Every ten seconds a line says how far it is and what it holds. After
SECONDS only a row per micro-batch comes, long after the others, and what is held must go. Exit 1 if something grew
after the first third, or is still there.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming import StreamingQuery

import cepheid
from cepheid.spark.session import local_session

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.session_processes import below

ROWS, KEYS = 20_000, 5_000
STEP_MS = 1_000  # of event time, per micro-batch
DELAY_MS = 2_000
QUERY = "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER z.v > 0.5 PARTITION BY k WITHIN 4 seconds"
EVERY = 10
QUIET_BATCHES, QUIET_SECONDS = 5, 120
"""After so many micro-batches, what came before has left the window and the store. So long it may take."""
START_SECONDS = 300
QUIET_AT_MS = 1_800_000_000_000  # long after all else
QUIET_ROWS = 20
"""At most that many have come when it is quiet, and wait."""
QUIET_STATE = 40
"""kB in the store then: the heads of two buckets and a page for each row."""
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    # Else the checkpoint grows for the first hundred micro-batches, until the first of them are removed.
    "spark.sql.streaming.minBatchesToRetain": "4",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "4",
    "spark.sql.streaming.stateStore.maintenanceInterval": "5s",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
}


@dataclass(frozen=True)
class Sample:
    """A line of the table. Sizes are in kB."""

    seconds: float
    batches: int
    rows_per_second: float
    matches: int
    late_rows: int
    waiting_rows: int
    state: float
    engine: float
    store_rows: int
    heap: float
    jvm: float
    workers: float
    checkpoint: float


FLAT = {
    # what, and how much may come and go, whatever its size
    "waiting_rows": ROWS,
    "state": 200,
    "engine": 200,
    "store_rows": 20,
    "heap": 8_000,
    "jvm": 40_000,
    "workers": 20_000,
    "checkpoint": 500,
}
SHARE = 0.15
"""Of its size that something may grow by in all."""


def stream(session: SparkSession, *, quiet: bool) -> DataFrame:
    """The rows; when it is quiet, one for each micro-batch, so late that the watermark passes all that came before."""
    rate = session.readStream.format("rate-micro-batch").options(
        rowsPerBatch=ROWS, startTimestamp=1_700_000_000_000, advanceMillisPerBatch=STEP_MS, numPartitions=2
    )
    value = sql.col("value")
    place = sql.pmod(value, sql.lit(ROWS))
    moment = sql.unix_millis("timestamp") + sql.floor(place * STEP_MS / ROWS)
    # A row comes up to the delay too late, one in some thousand later still.
    later = sql.when(_random(value, 0, 3_000) == 0, 4 * DELAY_MS).otherwise(_random(value, 1, DELAY_MS))
    kind = sql.element_at(sql.array(*map(sql.lit, "ABCD")), (_random(value, 2, 4) + 1).cast("int"))
    since = sql.floor(value / ROWS) - _random(value, 3, 2)  # a key lives for two micro-batches
    rows = rate.load().select(
        sql.timestamp_millis(sql.lit(QUIET_AT_MS) if quiet else moment - later).alias("ts"),
        value.alias("n"),
        kind.alias("type"),
        sql.concat_ws(" ", sql.lit("key"), since, _random(value, 4, KEYS)).alias("k"),
        (_random(value, 5, 1000) / 1000).alias("v"),
    )
    return rows.where(sql.pmod(sql.col("n"), sql.lit(ROWS)) == 0) if quiet else rows


def _random(value: Column, which: int, below: int) -> Column:
    return sql.pmod(sql.xxhash64(value, sql.lit(which)), sql.lit(below))


class Watch:
    """Reads a running query's progress."""

    def __init__(self, session: SparkSession, checkpoint: Path) -> None:
        self._session, self._checkpoint = session, checkpoint
        self._began = self._since = time.monotonic()
        self._batch = -1
        self._matches = self._late = 0
        self._least = sys.maxsize

    def look(self) -> None:
        """Old files are removed every few seconds: what the checkpoint needs is the least that it has in between."""
        self._least = min(self._least, _size(self._checkpoint))

    def sample(self, query: StreamingQuery) -> Sample:
        new = [progress for progress in query.recentProgress if progress["batchId"] > self._batch]
        rows = sum(progress["numInputRows"] for progress in new)
        for progress in new:
            numbers = _numbers(progress)
            self._batch = progress["batchId"]
            self._matches += numbers["matches"]
            self._late += numbers["late_rows"]
        last = new[-1] if new else query.lastProgress
        numbers, store = _numbers(last), last["stateOperators"][0]
        now = time.monotonic()
        since, self._since = self._since, now
        runtime = self._session._jvm.java.lang.Runtime.getRuntime()
        self._session._jvm.java.lang.System.gc()
        heap = runtime.totalMemory() - runtime.freeMemory()
        processes = below(os.getpid())
        java = sum(process.resident for process in processes if "java" in process.command.split(" ")[0])
        least, self._least = self._least, sys.maxsize
        return Sample(
            now - self._began,
            self._batch + 1,
            rows / (now - since),
            self._matches,
            self._late,
            numbers["waiting_rows"],
            numbers["state_bytes"] / 1000,
            numbers["engine_bytes"] / 1000,
            store["numRowsTotal"],
            heap / 1000,
            java / 1000,
            (sum(process.resident for process in processes) - java) / 1000,
            least / 1000,
        )


def _numbers(progress: Any) -> dict[str, int]:
    found = progress["observedMetrics"]["cepheid"]
    return found if isinstance(found, dict) else found.asDict()


def _size(folder: Path) -> int:
    total = 0
    for directory, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # Spark removes what is old
                total += os.path.getsize(os.path.join(directory, name))
    return total


def growth(times: list[float], values: list[float]) -> float:
    """How much the values have grown in all: by the median of the slopes between any two, which one cannot move.

    >>> growth([0, 10, 20, 30], [5, 6, 99, 8])
    3.0
    """
    slopes = [
        (values[late] - values[early]) / (times[late] - times[early])
        for late in range(len(times))
        for early in range(late)
    ]
    return median(slopes) * (times[-1] - times[0])


def grown(samples: list[Sample]) -> list[str]:
    """What grew after the first third."""
    kept = samples[len(samples) // 3 :]
    if len(kept) < 4:
        return ["too short a run to tell"]
    found = []
    for name, allowance in FLAT.items():
        values = [float(getattr(sample, name)) for sample in kept]
        by = growth([sample.seconds for sample in kept], values)
        if by > max(allowance, SHARE * median(values)):
            found.append(f"{name} grew by {by:,.0f} from {values[0]:,.0f}")
    return found


def left(sample: Sample) -> list[str]:
    """What is still held when only a row per micro-batch has come for a while: some rows that wait, no more."""
    found = []
    if sample.waiting_rows > QUIET_ROWS:
        found.append(f"{sample.waiting_rows} rows wait")
    if sample.state > QUIET_STATE:
        found.append(f"the state has {sample.state:,.1f} kB")
    return found


def shown(sample: Sample | None) -> str:
    """A line of the table; its head without a sample."""
    cells = (
        [field.name for field in fields(Sample)]
        if sample is None
        else [f"{cell:,.0f}" for cell in astuple(sample)]
    )
    return "  ".join(
        cell.rjust(max(8, len(field.name))) for cell, field in zip(cells, fields(Sample), strict=True)
    )


def main() -> int:
    seconds = float(sys.argv[1])
    session = local_session("local[2]", name="soak", settings=SETTINGS)
    try:
        with tempfile.TemporaryDirectory() as folder:
            faults = soak(session, Path(folder) / "checkpoint", seconds)
    finally:
        session.stop()
    say("; ".join(faults) or "nothing grew, and nothing was left")
    return 1 if faults else 0


def soak(session: SparkSession, checkpoint: Path, seconds: float) -> list[str]:
    say(shown(None))
    with running(session, checkpoint, quiet=False) as query:
        watch = Watch(session, checkpoint)
        samples = list(sampled(query, watch, seconds, EVERY))
    until = samples[-1].batches + QUIET_BATCHES
    with running(session, checkpoint, quiet=True) as query:
        for last in sampled(query, watch, QUIET_SECONDS, EVERY / 2):
            if last.batches >= until:
                return grown(samples) + left(last)
    return [*grown(samples), f"{QUIET_BATCHES} micro-batches of a row were not done in {QUIET_SECONDS} s"]


@contextmanager
def running(session: SparkSession, checkpoint: Path, *, quiet: bool) -> Iterator[StreamingQuery]:
    """The query, once its first micro-batch is done: that one starts everything, and takes long."""
    rows = stream(session, quiet=quiet)
    matches = cepheid.match(rows, QUERY, order="n", watermark=f"{DELAY_MS} milliseconds")
    query = matches.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).start()
    try:
        end = time.monotonic() + START_SECONDS
        while query.lastProgress is None:
            if query.awaitTermination(1) or time.monotonic() > end:
                raise TimeoutError(f"no micro-batch was done in {START_SECONDS} s")
        yield query
    finally:
        query.stop()


def sampled(query: StreamingQuery, watch: Watch, seconds: float, every: float) -> Iterator[Sample]:
    """Samples for so long. A query that fails raises what it failed of."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        next_one = time.monotonic() + every
        while time.monotonic() < next_one:
            query.awaitTermination(1)
            watch.look()
        found = watch.sample(query)
        say(shown(found))
        yield found


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
