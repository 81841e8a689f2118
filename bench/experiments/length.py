"""Sequences of 3 to 12 types. Six events in ten are of one of them, however many they are, so that only the length of
the pattern changes and not the share of events that matter."""

from __future__ import annotations

from bench.checks import prefix_check
from bench.formulas import sequence
from bench.results import Curve, Report, Row, Setting, Target
from bench.streams import drawn
from bench.tables import MEASURED, measured
from bench.work import counted

TYPES = "ABCDEFGHIJKL"
SHARE = 0.6
WITHIN = 1_000
GOAL = 4.0


def run(setting: Setting) -> Report:
    events = setting.events(2_000_000, 500_000)
    lengths = setting.points([3, 4, 5, 6, 8, 10, 12], [3, 6, 12])
    rows = setting.each(one, [(length, events, setting.repeats) for length in lengths])
    ratios = [row.ns_per_event / rows[0].ns_per_event for row in rows]
    lines = [
        (row.name, f"{ratio:.2f}×", *measured(row, setting.calibration))
        for row, ratio in zip(rows, ratios, strict=True)
    ]
    points = tuple((length, row.events_per_s) for length, row in zip(lengths, rows, strict=True))
    return Report(
        "length",
        f"count of sequences; {SHARE:.0%} of the events in the pattern's types, window {WITHIN:,} events",
        ("types", "× three", *MEASURED),
        lines,
        rows,
        f"Look at × three: target at most {GOAL:g}× for twelve types.",
        [
            Target(
                "pattern length 3 → 12, time per event",
                GOAL,
                ratios[-1],
                "×",
                noisy=rows[0].noisy or rows[-1].noisy,
            )
        ],
        [Curve("length", "Sequences: events/s by number of types", "types in the sequence", points)],
    )


def one(length: int, events: int, repeats: int) -> Row:
    types = TYPES[:length]
    stream = drawn(events, dict.fromkeys(types, SHARE / length) | {"Z": 1 - SHARE})
    query = sequence(types).query(clauses=f"WITHIN {WITHIN} EVENTS")
    check = prefix_check(sequence(types), stream, WITHIN, query)
    return counted(f"{length}", stream.table(), query, check, repeats, length=length)
