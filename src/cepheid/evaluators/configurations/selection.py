"""NXT, LAST and MAX over an evaluator that finds all matches.

In: events, which are handed on in pieces. Out: of all matches that end at an event those that the strategy chooses
(`kernels.config_choose`). A window was there before, CONSUME asks whether anything ended, LIMIT and counts are of what
is chosen. All matches of a piece are held at once, so pieces are small where matches are many.
"""

from __future__ import annotations

import numpy as np

from cepheid.algebra.nodes import Strategy
from cepheid.errors import CepheidError
from cepheid.evaluators.interface import Evaluator, Events, State, part_of
from cepheid.kernels.config_choose import LARGEST, LATEST, NEXT, choose
from cepheid.matches.found import Found, Ints, joined, nothing_found

HOW = {Strategy.NXT: NEXT, Strategy.LAST: LATEST, Strategy.MAX: LARGEST}

_MANY_EVENTS = 1 << 20  # in the matches of a piece, after which pieces get smaller
_FIRST_ROWS = 1 << 10
_FEWEST_ROWS = 1 << 4
_MOST_ROWS = 1 << 15
_INNER = "all:"


class Selection:
    """Takes what `inner`, made to list all matches without limit, finds."""

    def __init__(
        self, inner: Evaluator, strategy: Strategy, counting: bool = False, limit: int | None = None
    ) -> None:
        self._inner = inner
        self._how = HOW[strategy]
        self._counting = counting
        self._limit = None if counting else limit
        self._chosen = 0
        self._size = _FIRST_ROWS
        self.positional = inner.positional
        self.relevant: Ints = np.zeros(0, np.int64)

    @property
    def labels(self) -> tuple[frozenset[str], ...]:
        return self._inner.labels

    def advance(self, events: Events) -> Found:
        relevant, found = [], []
        at = 0
        while at < len(events.times):
            is_wanted = events.report and (self._limit is None or self._chosen < self._limit)
            piece = events.part(at, at + self._size, report=is_wanted)
            try:
                candidates = self._inner.advance(piece)
            except CepheidError as error:
                raise _explained(error) from error
            at += self._size
            self._size = next_size(self._size, len(candidates.rows))
            relevant.append(self._inner.relevant)
            found.append(self._best(candidates))
        self.relevant = np.concatenate([np.zeros(0, np.int64), *relevant])
        return joined(found)

    def _best(self, candidates: Found) -> Found:
        chosen = best_of(candidates, self._how)
        self._chosen += len(chosen)
        return nothing_found() if self._counting else candidates.take(chosen)

    def finish(self) -> Found:
        return self._best(self._inner.finish())

    @property
    def counted(self) -> int:
        return self._chosen

    def live_rows(self) -> Ints:
        return np.zeros(0, np.int64) if self._counting else self._inner.live_rows()

    def keep_lanes(self, lanes: Ints) -> None:
        self._inner.keep_lanes(lanes)

    @property
    def memory(self) -> int:
        return self._inner.memory

    def save(self) -> State:
        own = {"chosen": np.array([self._chosen]), "size": np.array([self._size])}
        return {**own, **{_INNER + name: array for name, array in self._inner.save().items()}}

    def load(self, state: State) -> None:
        self._chosen, self._size = int(state["chosen"][0]), int(state["size"][0])
        self._inner.load(part_of(state, _INNER))


def next_size(rows: int, events: int) -> int:
    """How many rows to take next, after matches of so many events ended in so many rows.

    >>> next_size(1024, events=10), next_size(1024, events=10_000_000)
    (2048, 128)
    """
    if events > _MANY_EVENTS:
        return max(_FEWEST_ROWS, rows // 8)
    return min(_MOST_ROWS, 2 * rows) if 8 * events < _MANY_EVENTS else rows


def best_of(found: Found, how: int) -> Ints:
    """The numbers of the matches that are chosen among those of their end.

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


def _explained(error: CepheidError) -> CepheidError:
    """The same with what helps here: neither LIMIT nor `count` spares looking at all matches."""
    if error.code != "too-many-matches":
        return error
    hint = "the strategy chooses among all matches that end at an event: use a shorter WITHIN, or narrower conditions"
    return CepheidError(error.code, error.message, span=error.span, hint=hint)
