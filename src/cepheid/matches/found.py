"""What an evaluator found: matches as flat arrays, not yet rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
LABEL = np.int16
Labels = npt.NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Found:
    """Match m is made of `rows[offsets[m]:offsets[m+1]]`, global row numbers in stream order; `labels` beside
    them says which variables each event is bound to (an index into the evaluator's `labels`). The arrays are the
    evaluator's own, to be read before it is given more events."""

    offsets: Ints
    rows: Ints
    labels: Labels

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def part(self, begin: int, end: int) -> Found:
        """The matches from number `begin` to before `end`, if there are so many."""
        if begin == 0 and end >= len(self):
            return self
        offsets = self.offsets[begin : end + 1]
        events = slice(offsets[0], offsets[-1])
        return Found(offsets - offsets[0], self.rows[events], self.labels[events])


def nothing_found() -> Found:
    return Found(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, LABEL))
