"""CONSUME over checked matches: the last consumed event of each partition.

In: candidates found without CONSUME. Out: the matches with CONSUME: in the order of their ends, the candidates that
begin after the last consumed event of their partition; each passing match consumes all events up to its end.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cepheid.evaluators.interface import Events, State
from cepheid.kernels.matches.consume import consume
from cepheid.matches.match_arrays import Found, Ints
from cepheid.state_checks import words


class Consumption:
    def __init__(self) -> None:
        self.rows: Ints = np.zeros(0, np.int64)
        """By partition the last consumed row, or -1."""

    def take(self, candidates: Found, piece: Events, relevant: Ints, passes: npt.NDArray[np.bool_]) -> None:
        """Sets `passes` to false for candidates with consumed events; all end in `relevant` rows of a piece."""
        partition_of = piece.at(piece.places_of(relevant))[1]
        ends = candidates.rows[candidates.offsets[1:] - 1]
        partitions = partition_of[np.searchsorted(relevant, ends)]
        more = max(0, int(partitions.max(initial=-1)) + 1 - len(self.rows))
        self.rows = np.concatenate([self.rows, np.full(more, -1)])
        consume(candidates.offsets, candidates.rows, partitions, self.rows, passes)

    def keep_partitions(self, partitions: Ints) -> None:
        self.rows = self.rows[partitions[partitions < len(self.rows)]]

    @property
    def memory(self) -> int:
        return self.rows.nbytes

    def save(self) -> dict[str, Ints]:
        return {"consumed": self.rows}

    def load(self, state: State) -> None:
        self.rows = words(state, "consumed", None)
