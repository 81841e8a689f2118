"""The first benchmark: Q1–Q6 of `cel-cea` (table 1) and sequences over a day of stock ticks.

Each case runs in a process of its own, so that peak memory is its own. Kernels are compiled before the clock
starts. Shown: events/s of a count and of full enumeration (the engine in-process, one core), matches/s, peak
memory; beside them the machine's calibration, so that figures from two machines can be compared. Results go
to `out/bench.json` as well.

    python bench/run.py [--events N] [--only NAME]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

import cepheid

ROOT = Path(__file__).resolve().parent.parent
STOCKS = ROOT.parent / "shared" / "data" / "stocks.parquet"
TYPES = ("A", "B", "C", "D", "E")
WARM_UP = 2_000


@dataclass(frozen=True)
class Case:
    """`most_matches`: enumeration is skipped, and only the count timed, where there are more."""

    name: str
    source: str
    query: str
    time: str
    most_matches: int = 20_000_000


@dataclass(frozen=True)
class Measured:
    name: str
    query: str
    events: int
    matches: int
    count_seconds: float
    match_seconds: float | None
    peak_mb: float


def uniform_cases() -> list[Case]:
    """Table 1 under a window of 20 events, and with consumption, as in table 2."""
    formulas = {
        "Q1": "A AS x ; B AS y ; C AS z",
        "Q2": "A AS x ; B AS y ; C AS z ; D AS w",
        "Q3": "((A AS x OR B AS y) OR C AS z) ; D AS w",
        "Q4": "(A AS x)+ ; (B AS y)",
        "Q5": "(A AS x)+ ; (B AS y)+ ; C AS z",
        "Q6": "((A AS x)+ ; (B AS y))+ ; C AS z",
    }
    windowed = [
        Case(name, "uniform", f"SELECT * FROM s WHERE {formula} WITHIN 20", "ts")
        for name, formula in formulas.items()
    ]
    consumed = [
        Case(f"{name} consume", "uniform", f"SELECT * FROM s WHERE {formula} CONSUME", "ts")
        for name, formula in formulas.items()
    ]
    return windowed + consumed


def stock_cases() -> list[Case]:
    """The unary part of the sequences in the data's README: their comparison of prices is over two events,
    which the compact evaluator does not take yet, so these match more than the counts there."""
    intel = "SELL AS x FILTER x.name = 'INTC'"
    rimm = "BUY AS y FILTER y.name = 'RIMM'"
    qqq = "BUY AS z FILTER z.name = 'QQQ'"
    formulas = {
        "stocks sequence": f"({intel}) ; ({rimm}) ; ({qqq})",
        "stocks iteration": f"({intel}) ; ({rimm})+ ; ({qqq})",
        "stocks four": "(SELL AS x FILTER x.name = 'MSFT') ; (BUY AS y FILTER y.name = 'ORCL') ; "
        "(BUY AS z FILTER z.name = 'CSCO') ; (SELL AS w FILTER w.name = 'AMAT')",
    }
    return [
        Case(f"{name} {within}", "stocks", f"SELECT * FROM s WHERE {formula} WITHIN {within}", "stock_time")
        for name, formula in formulas.items()
        for within in (500, 5000)
    ]


def events_of(source: str, events: int) -> pa.Table:
    if source == "stocks":
        return pq.read_table(STOCKS)
    random = np.random.default_rng(1)
    types = pa.DictionaryArray.from_arrays(
        random.integers(0, len(TYPES), events).astype(np.int8), list(TYPES)
    )
    return pa.table({"ts": np.arange(events), "type": types.cast(pa.string()), "id": np.arange(events)})


def measure(case: Case, events: int) -> Measured:
    """Runs in a process of its own."""
    table = events_of(case.source, events)
    query = cepheid.query(case.query)
    for function in (cepheid.count, cepheid.match):
        function(table.slice(0, WARM_UP), query, time=case.time)
    matches, count_seconds = timed(lambda: cepheid.count(table, query, time=case.time))
    match_seconds = None
    if matches <= case.most_matches:
        found, match_seconds = timed(lambda: enumerate_all(table, query, case.time))
        assert found == matches, (found, matches)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measured(case.name, case.query, table.num_rows, matches, count_seconds, match_seconds, peak_mb)


def enumerate_all(table: pa.Table, query: Any, time: str, rows: int = 1 << 16) -> int:
    """All matches, made batch by batch and let go, as a sink would take them."""
    engine = query.engine(table.schema, time=time)
    found = sum(engine.push(table.slice(begin, rows)).num_rows for begin in range(0, table.num_rows, rows))
    return int(found + engine.finish().num_rows)


def timed(run: Callable[[], int]) -> tuple[int, float]:
    begin = time.perf_counter()
    result = run()
    return result, time.perf_counter() - begin


def calibrate() -> dict[str, float | str]:
    """What the machine can do: bytes copied and steps of a trivial compiled loop per second."""
    import numba

    @numba.njit
    def steps(values: Any) -> Any:
        total = np.int64(0)
        for value in values:
            total = (total ^ value) + (total >> 3)
        return total

    values = np.arange(20_000_000)
    target = np.empty_like(values)
    steps(values[:10])
    copy = min(timed(lambda: int(np.copyto(target, values) is None))[1] for _ in range(5))
    loop = min(timed(lambda: int(steps(values)))[1] for _ in range(3))
    return {
        "copy_gb_per_s": 2 * values.nbytes / copy / 1e9,
        "loop_million_steps_per_s": len(values) / loop / 1e6,
        "cores": float(os.cpu_count() or 0),
        "machine": platform.machine(),
        "python": platform.python_version(),
    }


def table_of(measured: list[Measured], calibration: dict[str, float | str]) -> Table:
    table = Table(
        title="In-process, one core",
        caption=f"memory copy {calibration['copy_gb_per_s']:.1f} GB/s; compiled loop "
        f"{calibration['loop_million_steps_per_s']:.0f} M steps/s",
    )
    for name in ("case", "events", "matches", "count: events/s", "match: events/s", "matches/s", "peak MB"):
        table.add_column(name, justify="left" if name == "case" else "right")
    for m in measured:
        matching = ["–", "–"]
        if m.match_seconds is not None:
            matching = [f"{m.events / m.match_seconds:,.0f}", f"{m.matches / m.match_seconds:,.0f}"]
        count = f"{m.events / m.count_seconds:,.0f}"
        table.add_row(m.name, f"{m.events:,}", shortened(m.matches), count, *matching, f"{m.peak_mb:,.0f}")
    return table


def shortened(number: int) -> str:
    return (
        f"{number:,}"
        if number < 10**15
        else f"≈ {number:.3e}"
        if number < 10**300
        else f"{len(str(number))} digits"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=1_000_000, help="length of the uniform stream")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--output", type=Path, default=ROOT / "out" / "bench.json")
    given = parser.parse_args()
    screen = Console()
    cases = uniform_cases()
    if STOCKS.exists():
        cases += stock_cases()
    else:
        screen.print(f"stock sequences skipped: there is no {os.path.relpath(STOCKS, ROOT)}")
    calibration = calibrate()
    measured = []
    spawn = multiprocessing.get_context("spawn")
    for case in (case for case in cases if given.only in case.name):
        with screen.status(f"{case.name} …"), spawn.Pool(1) as pool:
            measured.append(pool.apply(measure, (case, given.events)))
    screen.print(table_of(measured, calibration))
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(
        json.dumps({"calibration": calibration, "cases": [asdict(m) for m in measured]}, indent=2)
    )
    screen.print(f"the same as JSON: {os.path.relpath(given.output)}")


if __name__ == "__main__":
    main()
