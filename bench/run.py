"""Runs the experiments, prints their tables, writes the JSON and the curves.

python -m bench [--quick] [--only NAME …] [--output DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.calibration import Calibration, calibrate, machine
from bench.curves import svg_of
from bench.experiments import (
    absence,
    chains,
    consumption,
    joins,
    length,
    registers_kleene,
    registers_length,
    registers_operators,
    registers_window,
    relevance,
    stocks,
    strategies,
    stream,
    streaming,
    stress,
    targets,
    waiting,
    window,
)
from bench.results import Report, Row, Setting, Target
from bench.tables import LEGEND, table_of, targets_of
from bench.timing import WrongCountError, isolated, new_process

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENTS: dict[str, Callable[[Setting], Report]] = {
    "targets": targets.run,
    "window": window.run,
    "length": length.run,
    "stream": stream.run,
    "relevance": relevance.run,
    "stress": stress.run,
    "consumption": consumption.run,
    "strategies": strategies.run,
    "stocks": stocks.run,
    "joins": joins.run,
    "absence": absence.run,
    "chains": chains.run,
    "registers-length": registers_length.run,
    "registers-window": registers_window.run,
    "registers-kleene": registers_kleene.run,
    "registers-operators": registers_operators.run,
    "streaming": streaming.run,
    "waiting": waiting.run,
}


NOT_QUICK = ("streaming",)  # Java and six workers have to warm up


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    screen = Console(width=120)
    began = time.perf_counter()
    before = _calibrated(given.quick, given.divide)
    screen.print(f"This machine, one core: {before}.\n{LEGEND}.")
    if given.quick:
        screen.print("Quick: one process for all, so that peak MB includes what earlier experiments left.")
    reports = []
    with new_process() if given.quick else nullcontext() as process:
        setting = Setting(given.quick, before, given.divide, process)
        for name in given.only or _all_of(given.quick):
            try:
                with screen.status(f"{name} …"):
                    reports.append(EXPERIMENTS[name](setting))
            except WrongCountError as error:
                print(f"experiment `{name}`: wrong count, nothing is timed. {error}", file=sys.stderr)
                return 1
            show(screen, reports[-1])
    after = _calibrated(given.quick, given.divide)
    screen.print(f"This machine, afterwards: {after}; {time.perf_counter() - began:.0f} s in all.")
    if before.differs(after):
        screen.print("Others disturbed this run: the machine was not the same before and after.")
    goals = [target for report in reports for target in report.targets]
    if goals:
        screen.print("\n[bold]targets[/bold]: what was to be reached, and was it?", targets_of(goals))
    for path in written(given.output, reports, before, after, quick=given.quick):
        screen.print(os.path.relpath(path))
    return 0


def _all_of(quick: bool) -> list[str]:
    return [name for name in EXPERIMENTS if not (quick and name in NOT_QUICK)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="shorter streams, fewer points: under a minute")
    parser.add_argument(
        "--only", nargs="+", choices=EXPERIMENTS, metavar="NAME", help=f"of {', '.join(EXPERIMENTS)}"
    )
    parser.add_argument(
        "--output", type=Path, default=ROOT / "out", help="folder for bench.json and bench/*.svg"
    )
    parser.add_argument("--divide", type=int, default=1, help="make every stream this many times shorter")
    return parser


def show(screen: Console, report: Report) -> None:
    screen.print(f"\n[bold]{report.name}[/bold]: {report.title}", table_of(report), report.look, sep="\n")


def _calibrated(quick: bool, divide: int) -> Calibration:
    return isolated(calibrate, (1_000_000 if quick else 4_000_000) // divide, 5)


def written(
    output: Path, reports: list[Report], before: Calibration, after: Calibration, *, quick: bool
) -> list[Path]:
    """Everything as JSON, and the curves."""
    folder = output / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "quick": quick,
        "machine": machine(),
        "calibration": {"before": vars(before), "after": vars(after), "differs": before.differs(after)},
        "experiments": {report.name: _experiment(report, before) for report in reports},
    }
    paths = [output / "bench.json"]
    paths[0].write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
    for curve in (curve for report in reports for curve in report.curves):
        paths.append(folder / f"{curve.name}.svg")
        paths[-1].write_text(svg_of(curve), encoding="utf-8")
    return paths


def _experiment(report: Report, calibration: Calibration) -> dict[str, Any]:
    return {
        "title": report.title,
        "look": report.look,
        "rows": [_row(row, calibration) for row in report.rows],
        "targets": [_target(target) for target in report.targets],
        "paper": report.paper,
    }


def _row(row: Row, calibration: Calibration) -> dict[str, Any]:
    seconds = row.timing.seconds
    return {
        "name": row.name,
        "parameters": row.parameters,
        "events": row.events,
        "matches": row.matches if row.matches < 1 << 53 else str(row.matches),  # JSON readers use doubles
        "checked": row.checked,
        "seconds": seconds,
        "events_per_s": row.events_per_s,
        "all_wall_seconds": row.timing.wall_s,
        "all_cpu_seconds": row.timing.cpu_s,
        "noisy": row.noisy,
        "warm_up_seconds": row.timing.warm_up_s,
        "peak_mb": row.timing.peak_mb,
        "times_trivial_loop": calibration.loops(seconds, row.events),
        "times_copy_of_input": calibration.copies(seconds, row.input_bytes),
    }


def _target(target: Target) -> dict[str, Any]:
    return {**vars(target), "met": target.met}
