"""What the machine can do, measured in the same run: the unit in which results are also given.

A copy of memory bounds what any reading of a stream can reach; a trivial automaton over the same types, one dependent
step per event, bounds what any automaton can. A slow machine is slow at these too.
"""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.streams import drawn
from bench.timing import NOISE, measure

STATES = 8
COPIED = 1 << 24  # numbers: more than caches hold


@dataclass(frozen=True)
class Calibration:
    events: int
    copy_bytes_per_s: float  # bytes copied, each counted once
    step_ns: float

    def loops(self, seconds: float, events: int) -> float:
        """Time per event in steps of the trivial loop."""
        return seconds / events * 1e9 / self.step_ns

    def copies(self, seconds: float, input_bytes: int) -> float:
        """How long it took beside a copy of the input."""
        return seconds / (input_bytes / self.copy_bytes_per_s)

    def differs(self, other: Calibration) -> bool:
        """Whether the machine was not the same: multiples of one are then not to be trusted."""
        steps, copies = self.step_ns / other.step_ns, self.copy_bytes_per_s / other.copy_bytes_per_s
        return not all(1 / NOISE <= ratio <= NOISE for ratio in (steps, copies))

    def __str__(self) -> str:
        return (
            f"memory copy {self.copy_bytes_per_s / 1e9:.1f} GB/s, trivial loop {self.step_ns:.2f} ns per step"
        )


def calibrate(events: int, repeats: int) -> Calibration:
    """Over the types of the main stream as an array of 64-bit numbers; the copy is of that array again and again."""
    import numba

    types = drawn(events).codes.astype(np.int64)
    table = np.random.default_rng(4).integers(0, STATES, (STATES, STATES))
    steps = numba.njit(_steps)
    loop_s = _seconds(lambda: int(steps(types, table)), repeats)
    source = np.resize(types, COPIED)
    target = np.empty_like(source)
    copy_s = _seconds(lambda: _copy(source, target), repeats)
    return Calibration(events, source.nbytes / copy_s, loop_s / events * 1e9)


def _copy(source: npt.NDArray[np.int64], target: npt.NDArray[np.int64]) -> int:
    np.copyto(target, source)
    return int(target[-1])


def _steps(types: Any, table: Any) -> Any:
    """Visits to state 0. Each state depends on the one before, so steps cannot overlap."""
    state, visits = 0, 0
    for type in types:
        state = table[state, type]
        visits += state == 0
    return visits


def _seconds(run: Callable[[], int], repeats: int) -> float:
    return statistics.median(measure(run, repeats)[1].wall_s)


def machine() -> dict[str, str | int | None]:
    names = ("numba", "numpy", "pyarrow", "cepheid")
    from importlib.metadata import version

    return {
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{name: version(name) for name in names},
    }
