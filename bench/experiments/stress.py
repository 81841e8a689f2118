"""The stress experiment of `cel-cea`: no match until the last event, which ends all of them.

Types are uniform over those of the query but the last, and one other: that gives the numbers of matches the paper
states, about 200,000 (Q1) and 20,000,000 (Q2) at 2,000 events. As there, memory is what is held before the last event.
"""

from __future__ import annotations

import time
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
MANY = 1_000_000  # matches from which one repeat is enough


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
            *("enumeration\ns", "matches/s", "peak\nMB", "paper: CEL's update,\nenumeration"),
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
        ("~" if update.timing.noisy else "") + millions(update.events_per_s),
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
    stream = stressing(name, events)
    table = stream.table()
    expected = without_window(Q[name], stream)
    query = Q[name].query()
    parsed = cepheid.query(query)
    wholes = []
    for _ in range(1 + (repeats if expected < MANY else 1)):
        engine = parsed.engine(table.schema)
        reset_peak()
        moments = [_now()]
        none = engine.push(table.slice(0, events - 1)).num_rows
        moments.append(_now())
        state_bytes = engine.memory
        moments.append(_now())
        found = sum(piece.num_rows for piece in engine.pieces(table.slice(events - 1)))
        moments.append(_now())
        require(none, 0, "before the last event")
        require(found, expected, f"`{query}`")
        wholes.append((moments, peak_mb()))
    return Stressed(
        _row(f"{name} update", events - 1, 0, table.nbytes, _timing(wholes, 0), query, state_bytes),
        _row(f"{name} enumeration", 1, expected, table.nbytes, _timing(wholes, 2), query, state_bytes),
        state_bytes,
    )


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _timing(wholes: list[tuple[list[tuple[float, float]], float]], begin: int) -> Timing:
    """Between moments `begin` and the next; the first run is warm-up."""
    spans = [
        tuple(after - before for before, after in zip(moments[begin], moments[begin + 1], strict=True))
        for moments, _ in wholes
    ]
    wall_s, cpu_s = (tuple(span[i] for span in spans[1:]) for i in (0, 1))
    return Timing(wall_s, cpu_s, spans[0][0], max(peak for _, peak in wholes[1:]))


def _row(
    name: str, events: int, matches: int, input_bytes: int, timing: Timing, query: str, state_bytes: int
) -> Row:
    parameters = {"query": query, "state_bytes": state_bytes}
    return Row(name, events, matches, input_bytes, "whole stream, by a direct program", timing, parameters)
