"""Sequences of 3 to 12 with registers (`srt`, section 5.3, figure 2), and the first of them beside joins by hand."""

from __future__ import annotations

from bench.register_rows import HEADER, beside_join, curve, join_rows, line, pattern_row, sizes, slowest
from bench.results import Report, Setting
from bench.tables import MEASURED
from bench.ticks import MISSING, STOCKS

WITHIN = 500
ELSEWHERE = {
    "Esper, patterns": 0.8e6,
    "Esper, match_recognize": 0.5e6,
    "SASE": 0.13e6,
    "OpenCEP": 0.06e6,
    "FlinkCEP": 0.04e6,
}  # events/s on `seq_3`, not in this run


def run(setting: Setting) -> Report:
    name, title = "registers-length", f"sequences with n-ary conditions over stock ticks, {WITHIN} ms; count"
    header = ("", *MEASURED, HEADER)
    if not STOCKS.exists():
        return Report(name, title, header, [], [], MISSING)
    lengths = setting.points([3, 6, 9, 12], [3, 12])
    rows = setting.each(pattern_row, [("sequence", n, WITHIN, *sizes(setting)) for n in lengths])
    ((in_turns, *joins),) = setting.each(join_rows, [(WITHIN, *sizes(setting))])
    others = ", ".join(f"{rows[0].events_per_s / rate:,.0f}× {who}" for who, rate in ELSEWHERE.items())
    return Report(
        name,
        title,
        header,
        [line(row, setting) for row in (*rows, in_turns, *joins)],
        [*rows, in_turns, *joins],
        f"Look at events/s: the sequence of three is {others}; those were measured elsewhere, on this kind of machine.",
        [
            slowest(f"registers, sequences of {lengths[0]} to {lengths[-1]}, {WITHIN} ms", rows),
            *(target for join in joins for target in beside_join(in_turns, join)),
        ],
        [
            curve(
                name,
                f"Sequences with registers, {WITHIN} ms: events/s by length",
                "length of the pattern",
                zip(lengths, rows, strict=True),
            )
        ],
        {"elsewhere, events/s": ELSEWHERE},
    )
