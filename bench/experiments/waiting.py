"""100,000 keys on a stream that each wait for an absence: what a micro-batch costs the bucket, early and late.

`A ; NOT B` within a time: of every key one event comes in each micro-batch, so all keys wait all the time, and most
matches become known only since the watermark moves. The bucket is called as Spark's operator calls it, its state saved
and loaded each time, without Spark around it: what Spark adds is in `streaming`. Beside it the same bucket when it is
called and nothing is due. The matches are counted by a direct program over the columns.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
import pyarrow as pa

from bench.results import Report, Row, Setting, Target
from bench.tables import millions
from bench.timing import Timing, peak_mb, require
from cepheid.pipeline import parse_query, plan_for
from cepheid.plan.plan import Plan
from cepheid.schema import schema_of
from cepheid.spark.live.bucket import Arrived, Bucket
from cepheid.spark.live.job import Job
from cepheid.spark.live.pages import pages_of
from cepheid.spark.live.store import Memory

KEYS = 100_000
SPAN = 1_000  # of event time in a micro-batch
WAIT, WITHIN = 1_500, 2_000
QUERY = f"SELECT * FROM s WHERE A AS a ; NOT B FOR {WAIT} PARTITION BY k WITHIN {WITHIN}"
WARM_UP = 4  # micro-batches, until as many matches end as begin
FLAT = 1.5
EVENT_BYTES = 21  # in Arrow: two words, a letter and where it ends


def run(setting: Setting) -> Report:
    (found,) = setting.each(measured, [(setting.divide, 12 if setting.quick else 24)])
    evaluator, keys, calls, idle, matches, state_mb = found
    steady = [wall for wall, _ in calls[WARM_UP:]]
    half = len(steady) // 2
    row = _row(keys, matches, calls)
    early, late = statistics.median(steady[:half]), statistics.median(steady[half:])
    between = statistics.median(idle)
    return Report(
        "waiting",
        f"A ; NOT B of {keys:,} keys that all wait, on `{evaluator}`, one bucket",
        ("", "s", "events/s"),
        [
            ("a micro-batch", f"{row.timing.seconds:.3f}", millions(row.events_per_s)),
            ("a call when nothing is due", f"{between:.6f}", ""),
        ],
        [row],
        f"Look at late beside early ones: {late:.3f} and {early:.3f} s. State after each: "
        f"{min(state_mb[WARM_UP:]):.1f} to {max(state_mb[WARM_UP:]):.1f} MB; none at the end.",
        [Target("late micro-batches of keys that wait beside early ones", FLAT, late / early, "×")],
    )


Seconds = tuple[float, float]
Measured = tuple[str, int, list[Seconds], list[float], int, list[float]]


def measured(divide: int, batches: int) -> Measured:
    """The evaluator, the number of keys, seconds of each micro-batch, by the clock and of the processor, those of each
    call between two, the number of matches, and megabytes of state after each micro-batch."""
    plan = plan_of()
    keys = KEYS // divide
    draw = np.random.default_rng(7)
    pieces = [piece(draw, keys, number) for number in range(batches)]
    job, store = Job(plan, (0,)), Memory()
    calls, idle, state_mb, matches = [], [], [], 0
    for number, table in enumerate(pieces):
        arrived = [Arrived(0, place, page) for place, page in enumerate(pages_of(table, plan.schema))]
        began, worked = time.perf_counter(), time.process_time()
        bucket, given = called(job, store, arrived, number * SPAN - 1)
        calls.append((time.perf_counter() - began, time.process_time() - worked))
        matches += given
        state_mb.append(bucket.numbers.state_bytes / 1e6)
        began = time.perf_counter()
        called(job, store, [], number * SPAN - 1)
        idle.append(time.perf_counter() - began)
    last = batches * SPAN
    for watermark in (last, last + WITHIN + 1):  # nobody comes any more
        matches += called(job, store, [], watermark)[1]
    require(matches, expected(pieces), "the bucket")
    require(len(store.pages), 0, "the pages that are left")
    return plan.evaluator, keys, calls, idle, matches, state_mb


def plan_of() -> Plan:
    columns = pa.schema([("ts", pa.int64()), ("type", pa.string()), ("k", pa.int64())])
    return plan_for(parse_query(QUERY), schema_of(columns, time="ts"))


def piece(draw: np.random.Generator, keys: int, number: int) -> pa.Table:
    """One event of each key, in order of time."""
    times = np.sort(draw.integers(number * SPAN, (number + 1) * SPAN, keys))
    types = np.where(draw.random(keys) < 0.7, "A", "B")
    return pa.table({"ts": times, "type": types, "k": draw.permutation(keys)})


def called(job: Job, store: Memory, arrived: list[Arrived], watermark: int) -> tuple[Bucket, int]:
    """A call of the bucket, and how many matches it gave."""
    bucket = Bucket(job, store)
    bucket.take(arrived)
    given = sum(len(found) for found in bucket.release(watermark))
    bucket.close()
    return bucket, given


def expected(pieces: list[pa.Table]) -> int:
    """How many A have no B of their key within the time: looked up in the events of each key, one after the other."""
    times = np.stack([table["ts"].to_numpy()[np.argsort(table["k"].to_numpy())] for table in pieces], axis=1)
    types = np.stack(
        [(table["type"].to_numpy() == "B")[np.argsort(table["k"].to_numpy())] for table in pieces], axis=1
    )
    never = np.iinfo(np.int64).max // 2
    next_b = np.full(len(times), never)
    found = 0
    for place in range(times.shape[1] - 1, -1, -1):
        found += int((~types[:, place] & (next_b - times[:, place] > WAIT)).sum())
        next_b = np.where(types[:, place], times[:, place], next_b)
    return found


def _row(keys: int, matches: int, calls: list[Seconds]) -> Row:
    wall, cpu = zip(*calls[WARM_UP:], strict=True)
    timing = Timing(wall, cpu, calls[0][0], peak_mb())
    return Row("a micro-batch", keys, matches, keys * EVENT_BYTES, "a direct program", timing)
