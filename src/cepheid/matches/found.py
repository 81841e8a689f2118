"""What an evaluator found: matches as flat arrays, not yet rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Found:
    """Match m is made of `rows[offsets[m]:offsets[m+1]]`, global row numbers in stream order; `labels` beside
    them says which variables each event is bound to (an index into the evaluator's `labels`)."""

    offsets: Ints
    rows: Ints
    labels: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1


def nothing_found() -> Found:
    return Found(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))
