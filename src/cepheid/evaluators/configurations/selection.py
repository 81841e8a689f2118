"""NXT, LAST and MAX over an evaluator that finds all matches.

In: events. Out: of all matches that end at an event those that the strategy chooses (`kernels.matches.choose`). `inner`
has already applied the window and CONSUME, which only asks whether any match ended.
"""

from __future__ import annotations

import numpy as np

from cepheid.algebra.nodes import Strategy
from cepheid.evaluators.configurations.match_filter import LARGE, MatchFilter
from cepheid.evaluators.interface import Evaluator, Events
from cepheid.kernels.matches.choose import LARGEST, LATEST, NEXT, choose
from cepheid.matches.match_arrays import Found, Ints

HOW = {Strategy.NXT: NEXT, Strategy.LAST: LATEST, Strategy.MAX: LARGEST}


class Selection(MatchFilter):
    hint = "the strategy chooses among all matches that end at an event: use a shorter WITHIN, or narrower conditions"
    decides_alone = False

    def __init__(
        self, inner: Evaluator, strategy: Strategy, counting: bool = False, limit: int | None = None
    ) -> None:
        super().__init__(inner, counting, limit, LARGE)
        self._how = HOW[strategy]

    def _filtered(self, candidates: Found, piece: Events) -> Found:
        return candidates.take(best_of(candidates, self._how))


def best_of(found: Found, how: int) -> Ints:
    """The numbers of the matches that the strategy chooses among those with the same end.

    >>> offsets, rows = np.array([0, 2, 4, 6]), np.array([1, 2, 1, 8, 5, 8])
    >>> best_of(Found(offsets, rows, np.zeros(6, np.int16)), LATEST)
    array([0, 2])
    """
    matches = len(found)
    compares_sizes = how == LARGEST and matches > 0
    longest = int(np.diff(found.offsets).max()) if compares_sizes else 0
    scratch = np.empty((2, matches if compares_sizes else 0), np.int64)
    chosen = np.empty(matches, np.int64)
    number = choose(how, found.offsets, found.rows, scratch, np.empty(longest + 1, np.int64), chosen)
    return chosen[:number]
