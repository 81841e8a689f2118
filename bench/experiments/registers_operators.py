"""Operators with registers: q1 to q5 of `srt` (section 5.7, figure 5) and others of SREMO; counts and matches."""

from __future__ import annotations

from bench.operators import VARIANTS
from bench.register_rows import HEADER, curve, line, operator_rows, sizes, slowest
from bench.registers import OPERATORS
from bench.results import Report, Setting
from bench.tables import MEASURED
from bench.ticks import MISSING, STOCKS

WITHIN = 1_000


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
    return Report(
        name,
        title,
        header,
        [line(row, setting) for pair in pairs for row in pair],
        [row for pair in pairs for row in pair],
        "Look at events/s of each: q1 to q5 are the paper's. `dearer` and `same` compare MSFT with MSFT, so that the "
        "outcome is not known from the names.",
        [
            slowest(f"registers, q1 to q5, {WITHIN:,} ms", papers),
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
