"""`A ; B ; C` where 100 % to 0.1 % of the events are of its types: the others must cost next to nothing."""

from __future__ import annotations

from bench.checks import Check
from bench.counting import sequence_of_three
from bench.formulas import Q
from bench.results import Curve, Report, Row, Setting
from bench.streams import sparse
from bench.tables import MEASURED, measured
from bench.work import counted

WITHIN = 1_000


def run(setting: Setting) -> Report:
    events = setting.events(4_000_000, 1_000_000)
    percents = setting.points([100, 50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1], [100, 10, 1, 0.1])
    rows = setting.each(one, [(percent, events, setting.repeats) for percent in percents])
    points = tuple((percent, row.events_per_s) for percent, row in zip(percents, rows, strict=True))
    return Report(
        "relevance",
        f"count of A ; B ; C by the share of events of types A, B, C, window {WITHIN:,} events",
        ("relevant", *MEASURED),
        [(row.name, *measured(row, setting.calibration)) for row in rows],
        rows,
        "Look at × copy where little is relevant: what is left there is reading the columns.",
        curves=[Curve("relevance", "A ; B ; C: events/s by share of relevant events", "relevant, %", points)],
    )


def one(percent: float, events: int, repeats: int) -> Row:
    stream = sparse(events, percent / 100)
    query = Q["Q1"].query(clauses=f"WITHIN {WITHIN} EVENTS")
    check = Check("whole stream, by sums", sequence_of_three(stream, WITHIN))
    return counted(f"{percent:g} %", stream.table(), query, check, repeats, percent=percent)
