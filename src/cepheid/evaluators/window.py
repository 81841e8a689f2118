"""The window of a query as it slides over relevant events: by event, where a match that ends there may begin.

Kept between batches are the rows and times of the events that are still inside. Both `compact` and `chain` use it.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cepheid.algebra.nodes import Window, WindowUnit
from cepheid.evaluators.interface import Bounds, State
from cepheid.kernels.columns.events import window_edges
from cepheid.matches.match_arrays import Ints
from cepheid.state_checks import require, require_ascending, require_indices, words
from cepheid.streams.times import Times, age_limit, ties_of, unsigned

ALL_BEFORE = np.iinfo(np.int64).min + 1
"""An edge before every row and position. (One less is the stamp of what has no edge yet, `chain_shape.NEVER`.)"""


class SlidingWindow:
    def __init__(self, window: Window | None) -> None:
        self._window = window
        self.by_position = window is not None and window.unit is WindowUnit.EVENTS
        self._rows: Ints = np.zeros(0, np.int64)
        self._times: Times = np.zeros(0, np.int64)

    def __bool__(self) -> bool:
        """Whether there is a window at all."""
        return self._window is not None

    def edges(self, rows: Ints, positions: Ints, all_times: Times, kept: Ints) -> Ints:
        """By kept event, the least row, or position, that a match ending there may start at."""
        if self._window is None:
            return np.full(len(rows), ALL_BEFORE)
        if self.by_position:
            # No position is before 0, and an edge of at least 0 can be shifted by the class that `partition` packs with
            # it.
            return np.maximum(positions - (int(self._window.amount) - 1), 0)
        new = all_times[kept]
        before = len(self._rows)
        all_rows = np.concatenate([self._rows, rows])
        times = np.concatenate([self._times.astype(new.dtype, copy=False), new])
        edges = np.empty(len(rows), np.int64)
        if times.dtype == np.float64:
            low = window_edges(times, all_rows, before, float(self._window.amount), edges)
        else:
            low = window_edges(
                unsigned(ties_of(times)), all_rows, before, age_limit(self._window.amount), edges
            )
        self._rows, self._times = all_rows[low:].copy(), times[low:].copy()
        return edges

    @property
    def edge(self) -> int:
        """The least row that any later match may start at."""
        return int(self._rows[0]) if len(self._rows) else ALL_BEFORE

    @property
    def memory(self) -> int:
        return self._rows.nbytes + self._times.nbytes

    def save(self) -> State:
        return {"rows": self._rows, "times": self._times}

    def load(self, state: State, bounds: Bounds) -> None:
        self._rows = words(state, "rows", None)
        require_indices(self._rows, 0, bounds.rows, "window:rows")
        require_ascending(self._rows, "window:rows", strictly=True)
        self._times = times(state, "times", len(self._rows), bounds)
        require_ascending(self._times, "window:times")


def times(state: State, name: str, length: int, bounds: Bounds) -> Times:
    """Checks the times in a saved state: so many numbers, of the kind that the time column has."""
    require(name in state, f"`{name}` is missing")
    saved = state[name]
    kind = np.float64 if pa.types.is_floating(bounds.time) else np.int64
    require(saved.shape == (length,), f"`{name}` has the shape {saved.shape}")
    require(saved.dtype == kind or length == 0, f"`{name}` has the type {saved.dtype}")
    given: Times = np.array(saved, kind)  # type: ignore[assignment]
    require(bool(np.isfinite(given).all()), f"`{name}` has a time that is none")
    return given
