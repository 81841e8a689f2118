"""Streams of 10⁵ to 10⁸ events, pushed in pieces and not held: time per event and memory must not grow.

One block of events is pushed again and again with later times. Only the pushes are timed.
"""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from bench.counting import sequence_of_three
from bench.curves import short
from bench.formulas import Q
from bench.results import Curve, Report, Row, Setting, Target
from bench.streams import Stream, drawn
from bench.tables import MEASURED, measured
from bench.timing import Timing, peak_mb, require, reset_peak
from bench.work import counter

BLOCK = 1_000_000
PUSHED = 100_000
WITHIN = 1_000
QUERY = Q["Q1"].query(clauses=f"WITHIN {WITHIN} EVENTS")
GOAL = 1.3


def run(setting: Setting) -> Report:
    lengths = setting.points([10**5, 10**6, 10**7, 10**8], [10**5, 10**6, 10**7])
    lengths = [length // setting.divide for length in lengths]
    # Short streams are over in milliseconds: they are repeated more often.
    cases = [
        (length, setting.repeats * 4 if length < BLOCK else 3 if length < 10**8 else 1) for length in lengths
    ]
    rows = setting.each(one, cases)
    least = min(row.ns_per_event for row in rows)
    memory = [row.timing.peak_mb for row in rows]
    lines = [
        (row.name, f"{row.ns_per_event / least:.2f}×", *measured(row, setting.calibration)) for row in rows
    ]
    points = tuple((row.events, row.events_per_s) for row in rows)
    span = f"stream {short(lengths[0])} → {short(lengths[-1])} events"
    slowest = max(row.ns_per_event for row in rows) / least
    return Report(
        "stream",
        f"count of A ; B ; C pushed in pieces of {PUSHED:,}, window {WITHIN:,} events",
        ("stream, events", "× least", *MEASURED),
        lines,
        rows,
        f"Look at × least, target at most {GOAL}×, and at peak MB, which must not grow with the stream.",
        [
            Target(f"{span}, time per event", GOAL, slowest, "×", noisy=any(row.noisy for row in rows)),
            Target(f"{span}, peak memory", 1.1, max(memory) / memory[0], "×"),
        ],
        [Curve("stream", "A ; B ; C: events/s by length of the stream", "events in the stream", points)],
    )


def one(events: int, repeats: int) -> Row:
    block = drawn(BLOCK)
    expected = repeated_count(block, events)
    warm_up = pushed(block, PUSHED, repeated_count(block, PUSHED))[0]
    reset_peak()
    runs = [pushed(block, events, expected) for _ in range(repeats)]
    timing = Timing(tuple(run[0] for run in runs), tuple(run[1] for run in runs), warm_up, peak_mb())
    input_bytes = int(block.table().nbytes * events / len(block))
    return Row(
        f"{events:,}",
        events,
        expected,
        input_bytes,
        "whole stream, by sums",
        timing,
        {"query": QUERY, "pushed": PUSHED},
    )


def repeated_count(block: Stream, events: int) -> int:
    """The matches in so many events of the block repeated. From the second block on each adds the same number."""
    if events <= len(block):
        return sequence_of_three(block.prefix(events), WITHIN)
    blocks, rest = divmod(events, len(block))
    once = sequence_of_three(block, WITHIN)

    def more(events: int) -> int:
        """What this many events after a whole block add."""
        together = Stream(block.types, np.concatenate([block.codes, block.codes[:events]]))
        return sequence_of_three(together, WITHIN) - once

    return once + (blocks - 1) * more(len(block)) + (more(rest) if rest else 0)


def pushed(block: Stream, events: int, expected: int) -> tuple[float, float]:
    """Wall and CPU seconds in `push` alone."""
    table = block.table()
    engine = counter(QUERY, table.schema)
    wall = cpu = 0.0
    for begin in range(0, events, len(block)):
        times = pa.array(np.arange(begin, begin + len(block)))
        later = table.set_column(0, "ts", times).slice(0, events - begin)
        for at in range(0, len(later), PUSHED):
            piece = later.slice(at, PUSHED)
            wall_began, cpu_began = time.perf_counter(), time.process_time()
            engine.push(piece)
            wall += time.perf_counter() - wall_began
            cpu += time.process_time() - cpu_began
    engine.finish()
    require(engine.counted, expected, f"the stream of {events:,} events")
    return wall, cpu
