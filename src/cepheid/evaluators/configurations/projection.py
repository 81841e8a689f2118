"""Drops the auxiliary labels and removes the duplicate matches this leaves.

In: matches of an automaton that exposes registers (`automata.expose_registers`) or has labels for checks. Out: the same
with the labels of the output only, without the events that are marked only to expose them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from cepheid.automata.expose_registers import UNMARKED
from cepheid.evaluators.configurations.evaluator import ConfigurationsEvaluator
from cepheid.evaluators.configurations.match_filter import LARGE, MatchFilter
from cepheid.evaluators.interface import Events
from cepheid.kernels.matches.hashes import hash_matches
from cepheid.matches.match_arrays import LABEL, Found


class Projection:
    """`labels`: the labels of the output. `shown`: its names.

    >>> projection = Projection([frozenset(), frozenset("x"), frozenset(["x", "↓r"]), frozenset(["⊗", "↓r"])], "x")
    >>> twice = Found(np.array([0, 2, 5]), np.array([4, 7, 4, 5, 7]), np.array([1, 1, 1, 3, 2], LABEL))
    >>> found = projection.of(twice)
    >>> found.rows, found.labels, projection.labels
    (array([4, 7]), array([1, 1], dtype=int16), (frozenset(), frozenset({'x'})))
    """

    def __init__(self, labels: Sequence[frozenset[str]], shown: Collection[str]) -> None:
        plain = [label & frozenset(shown) for label in labels]
        self.labels = tuple(dict.fromkeys([frozenset[str](), *plain]))
        self._label = np.array([self.labels.index(label) for label in plain], LABEL)
        self._is_marked = np.array([UNMARKED not in label for label in labels], np.bool_)

    def of(self, found: Found) -> Found:
        """Each distinct match once, at the place of its first duplicate; duplicates end at the same event."""
        marked = self._is_marked[found.labels]
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(marked)])
        plain = Found(ends[found.offsets], found.rows[marked], self._label[found.labels[marked]])
        hashes = np.empty((len(plain), 2), np.int64)
        hash_matches(plain.offsets, plain.rows, plain.labels, hashes)
        _, first = np.unique(hashes, axis=0, return_index=True)
        return plain if len(first) == len(plain) else plain.take(np.sort(first))


class Projected(MatchFilter):
    """`shown`: the names of the output."""

    hint = (
        "the query compares events that a match does not show: use a shorter WITHIN, or narrower conditions"
    )

    def __init__(
        self,
        inner: ConfigurationsEvaluator,
        shown: Collection[str],
        counting: bool = False,
        limit: int | None = None,
    ) -> None:
        super().__init__(inner, counting, limit, LARGE)
        self._limited = inner
        self._projection = Projection(inner.labels, shown)

    @property
    def labels(self) -> tuple[frozenset[str], ...]:
        return self._projection.labels

    def _filtered(self, candidates: Found, piece: Events) -> Found:
        return self._projection.of(candidates)
