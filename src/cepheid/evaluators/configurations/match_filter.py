"""An evaluator that filters the matches of another.

In: events, passed on in pieces. Out: the matches of each piece that `_filtered` keeps; LIMIT and counts apply to these.
All matches of a piece are in memory at once, so pieces are small where matches are many.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from cepheid.errors import CepheidError
from cepheid.evaluators.configurations.evaluator import ConfigurationsEvaluator
from cepheid.evaluators.interface import Bounds, Evaluator, Events, State, first_matches, named, part_of
from cepheid.matches.match_arrays import Found, Ints, joined, nothing_found
from cepheid.state_checks import whole_number

_INNER = "all:"


class Sizes(NamedTuple):
    """How many rows a piece has, and after how many events in its matches pieces get smaller."""

    first: int
    fewest: int
    most: int
    many_events: int


LARGE = Sizes(1 << 10, 1 << 4, 1 << 15, 1 << 20)
SMALL = Sizes(1 << 2, 1, 1 << 4, 1 << 12)


class MatchFilter(ABC):
    """`inner` lists all matches, without a limit."""

    hint: ClassVar[str]
    """The hint of the error for too many candidates; counting needs all of them as well."""

    decides_alone: bool = True
    """Whether a match stays independently of the others, so that the first matches can be found without the rest."""

    def __init__(self, inner: Evaluator, counting: bool, limit: int | None, sizes: Sizes) -> None:
        self._inner = inner
        self._sizes = sizes
        self._counting = counting
        self._limit = None if counting else limit
        self._kept = 0
        self._has_stopped = False
        self._limited: ConfigurationsEvaluator | None = None
        """The evaluator of the candidates, if it may stop after the first of many."""
        self._size = sizes.first
        self.positional = inner.positional
        self.relevant: Ints = np.zeros(0, np.int64)

    @abstractmethod
    def _filtered(self, candidates: Found, piece: Events) -> Found:
        """The matches that stay, of those that ended in a piece."""

    @property
    def labels(self) -> tuple[frozenset[str], ...]:
        return self._inner.labels

    def advance(self, events: Events) -> Found:
        relevant, found = [], []
        at = 0
        while at < len(events.times):
            if self._limit is not None and self._kept >= self._limit:
                break  # nothing later is looked at
            piece = events.part(at, at + self._size, report=events.report)
            candidates = self._candidates_of(piece)
            at += self._size
            self._size = next_size(self._size, len(candidates.rows), self._sizes)
            relevant.append(self._inner.relevant)
            found.append(self._counted(self._filtered(candidates, piece)))
            if self._has_stopped and (self._limit is None or self._kept < self._limit):
                few_passed = f"too few of the first {len(candidates):,} candidates are matches"
                raise CepheidError("too-many-matches", few_passed, hint=self.hint)
        self.relevant = np.concatenate([np.zeros(0, np.int64), *relevant])
        return joined(found)

    def _candidates_of(self, piece: Events) -> Found:
        """The matches of `inner`; with a limit only the first of many."""
        few = first_matches() if self._limit is not None and self.decides_alone else None
        if few is not None and self._limited is not None:
            self._limited.limit = few
        try:
            found = self._candidates(piece)
        except CepheidError as error:
            if error.code != "too-many-matches":
                raise
            hint = f"{self.hint}, or `limit=` to see some" if self.decides_alone else self.hint
            raise CepheidError(error.code, error.message, span=error.span, hint=hint) from error
        self._has_stopped = few is not None and len(found) >= few
        return found

    def _candidates(self, piece: Events) -> Found:
        return self._inner.advance(piece)

    def _counted(self, found: Found) -> Found:
        self._kept += len(found)
        return nothing_found() if self._counting else found

    def pass_time(self, now: int | float) -> Found:
        """Nothing: no match of an automaton waits."""
        return nothing_found()

    waiting_since = None

    def finish(self) -> Found:
        """Nothing, likewise."""
        return nothing_found()

    @property
    def counted(self) -> int:
        return self._kept

    def live_rows(self) -> Ints:
        return np.zeros(0, np.int64) if self._counting else self._inner.live_rows()

    def keep_partitions(self, partitions: Ints) -> None:
        self._inner.keep_partitions(partitions)

    @property
    def memory(self) -> int:
        return self._inner.memory

    def save(self) -> State:
        own = {"chosen": np.array([self._kept]), "size": np.array([self._size])}
        return {**own, **named(_INNER, self._inner.save())}

    def load(self, state: State, bounds: Bounds) -> None:
        self._kept = whole_number(state, "chosen", 0, 1 << 62)
        self._size = whole_number(state, "size", self._sizes.fewest, self._sizes.most)
        self._inner.load(part_of(state, _INNER), bounds)


def next_size(rows: int, events: int, sizes: Sizes) -> int:
    """How many rows to take next, after matches of so many events ended in so many rows.

    >>> next_size(1024, 10, LARGE), next_size(1024, 10_000_000, LARGE)
    (2048, 128)
    """
    if events > sizes.many_events:
        return max(sizes.fewest, rows // 8)
    return min(sizes.most, 2 * rows) if 8 * events < sizes.many_events else rows
