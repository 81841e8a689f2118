"""Numbers that say where an event is, `words[field, event]`: its row, partition, position and time.

A time is a whole number that orders events as the time does where it is one, and the bits of a real (`ties_of`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cepheid.algebra.windows import Window
from cepheid.automata.derived import counts_events
from cepheid.matches.match_arrays import Ints
from cepheid.streams.times import Times, age_limit, unsigned

ROW, PARTITION, POSITION, CLOCK = range(4)
FIELDS = 4


def times_in(words: Ints, is_real: bool) -> Times:
    clock: Ints = words[CLOCK]
    return clock.view(np.float64) if is_real else clock


def are_inside(earlier: Ints, later: Ints, window: Window | None, is_real: bool) -> npt.NDArray[np.bool_]:
    """Event by event, whether the later one is inside the window that begins with the earlier one.

    >>> one, other = np.array([[0], [0], [0], [5]]), np.array([[3], [0], [3], [9]])
    >>> from cepheid.algebra.windows import WindowUnit
    >>> [bool(are_inside(one, other, Window(4, unit), False)[0]) for unit in (WindowUnit.PLAIN, WindowUnit.EVENTS)]
    [True, True]
    >>> bool(are_inside(one, other, Window(3, WindowUnit.EVENTS), False)[0])
    False
    """
    if window is None:
        return np.ones(earlier.shape[1], np.bool_)
    if counts_events(window):
        return np.asarray(later[POSITION] - earlier[POSITION] + 1 <= window.amount)
    if is_real:
        with np.errstate(over="ignore"):
            ages = later[CLOCK].view(np.float64) - earlier[CLOCK].view(np.float64)
        return np.asarray(ages <= window.amount)
    return np.asarray(unsigned(later[CLOCK] - earlier[CLOCK]) <= age_limit(window.amount))
