"""Throughput of Q1–Q6 under every strategy over S1 (uniform) and S2 of `cel-cea` (figure 5).

The paper's shares of S2, 4, 3, 2, 1 and 2 tenths, sum to 12 tenths; here they are twelfths. Where the numbers of
matches would grow to thousands of digits, which the paper never counts, the query gets a window.
"""

from __future__ import annotations

from bench.checks import STRATEGIES, Check, strategy_checks
from bench.formulas import Q
from bench.paper import STRATEGIES_TEXT
from bench.results import Report, Row, Setting
from bench.streams import S2, UNIFORM, drawn
from bench.tables import millions
from bench.work import counted

STREAMS = {"S1": UNIFORM, "S2": S2}
WITHIN = 1_000
WINDOWED = {("ALL", "Q4"), ("ALL", "Q5"), ("ALL", "Q6"), ("MAX", "Q6")}


def run(setting: Setting) -> Report:
    events = setting.events(1_000_000, 100_000)
    cases = [(source, name, events, 3) for source in STREAMS for name in Q]
    groups = setting.each(one, cases)
    lines = [
        (f"{source} {name}", *(_cell(row) for row in rows), f"{max(row.timing.peak_mb for row in rows):,.0f}")
        for (source, name, *_), rows in zip(cases, groups, strict=True)
    ]
    return Report(
        "strategies",
        f"events/s of a count over {events:,} events without a window; w: window {WITHIN:,} events",
        ("", *STRATEGIES, "peak\nMB"),
        lines,
        [row for rows in groups for row in rows],
        f"Look along a line: a strategy should cost little beside ALL. {STRATEGIES_TEXT}",
        paper={"figure 5": STRATEGIES_TEXT},
    )


def _cell(row: Row) -> str:
    window = " w" if row.parameters["window"] else ""
    return ("~" if row.noisy else "") + millions(row.events_per_s) + window


def one(source: str, name: str, events: int, repeats: int) -> list[Row]:
    stream = drawn(events, STREAMS[source])
    table = stream.table()
    windows = {strategy: WITHIN if (strategy, name) in WINDOWED else None for strategy in STRATEGIES}
    queries = {
        strategy: Q[name].query(strategy, "" if within is None else f"WITHIN {within} EVENTS")
        for strategy, within in windows.items()
    }
    checks: dict[str, Check] = {}
    for within in set(windows.values()):
        alike = {strategy: queries[strategy] for strategy in STRATEGIES if windows[strategy] == within}
        checks |= strategy_checks(name, stream, alike, within)
    return [
        counted(
            f"{source} {name} {strategy}",
            table,
            queries[strategy],
            checks[strategy],
            repeats,
            strategy=strategy,
            window=windows[strategy],
        )
        for strategy in STRATEGIES
    ]
