"""A NOT beside the same pattern without it: between two events, after the last, before the first, in any order."""

from __future__ import annotations

import cepheid
from bench.checks import FEW, Check
from bench.results import Report, Row, Setting
from bench.streams import drawn, keyed
from bench.tables import MEASURED, measured
from bench.timing import require
from bench.work import counted

SHARES = {"A": 2.0, "B": 1.0, "C": 1.0, "D": 8.0, "E": 8.0}
KEYS = 10_000
WITHIN = 1_000_000
PATTERNS = (
    ("end, one event", "A", "A ; NOT B"),
    ("between", "A ; C", "A ; NOT B ; C"),
    ("end, FOR", "A ; C", "A ; C ; NOT B FOR 50000"),
    ("end", "A ; C", "A ; C ; NOT B"),
    ("start", "A ; C", "NOT B ; A ; C"),
    ("anywhere", "A AND C", "A AND NOT B AND C"),
)


def run(setting: Setting) -> Report:
    events = setting.events(2_000_000, 500_000)
    tasks = [(name, pattern, events, setting.repeats) for name, *both in PATTERNS for pattern in both]
    rows = setting.each(one, tasks)
    pairs = list(zip(rows[::2], rows[1::2], strict=True))
    lines = []
    for (name, *_), (without, with_it) in zip(PATTERNS, pairs, strict=True):
        times = without.events_per_s / with_it.events_per_s
        lines.append((f"{name}: without", "", *measured(without, setting.calibration)))
        lines.append((f"{name}: with", f"× {times:.2f}", *measured(with_it, setting.calibration)))
    return Report(
        "absence",
        f"counts with a NOT and without, {KEYS:,} keys, window {WITHIN:,}",
        ("pattern", "with / without", *MEASURED),
        lines,
        rows,
        "Look at with / without: what is beyond a match is known from columns, made once per batch.",
    )


def one(name: str, pattern: str, events: int, repeats: int) -> Row:
    stream = drawn(events, SHARES)
    query = f"SELECT * FROM s WHERE {pattern} PARTITION BY key WITHIN {WITHIN}"
    few = keyed(drawn(8 * FEW, SHARES), 5)
    short = query.replace(str(WITHIN), "40").replace("50000", "9")
    require(cepheid.count(few, short), cepheid.count(few, short, evaluator="semantics"), f"`{short}`")
    check = Check(f"first {8 * FEW} events, by the definition")
    return counted(f"{name}: {pattern}", keyed(stream, KEYS), query, check, repeats, pattern=pattern)
