"""The one interface of all evaluators: a state that takes events in order and yields matches.

An evaluator is made from a plan and is fed `Events`; it never sees unsorted rows. Between two calls its state
can be saved as named arrays and restored, and it says which rows later matches may still need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.matches.found import Found, Ints

State = Mapping[str, npt.NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Events:
    """A run of the stream in its total order.

    `rows` are global row numbers, ascending from `rows[0]` by one. `times` are in microseconds for timestamps and
    dates, else the numbers themselves. `lanes` numbers the partition of each event from 0 (all 0 without
    PARTITION BY) and `positions` is the event's position inside its lane. Matches that end in these events are
    reported only when `report` is true.
    """

    table: pa.Table
    rows: Ints
    times: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    lanes: Ints
    positions: Ints
    report: bool = True


class Evaluator(Protocol):
    relevant: Ints
    """The rows of the last events taken that a match may contain, ascending."""

    @property
    def labels(self) -> tuple[frozenset[str], ...]:
        """What a label number means: the shown variables an event is bound to. Number 0 is the empty set. There may
        be more after each `advance`; a number keeps its meaning."""
        ...

    def advance(self, events: Events) -> Found:
        """Takes the next events and gives the matches that end in them, by end, in stream order."""
        ...

    def finish(self) -> Found:
        """The stream has ended: what was waiting for later events."""
        ...

    @property
    def counted(self) -> int:
        """How many matches have ended so far, when made for counting; `advance` then finds nothing."""
        ...

    def live_rows(self) -> Ints:
        """Ascending row numbers that later matches may contain."""
        ...

    def keep_lanes(self, lanes: Ints) -> None:
        """Forgets all lanes but these (ascending), which are numbered from 0 from now on."""
        ...

    def save(self) -> State: ...

    def load(self, state: State) -> None: ...

    @property
    def memory(self) -> int:
        """Bytes held between two calls."""
        ...
