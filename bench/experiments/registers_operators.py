"""Operators with registers: q1 to q5 of `srt` (section 5.7, figure 5) and others of SREMO; counts and matches."""

from __future__ import annotations

from bench.operators import VARIANTS
from bench.register_rows import HEADER, beside, curve, line, operator_rows, paper_row, sizes, slowest
from bench.registers import OPERATORS
from bench.results import Report, Setting
from bench.tables import MEASURED
from bench.ticks import MISSING, STOCKS

WITHIN, SHORT, LONG = 1_000, 500, 30_000
GOAL = 10.0


def run(setting: Setting) -> Report:
    name, title = (
        "registers-operators",
        f"various operators over stock ticks, {WITHIN:,} ms; count, positions",
    )
    header = ("", *MEASURED, HEADER)
    if not STOCKS.exists():
        return Report(name, title, header, [], [], MISSING)
    names = setting.points([*OPERATORS, *VARIANTS], ["q1", "q3", "q5", "dearer"])
    pairs = setting.each(operator_rows, [(each, WITHIN, *sizes(setting)) for each in names])
    counts, positions = ([pair[i] for pair in pairs] for i in (0, 1))
    papers = [row for row in counts if row.name in OPERATORS]
    others = [row for row in counts if row.name in VARIANTS]
    again = [each for each in names if each in OPERATORS]
    windows = setting.points([SHORT, LONG], [LONG])
    cases = [(each, within, *sizes(setting)) for within in windows for each in again]
    longer = dict(zip([case[:2] for case in cases], setting.each(paper_row, cases), strict=True))
    return Report(
        name,
        title,
        header,
        [line(row, setting) for row in (*(row for pair in pairs for row in pair), *longer.values())],
        [*(row for pair in pairs for row in pair), *longer.values()],
        "Look at events/s of each: q1 to q5 are the paper's. `dearer` and `same` compare MSFT with MSFT, so that the "
        "outcome is not known from the names.",
        [
            slowest(f"registers, q1 to q5, {WITHIN:,} ms", papers),
            *(
                slowest(f"registers, q1 to q5, {SHORT} ms", [longer[each, SHORT] for each in again])
                for within in windows
                if within == SHORT
            ),
            *(
                beside(f"registers, {row.name}, {WITHIN:,} → {LONG:,} ms", longer[row.name, LONG], row, GOAL)
                for row in papers
            ),
            slowest(f"registers, other operators, {WITHIN:,} ms", others),
            slowest(
                f"registers, positions of all matches, q1 to q5, {WITHIN:,} ms", positions[: len(papers)]
            ),
        ],
        [
            curve(
                name,
                f"Operators with registers, {WITHIN:,} ms: events/s",
                "pattern",
                enumerate(counts, start=1),
                [row.name for row in counts],
            )
        ],
    )
