"""Reports as tables on the screen, and numbers as text."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from bench.calibration import Calibration
from bench.results import Report, Row, Target

MEASURED = ("events", "matches", "events/s", "ns/event", "× loop", "× copy", "warm-up\ns", "peak\nMB")
LEGEND = (
    "× loop, × copy: time beside the trivial loop's and a copy of the input; warm-up: the first run, kernels loaded; "
    "~: wall and CPU time differ by more than 20 %"
)


def measured(row: Row, calibration: Calibration) -> tuple[str, ...]:
    """The cells under `MEASURED`."""
    seconds = row.timing.seconds
    return (
        f"{row.events / 1e6:g} M" if row.events >= 1e6 else f"{row.events:,}",
        shortened(row.matches),
        ("~" if row.noisy else "") + millions(row.events_per_s),
        rounded(row.ns_per_event),
        rounded(calibration.loops(seconds, row.events)),
        rounded(calibration.copies(seconds, row.input_bytes)),
        f"{row.timing.warm_up_s:.2f}",
        f"{row.timing.peak_mb:,.0f}",
    )


def table_of(report: Report) -> Table:
    table = Table()
    for place, name in enumerate(report.header):
        table.add_column(name, justify="right" if place else "left", no_wrap=True)
    for line in report.lines:
        table.add_row(*line)
    return table


def targets_of(targets: list[Target]) -> Table:
    table = Table()
    for place, name in enumerate(("work", "target", "reached", "")):
        table.add_column(name, justify="right" if place in (1, 2) else "left")
    for target in targets:
        bound = "≥" if target.at_least else "≤"
        verdict = Text("met", "green") if target.met else Text("missed", "red")
        verdict.append(", noisy" if target.noisy else "")
        reached = f"{in_unit(target.reached, target.unit)}"
        table.add_row(target.work, f"{bound} {in_unit(target.goal, target.unit)}", reached, verdict)
    return table


def in_unit(number: float, unit: str) -> str:
    """
    >>> in_unit(20_000_000, "events/s"), in_unit(1.25, "×"), in_unit(0.4, "s")
    ('20.0 M events/s', '1.25×', '0.40 s')
    """
    if unit == "×":
        return f"{number:.2f}×"
    return f"{millions(number) if unit.endswith('/s') else f'{number:.2f}'} {unit}"


def millions(number: float) -> str:
    """
    >>> millions(14_250_000), millions(350_000)
    ('14.2 M', '0.350 M')
    """
    return f"{number / 1e6:,.1f} M" if number >= 1e6 else f"{number / 1e6:.3f} M"


def rounded(number: float) -> str:
    """
    >>> rounded(32.04), rounded(34_620.6)
    ('32.0', '34,621')
    """
    return f"{number:,.1f}" if number < 1000 else f"{number:,.0f}"


def shortened(number: int) -> str:
    """
    >>> shortened(1_234), shortened(123_456_789_012), shortened(2**500)
    ('1,234', '1.23e+11', '151 digits')
    """
    if number < 10**9:
        return f"{number:,}"
    return f"{number:.2e}" if number < 10**100 else f"{len(str(number))} digits"
