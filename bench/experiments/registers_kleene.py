"""Iteration with registers, plain and nested (`srt`, sections 5.5 and 5.6, figure 4).

The number of matches doubles with every event that is repeated; the time must not grow with it. So each iteration is
also held beside the sequence that differs by nothing but the `+`.
"""

from __future__ import annotations

from bench.register_rows import HEADER, beside, curve, line, pattern_row, sizes, slowest
from bench.results import Report, Row, Setting
from bench.tables import MEASURED
from bench.ticks import MISSING, STOCKS

WITHIN, SHORT, LONG = 500, 1_000, 30_000
MANY = 5_000  # ms, with 2 × 10¹² matches in a day
FLAT = 1.5
GOAL = 10.0


def run(setting: Setting) -> Report:
    name, title = "registers-kleene", "iteration with n-ary conditions over stock ticks; count"
    header = ("", *MEASURED, HEADER)
    if not STOCKS.exists():
        return Report(name, title, header, [], [], MISSING)
    lengths = setting.points([3, 6, 9, 12], [3, 12])
    depths = setting.points([4, 8, 12, 16], [4])
    windows = setting.points([WITHIN, SHORT, 2_000, MANY, 10_000, LONG], [WITHIN, MANY, LONG])
    nested_windows = setting.points([WITHIN, SHORT, LONG], [WITHIN])
    longer = setting.points([6, 9, 12], [])  # iterations measured in the longest window, too

    def rows_of(family: str, cases: list[tuple[int, int]]) -> dict[tuple[int, int], Row]:
        rows = setting.each(pattern_row, [(family, *case, *sizes(setting)) for case in cases])
        return dict(zip(cases, rows, strict=True))

    cases = [
        *((n, WITHIN) for n in lengths),
        *((3, w) for w in windows if w != WITHIN),
        *((n, w) for n in longer for w in (SHORT, LONG)),
    ]
    plain = rows_of("kleene", cases)
    nested = rows_of("nested", [(n, w) for w in nested_windows for n in depths])
    (without,) = rows_of("sequence", [(3, MANY)]).values()
    every = [*plain.values(), *nested.values(), without]
    return Report(
        name,
        title,
        header,
        [line(row, setting) for row in every],
        every,
        "Look at matches and ns/event: 3 in a window of 30 s has 10³⁷ times the matches of half a second.",
        [
            slowest(
                f"registers, iteration, {lengths[0]} to {lengths[-1]}, {WITHIN} ms",
                [plain[n, WITHIN] for n in lengths],
            ),
            slowest(f"registers, nested iteration, {WITHIN} ms", [nested[n, WITHIN] for n in depths]),
            beside(f"registers, iteration beside sequence of 3, {MANY:,} ms", plain[3, MANY], without, FLAT),
            beside(
                f"registers, iteration of 3, {WITHIN} → {LONG:,} ms", plain[3, LONG], plain[3, WITHIN], GOAL
            ),
            *(
                beside(
                    f"registers, iteration of {n}, {SHORT:,} → {LONG:,} ms",
                    plain[n, LONG],
                    plain[n, SHORT],
                    GOAL,
                )
                for n in longer
            ),
            *(
                beside(
                    f"registers, nested iteration of {n}, {SHORT:,} → {LONG:,} ms",
                    nested[n, LONG],
                    nested[n, SHORT],
                    GOAL,
                )
                for n in depths
                if LONG in nested_windows
            ),
        ],
        [
            curve(
                f"{name}-length",
                f"Iteration with registers, {WITHIN} ms: events/s by length",
                "length of the pattern",
                [(n, plain[n, WITHIN]) for n in lengths],
            ),
            curve(
                f"{name}-window",
                "An iteration with registers, length 3: events/s by window",
                "window, ms",
                [(w, plain[3, w]) for w in windows],
            ),
            *(
                curve(
                    f"{name}-nested-{w}",
                    f"Nested iteration with registers, {w:,} ms: events/s by length",
                    "length of the pattern",
                    [(n, nested[n, w]) for n in depths],
                )
                for w in nested_windows
            ),
        ],
    )
