"""The stress experiment of `cel-cea`: no match until the last event, which ends all of them.

Types are uniform over those of the query but the last, and one other: that gives the numbers of matches the paper
states, about 200,000 (Q1) and 20,000,000 (Q2) at 2,000 events. As there, memory is what is held before the last event.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import cepheid
from bench.counting import without_window
from bench.formulas import Q
from bench.paper import STRESS_2000, STRESS_TEXT
from bench.results import Report, Row, Setting
from bench.streams import Stream, drawn
from bench.tables import millions
from bench.timing import Timing, peak_mb, require, reset_peak

TYPES = {"Q1": "ABDC", "Q2": "ABCED"}  # the last one comes last, and only there
MANY = 1_000_000  # matches from which they are timed once


@dataclass(frozen=True)
class Stressed:
    """`state_bytes`: what the engine held before the last event."""

    update: Row
    enumeration: Row
    state_bytes: int


def run(setting: Setting) -> Report:
    lengths = setting.points(range(200, 2_001, 200), [200, 600, 1_000])
    cases = [(name, length // setting.divide, setting.repeats) for name in TYPES for length in lengths]
    found = setting.each(one, cases)
    lines = [_line(stressed, setting) for stressed in found]
    return Report(
        "stress",
        "Q1 and Q2, all matches at the last event",
        (
            *("", "events", "matches", "update\nms", "events/s", "× loop", "state\nKB"),
            *("enumeration\ns", "matches/s", "peak\nMB", "paper's CEL:\nupdate,\nenumeration"),
        ),
        lines,
        [row for stressed in found for row in (stressed.update, stressed.enumeration)],
        f"Look at update ms and state KB: linear in the events, whatever the number of matches. {STRESS_TEXT}",
        paper={"figure 4": STRESS_TEXT},
    )


def _line(stressed: Stressed, setting: Setting) -> tuple[str, ...]:
    update, enumeration = stressed.update, stressed.enumeration
    name = update.name.removesuffix(" update")
    return (
        name,
        f"{update.events + 1:,}",
        f"{enumeration.matches:,}",
        f"{update.timing.seconds * 1e3:.2f}",
        ("~" if update.noisy else "") + millions(update.events_per_s),
        f"{setting.calibration.loops(update.timing.seconds, update.events):,.0f}",
        f"{stressed.state_bytes / 1024:,.0f}",
        f"{enumeration.timing.seconds:.3f}",
        millions(enumeration.matches_per_s),
        f"{enumeration.timing.peak_mb:,.0f}",
        STRESS_2000.get((name, update.events + 1), ""),
    )


def stressing(name: str, events: int) -> Stream:
    types = TYPES[name]
    stream = drawn(events - 1, dict.fromkeys(types[:-1], 1.0))
    return Stream(tuple(types), np.append(stream.codes, np.int8(len(types) - 1)))


def one(name: str, events: int, repeats: int) -> Stressed:
    """The warm-up has the same size: the first to fill so much memory takes nearly twice as long. After it many matches
    are made once only, since that takes seconds."""
    stream = stressing(name, events)
    expected = without_window(Q[name], stream)
    warm_up = once(name, stream)
    runs = [once(name, stream, whole=expected < MANY or i == 0) for i in range(repeats)]
    input_bytes, parameters = (
        stream.table().nbytes,
        {"query": Q[name].query(), "state_bytes": runs[0].state_bytes},
    )
    update, enumeration = (
        Row(
            f"{name} {part}",
            events - 1 if part == "update" else 1,
            0 if part == "update" else expected,
            input_bytes,
            "whole stream, by a direct program",
            _timing(warm_up, runs, part),
            parameters,
        )
        for part in ("update", "enumeration")
    )
    return Stressed(update, enumeration, runs[0].state_bytes)


@dataclass(frozen=True)
class Run:
    """Wall and CPU seconds of each part that was run."""

    seconds: dict[str, tuple[float, float]]
    state_bytes: int
    peak_mb: float


def once(name: str, stream: Stream, whole: bool = True) -> Run:
    """All events, or all but the last."""
    table = stream.table()
    engine = cepheid.query(Q[name].query()).engine(table.schema)
    reset_peak()
    early, update = _timed(lambda: engine.push(table.slice(0, len(stream) - 1)).num_rows)
    require(early, 0, f"{name}, before the last event,")
    seconds, state_bytes = {"update": update}, engine.memory
    if whole:
        last = table.slice(len(stream) - 1)
        found, seconds["enumeration"] = _timed(lambda: sum(piece.num_rows for piece in engine.pieces(last)))
        require(found, without_window(Q[name], stream), f"{name} at the last of {len(stream):,} events")
    return Run(seconds, state_bytes, peak_mb())


def _timed(run: Callable[[], int]) -> tuple[int, tuple[float, float]]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = run()
    return found, (time.perf_counter() - wall, time.process_time() - cpu)


def _timing(warm_up: Run, runs: list[Run], part: str) -> Timing:
    wall_s, cpu_s = (tuple(run.seconds[part][i] for run in runs if part in run.seconds) for i in (0, 1))
    return Timing(wall_s, cpu_s, warm_up.seconds[part][0], max(run.peak_mb for run in runs))
