"""Where enumerators write matches: match m is `rows[offsets[m]:offsets[m + 1]]`, ascending, with their labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepheid.kernels.compiled import inlined
from cepheid.kernels.memory.status import BEYOND_LIMIT, DONE, MORE_OUTPUT, TOO_MANY

ROOTS = -1  # as a limit: in place of matches, what leads to those that end at the next event is written
ROOT_WORDS = 3
MADE, BEFORE, BEGUN_AT, MADE_WORDS = range(
    4
)  # of `made`: matches, also before the partition at hand; its first event


class Output(NamedTuple):
    offsets: np.ndarray
    rows: np.ndarray
    labels: np.ndarray
    made: (
        np.ndarray
    )  # how many matches there are; for a loop that takes partition by partition, the next two words


@inlined
def why_full(out_rows, guard, made, most):
    """The status of a loop that found no room for a match, `guard` events and `most` matches being the most."""
    if made == most:
        return BEYOND_LIMIT
    return TOO_MANY if len(out_rows) >= guard else MORE_OUTPUT


@inlined
def put_root(one, other, third, made, out):
    """Writes three words as if they were a match: a status and the matches made."""
    at = out.offsets[made]
    if at + ROOT_WORDS > len(out.rows) or made == len(out.offsets) - 1:
        return MORE_OUTPUT, made
    out.rows[at] = one
    out.rows[at + 1] = other
    out.rows[at + 2] = third
    out.offsets[made + 1] = at + ROOT_WORDS
    return DONE, made + 1
