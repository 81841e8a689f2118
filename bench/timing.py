"""Timing one piece of work: checked, warmed up, repeated, in a process that does nothing else.

The first run counts as warm-up: it loads (or compiles) kernels, and its result must be the expected one before anything
is timed. Wall time and the process's own CPU time are both taken; on one core they agree unless others disturb.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.pool import Pool
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

NOISE = 1.2  # wall time over CPU time from which a row is called noisy
_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")

T = TypeVar("T")


class WrongCountError(Exception):
    """What was to be timed does not find what it should."""


@dataclass(frozen=True)
class Timing:
    """`peak_mb`: the most memory the process held from the first timed run on, its input included."""

    wall_s: tuple[float, ...]
    cpu_s: tuple[float, ...]
    warm_up_s: float
    peak_mb: float

    @property
    def seconds(self) -> float:
        return statistics.median(self.wall_s)

    @property
    def cpu_seconds(self) -> float:
        return statistics.median(self.cpu_s)

    @property
    def noisy(self) -> bool:
        return not self.cpu_seconds / NOISE <= self.seconds <= self.cpu_seconds * NOISE

    def __truediv__(self, other: Timing) -> float:
        """How many times as long this took."""
        return self.seconds / other.seconds


def measure(run: Callable[[], int], repeats: int, expected: int | None = None) -> tuple[int, Timing]:
    """What `run` finds and how long it takes. Without `expected`, what it finds first must come every time."""
    found, warm_up_s, _ = _timed(run)
    require(found, found if expected is None else expected)
    runs = _repeated(run, found, repeats)
    return found, Timing(tuple(r[0] for r in runs), tuple(r[1] for r in runs), warm_up_s, peak_mb())


def measure_in_turns(runs: Sequence[Callable[[], int]], repeats: int, expected: int) -> list[Timing]:
    """How long each takes, one after the other again and again, so that what disturbs one disturbs all."""
    warm_up = [_required(run, expected)[0] for run in runs]
    reset_peak()
    rounds = [[_required(run, expected) for run in runs] for _ in range(repeats)]
    peak = peak_mb()
    return [
        Timing(tuple(wall for wall, _ in turns), tuple(cpu for _, cpu in turns), first, peak)
        for first, turns in zip(warm_up, zip(*rounds, strict=True), strict=True)
    ]


def _repeated(run: Callable[[], int], expected: int, repeats: int) -> list[tuple[float, float]]:
    reset_peak()
    return [_required(run, expected) for _ in range(repeats)]


def _required(run: Callable[[], int], expected: int) -> tuple[float, float]:
    found, wall_s, cpu_s = _timed(run)
    require(found, expected)
    return wall_s, cpu_s


def _timed(run: Callable[[], int]) -> tuple[int, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = run()
    return found, time.perf_counter() - wall, time.process_time() - cpu


def require(found: int, expected: int, what: str = "the timed configuration") -> None:
    """
    >>> require(7, 8)
    Traceback (most recent call last):
    bench.timing.WrongCountError: the timed configuration finds 7 matches; there are 8
    """
    if found != expected:
        raise WrongCountError(f"{what} finds {found:,} matches; there are {expected:,}")


def peak_mb() -> float:
    """What `getrusage` says includes the parent's memory, from before the exec, so Linux's own record comes first."""
    if _STATUS.exists():
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)  # macOS counts bytes


def reset_peak() -> None:
    """From here on `peak_mb` is the most held since; where Linux does not allow that, since the process began."""
    pa.default_memory_pool().release_unused()
    try:
        _CLEAR.write_text("5")
    except OSError:
        return


def new_process(threads: int = 1) -> Pool:
    """A process with so many threads for Arrow, and as many for polars."""
    os.environ["POLARS_MAX_THREADS"] = str(threads)  # read by the new process when it first needs one
    return multiprocessing.get_context("spawn").Pool(1, pa.set_cpu_count, (threads,))


def isolated(function: Callable[..., T], *arguments: object, threads: int = 1) -> T:
    """The function's result in a process that ends with it."""
    with new_process(threads) as process:
        return process.apply(function, arguments)
