"""Q1–Q6 with CONSUME over a uniform stream: table 2 of `cel-cea`."""

from __future__ import annotations

from bench.checks import Check
from bench.counting import consuming
from bench.formulas import Q
from bench.paper import CONSUMPTION
from bench.results import Report, Row, Setting
from bench.streams import drawn
from bench.tables import millions, shortened
from bench.work import counted

SYSTEMS = ("CEL", "SASE", "EsperTech")


def run(setting: Setting) -> Report:
    events = setting.events(1_000_000, 200_000)
    rows = setting.each(one, [(name, events, setting.repeats) for name in Q])
    lines = [_line(row, setting) for row in rows]
    return Report(
        "consumption",
        f"Q1–Q6 with CONSUME, {events:,} uniform events; the paper's columns are for 1,000,000",
        (
            *("", "matches", "matches\nper end", "paper:\nper end", "seconds", "events/s", "× loop"),
            *(f"paper:\n{system}, s" for system in SYSTEMS),
            "peak\nMB",
        ),
        lines,
        rows,
        "Look at seconds: the same for all six, as in the paper. 3,600 is where the paper stopped. The matches per end "
        "of Q4–Q6 have no mean that a sample settles at: now and then one end has millions.",
        paper={"table 2": CONSUMPTION},
    )


def _line(row: Row, setting: Setting) -> tuple[str, ...]:
    paper = {key: figures[row.name] for key, figures in CONSUMPTION.items()}
    seconds = row.timing.seconds
    return (
        row.name,
        shortened(row.matches),
        f"{row.parameters['matches_per_end']:,.1f}",
        f"{paper['outputs']:,.0f}",
        f"{seconds:.3f}",
        ("~" if row.noisy else "") + millions(row.events_per_s),
        f"{setting.calibration.loops(seconds, row.events):,.1f}",
        *("–" if paper[system] is None else f"{paper[system]:,.2f}" for system in SYSTEMS),
        f"{row.timing.peak_mb:,.0f}",
    )


def one(name: str, events: int, repeats: int) -> Row:
    stream = drawn(events)
    expected = consuming(Q[name], stream)
    check = Check("whole stream, by a direct program", expected.matches)
    per_end = expected.matches / expected.ends
    query = Q[name].query(clauses="CONSUME")
    return counted(name, stream.table(), query, check, repeats, matches_per_end=per_end)
