"""Sequences with registers under windows of half a second to half a minute (`srt`, section 5.4, figure 3)."""

from __future__ import annotations

from bench.register_rows import HEADER, beside, curve, line, pattern_row, sizes, slowest
from bench.results import Report, Setting
from bench.tables import MEASURED
from bench.ticks import MISSING, STOCKS

SHORT, LONG = 1_000, 30_000
GOAL = 10.0  # times as long in the long window


def run(setting: Setting) -> Report:
    name, title = "registers-window", "sequences with n-ary conditions over stock ticks, by window; count"
    header = ("", *MEASURED, HEADER)
    if not STOCKS.exists():
        return Report(name, title, header, [], [], MISSING)
    windows = setting.points([500, SHORT, 2_000, 5_000, 10_000, LONG], [SHORT, LONG])
    lengths = setting.points([6, 9, 12], [])
    rows = setting.each(pattern_row, [("sequence", 3, w, *sizes(setting)) for w in windows])
    longer = {
        n: setting.each(pattern_row, [("sequence", n, w, *sizes(setting)) for w in (SHORT, LONG)])
        for n in lengths
    }
    every = [*rows, *(row for pair in longer.values() for row in pair)]
    by_window = dict(zip(windows, rows, strict=True))
    pairs = {3: [by_window[SHORT], by_window[LONG]], **longer}
    return Report(
        name,
        title,
        header,
        [line(row, setting) for row in every],
        every,
        f"Look at ns/event: target at most {GOAL:g}× from {SHORT:,} to {LONG:,} ms. In the longest window there are "
        "150 events on average.",
        [
            slowest(
                f"registers, sequence of 3, up to {SHORT:,} ms", [by_window[w] for w in windows if w <= SHORT]
            ),
            *(
                beside(f"registers, sequence of {n}, {SHORT:,} → {LONG:,} ms", long, short, GOAL)
                for n, (short, long) in pairs.items()
            ),
        ],
        [
            curve(
                name,
                "A sequence of three with registers: events/s by window",
                "window, ms",
                zip(windows, rows, strict=True),
            )
        ],
    )
