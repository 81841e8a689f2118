"""Where enumerators write matches: match m is `rows[offsets[m]:offsets[m + 1]]`, ascending, with their labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepheid.kernels.compiled import inlined
from cepheid.kernels.memory.status import MORE_OUTPUT, TOO_MANY


class Output(NamedTuple):
    offsets: np.ndarray
    rows: np.ndarray
    labels: np.ndarray
    made: np.ndarray  # one word: how many matches there are


@inlined
def why_full(out_rows, guard):
    """The status of a loop that found no room for a match, `guard` events being the most."""
    return TOO_MANY if len(out_rows) >= guard else MORE_OUTPUT
