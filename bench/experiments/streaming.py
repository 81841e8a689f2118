"""Structured Streaming beside the batch path on the same rows, on Spark with two cores.

`A ; B ; C` of one key, 100,000 keys active, micro-batches of 500,000 events, both into a sink that drops its rows. A
micro-batch is measured from trigger to commit, its state and its logs written; the first ones, in which Java and the
workers warm up, are left out. Beside them, *one by one*: the same rows handed to Spark's stateful operator as rows,
by bucket and only counted there, which is what remains of it without pages. The streaming query must give the matches
of the batch but for those that end after the last watermark.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cepheid
from bench.results import Report, Row, Setting, Target
from bench.tables import millions
from bench.timing import Timing, isolated, peak_mb, require
from cepheid.spark.session import local_session

KEYS = 100_000
EVENT_BYTES = 29  # in Arrow: three words, a letter and where it ends
EVENTS = 500_000  # in a micro-batch
FILES = 4  # in a micro-batch, so that both cores have some to read
SPAN_US = 100_000_000  # of event time in a micro-batch
WARM_UP = 12  # micro-batches: Java is still compiling, at half a core
QUERY = (
    "SELECT * FROM s WHERE (A AS x ; B AS y ; C AS z) FILTER (x.v < 0.3 AND y.v < 0.3) "
    "PARTITION BY k WITHIN 60 seconds"
)
WATERMARK = "1 second"
SETTINGS = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "2"}
FOUR, FLAT = 4.0, 1.5


@dataclass(frozen=True)
class Measured:
    """Seconds of the batch, of each micro-batch, and of each in which rows go one by one; numbers of matches."""

    batch_s: tuple[float, ...]
    stream_s: tuple[float, ...]
    rows_s: tuple[float, ...]
    batch_matches: int
    stream_matches: int
    state_mb: tuple[float, ...]


def run(setting: Setting) -> Report:
    events, keys = EVENTS // setting.divide, KEYS // setting.divide
    batches = WARM_UP + (4 if setting.divide > 1 else 6 if setting.quick else 16)
    found = isolated(measured_on_spark, events, keys, batches, not setting.quick)
    stream, half = found.stream_s[WARM_UP:], (batches - WARM_UP) // 2
    per_batch = statistics.median(found.batch_s) / batches
    rows = [
        _row("batch", events * batches, found.batch_matches, found.batch_s),
        _row("stream", events, found.stream_matches, stream),
    ]
    if found.rows_s:
        rows.append(_row("one by one", events, 0, found.rows_s[WARM_UP:]))
    lines: list[tuple[str, ...]] = [
        (row.name, f"{row.timing.seconds:.2f}", millions(row.events_per_s), _times(row, per_batch, events))
        for row in rows
    ]
    late, early = statistics.median(stream[half:]), statistics.median(stream[:half])
    return Report(
        "streaming",
        f"A ; B ; C of {keys:,} keys, micro-batches of {events:,} events, two cores",
        ("", "s", "events/s", "× batch"),
        lines,
        rows,
        f"Look at × batch: what a micro-batch costs beside the same rows in a batch. State in the store after each: "
        f"{min(found.state_mb[WARM_UP:]):.1f} to {max(found.state_mb[WARM_UP:]):.1f} MB.",
        [
            Target("streaming beside batch", FOUR, statistics.median(stream) / per_batch, "×"),
            Target("late micro-batches beside early ones", FLAT, late / early, "×"),
        ],
    )


def _row(name: str, events: int, matches: int, seconds: tuple[float, ...]) -> Row:
    return Row(name, events, matches, events * EVENT_BYTES, "batch", Timing(seconds, seconds, 0.0, peak_mb()))


def _times(row: Row, per_batch: float, events: int) -> str:
    return f"{row.timing.seconds * events / row.events / per_batch:.2f}"


def measured_on_spark(events: int, keys: int, batches: int, also_rows: bool) -> Measured:
    """All of it in one session."""
    session = local_session("local[2]", name="bench", settings=SETTINGS)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "events")
        written(source, events, keys, batches)
        every = session.read.parquet(str(source))
        batch_s = tuple(_timed(lambda: _drop(cepheid.match(every, QUERY))) for _ in range(3))[1:]
        expected = cepheid.match(every, QUERY).select("match_id").toArrow()["match_id"].to_pylist()

        def stream() -> Any:
            return (
                session.readStream.schema(every.schema)
                .option("maxFilesPerTrigger", FILES)
                .parquet(str(source))
            )

        live = cepheid.match(stream(), QUERY, watermark=WATERMARK)
        progress = list(_streamed(live, f"{folder}/live"))
        matches = sum(one["observedMetrics"]["cepheid"]["matches"] for one in progress)
        rest = cepheid.finish(session, f"{folder}/live").count()
        require(matches + rest, len(expected), "the stream")
        rows = list(_streamed(_one_by_one(stream()), f"{folder}/rows")) if also_rows else []
        session.stop()
    return Measured(
        batch_s,
        _seconds(progress)[:batches],
        _seconds(rows)[:batches],
        len(expected),
        matches,
        tuple(one["observedMetrics"]["cepheid"]["state_bytes"] / 1e6 for one in progress),
    )


def written(folder: Path, events: int, keys: int, batches: int) -> None:
    """The files of each micro-batch, in order of time."""
    folder.mkdir()
    draw = np.random.default_rng(7)
    for number in range(batches):
        times = np.sort(draw.integers(number * SPAN_US, (number + 1) * SPAN_US, events))
        table = pa.table(
            {
                "ts": pa.array(times, pa.timestamp("us", tz="UTC")),
                "type": draw.choice(["A", "B", "C", "D"], events),
                "k": draw.integers(0, keys, events),
                "v": draw.random(events),
            }
        )
        for part in range(FILES):
            rows = -(-events // FILES)
            pq.write_table(table.slice(part * rows, rows), folder / f"{number:03}-{part}.parquet")


def _drop(frame: Any) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _timed(run: Callable[[], None]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _streamed(frame: Any, checkpoint: str) -> Iterator[Any]:
    """The progress of every micro-batch until all files have been read."""
    writer = frame.writeStream.format("noop").option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    failure = query.exception()
    if failure is not None:
        raise failure
    yield from (one for one in query.recentProgress if "addBatch" in one["durationMs"])


def _seconds(progress: list[Any]) -> tuple[float, ...]:
    return tuple(one["durationMs"]["triggerExecution"] / 1000 for one in progress)


def _one_by_one(rows: Any) -> Any:
    """The rows as the operator gets them without pages, by bucket, only counted."""
    from bench.one_by_one import CountRows

    bucketed = rows.withWatermark("ts", WATERMARK).selectExpr("*", "cast(pmod(hash(k), 2) as int) bucket")
    return bucketed.groupBy("bucket").transformWithStateInPandas(
        CountRows(), outputStructType="rows bigint", outputMode="Append", timeMode="EventTime"
    )
