"""`A ; B ; C` under windows of 10² to 10⁶ events: the time per event must not grow."""

from __future__ import annotations

from bench.checks import Check
from bench.counting import sequence_of_three
from bench.curves import short
from bench.formulas import Q
from bench.results import Curve, Report, Row, Setting, Target
from bench.streams import drawn
from bench.tables import MEASURED, measured
from bench.work import counted

GOAL = 1.5


def run(setting: Setting) -> Report:
    events = setting.events(4_000_000, 2_000_000)
    windows = setting.points([10**2, 10**3, 10**4, 10**5, 10**6], [10**2, 10**4, 10**6])
    rows = setting.each(one, [(within, events, setting.repeats) for within in windows])
    least = min(row.ns_per_event for row in rows)
    ratios = [row.ns_per_event / least for row in rows]
    lines = [
        (row.name, f"{ratio:.2f}×", *measured(row, setting.calibration))
        for row, ratio in zip(rows, ratios, strict=True)
    ]
    points = tuple((within, row.events_per_s) for within, row in zip(windows, rows, strict=True))
    return Report(
        "window",
        "count of A ; B ; C over 5 uniform types",
        ("window, events", "× least", *MEASURED),
        lines,
        rows,
        f"Look at × least: target at most {GOAL}×. The number of matches grows with the square of the window.",
        [
            Target(
                f"window {short(windows[0])} → {short(windows[-1])} events, time per event",
                GOAL,
                max(ratios),
                "×",
                noisy=any(row.noisy for row in rows),
            )
        ],
        [Curve("window", "A ; B ; C: events/s by window", "window, events", points)],
    )


def one(within: int, events: int, repeats: int) -> Row:
    stream = drawn(events)
    query = Q["Q1"].query(clauses=f"WITHIN {within} EVENTS")
    check = Check("whole stream, by sums", sequence_of_three(stream, within))
    return counted(f"{within:,}", stream.table(), query, check, repeats, window=within)
