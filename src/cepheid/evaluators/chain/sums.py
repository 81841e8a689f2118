"""Sums of partial matches by key, between two batches: the state of `kernels.loops.linked.sums`, for counts without a
window."""

from __future__ import annotations

import numpy as np

from cepheid.evaluators.chain.keys import Keys
from cepheid.evaluators.chain.layout import Layout
from cepheid.evaluators.driver import drive
from cepheid.evaluators.growth import power_of_two, with_rows, with_words
from cepheid.evaluators.interface import State
from cepheid.kernels.loops.linked.layout import ChainBatch, ChainOptions, Shape
from cepheid.kernels.loops.linked.sums import (
    G_GROUP,
    G_PARTITION,
    G_VALUES,
    Entries,
    Groups,
    SumSpace,
    SumTables,
    chain_sums,
    rebuild_sums,
    sum_scratch,
)
from cepheid.kernels.memory.big_integers import BITS, SAFE, to_int, wider
from cepheid.kernels.memory.status import MORE_HEAP, MORE_TRANSITIONS, MORE_WORDS
from cepheid.matches.match_arrays import Ints
from cepheid.state_checks import require, require_indices, require_total, whole_number, words


class Sums:
    def __init__(self, layout: Layout, keys: Keys) -> None:
        self._layout = layout
        self._columns = keys
        self._is_left = np.zeros(max(len(keys), 1), np.int64)
        self._is_left[keys.left] = 1
        self._words = 1
        self._meta = np.zeros(1, np.int64)
        self._times = np.zeros(1, np.int64)
        self._total = np.zeros(16, np.int64)
        self._keys = np.zeros((64, G_VALUES + len(keys)), np.int64)
        self._slots = np.zeros(128, np.int64)
        self._numbers = np.zeros(64, np.int64)
        self._take_shape()

    def _take_shape(self) -> None:
        self._shape: Shape = self._layout.shape(0)
        parts = [1 << len(index.different) for index in self._layout.indices]
        self._groups: Ints = np.cumsum([0, *parts])
        self._entries = 1 + sum(parts)  # that one partial match is counted in, at most
        self._whole: Ints = np.full(len(self._shape.size), -1)
        self._whole_indices: Ints = np.full(self._groups[-1] + 1, -1)
        compared = set(self._columns.left)
        for number, index in enumerate(self._layout.indices):
            links = [*index.equal, *index.different]
            if {self._columns.left[link] for link in links} == compared and self._whole[index.state] < 0:
                self._whole[index.state] = number
                self._whole_indices[self._groups[number] + parts[number] - 1] = number

    @property
    def counted(self) -> int:
        return to_int(self._total)

    def fit_partitions(self, count: int) -> None:
        self._times = with_rows(self._times, count)

    def run(self, batch: ChainBatch, options: ChainOptions) -> None:
        if self._layout.fit():
            self._copy()

        def loop(begin: int) -> tuple[int, int]:
            transitions = self._layout.transitions
            space = SumSpace(
                entries=self._all_entries(),
                times=self._times,
                reached=self._layout.reached,
                total=self._total,
                scratch=sum_scratch(transitions, self._keys.shape[1], self._words),
            )
            tables = SumTables(transitions, self._shape, self._named_groups())
            status, at = chain_sums(tables, batch, begin, options, space)
            return status, at

        drive(
            loop,
            {
                MORE_TRANSITIONS: lambda at: self._reach(int(batch.klass[at])),
                MORE_HEAP: lambda at: self._copy(int(self._layout.transitions.how_many[batch.klass[at]])),
                MORE_WORDS: lambda at: self._copy(0, wider(self._words)),
            },
        )

    def _named_groups(self) -> Groups:
        return Groups(first=self._groups, is_left=self._is_left, whole=self._whole)

    def _all_entries(self) -> Entries:
        return Entries(
            keys=self._keys, slots=self._slots, numbers=self._numbers, used=self._meta, words=self._words
        )

    def _reach(self, klass: int) -> None:
        self._layout.reach(klass)
        if self._layout.fit():
            self._copy()

    def _copy(self, transitions: int = 0, words: int | None = None, partitions: Ints | None = None) -> None:
        """Copies the sums for the current links, with room for as many again and for so many transitions."""
        words = self._words if words is None else words
        partitions = np.arange(len(self._times)) if partitions is None else partitions
        old_shape, old_indices = self._shape, self._whole_indices
        self._take_shape()
        count = int(self._meta[0])
        groups = self._keys[:count, G_GROUP]
        based = int(np.count_nonzero((groups < 0) | (old_indices[np.maximum(groups, 0)] >= 0)))
        room = power_of_two(2 * (based + transitions) * self._entries, 64)
        widest = max((len(index.equal) + len(index.different) for index in self._layout.indices), default=0)
        entries = self._all_entries()
        keys = np.zeros((room, G_VALUES + max(len(self._columns), widest)), np.int64)
        slots, numbers = np.zeros(2 * room, np.int64), np.zeros(room * words, np.int64)
        self._keys, self._slots, self._numbers, self._words = keys, slots, numbers, words
        self._meta = np.zeros(1, np.int64)
        rebuild_sums(
            entries,
            self._times,
            partitions,
            old_shape,
            old_indices,
            self._shape,
            self._named_groups(),
            self._all_entries(),
        )
        self._total = with_words(self._total, words)

    def keep_partitions(self, partitions: Ints) -> None:
        numbers = np.full(len(self._times), -1)
        partitions = partitions[partitions < len(self._times)]
        numbers[partitions] = np.arange(len(partitions))
        self._copy(partitions=numbers)
        self._times = self._times[partitions] if len(partitions) else np.zeros(1, np.int64)

    @property
    def memory(self) -> int:
        return sum(array.nbytes for array in (self._keys, self._slots, self._numbers, self._times))

    def save(self) -> State:
        count = int(self._meta[0])
        return {
            "keys": self._keys[:count],
            "numbers": self._numbers[: count * self._words],
            "times": self._times,
            "total": self._total,
            "words": np.array([self._words]),
        }

    def load(self, state: State) -> None:
        self._take_shape()
        self._total = words(state, "total", None)
        self._words = whole_number(state, "words", 1, len(self._total))
        require_total(self._total, self._words + 8)
        self._keys = words(state, "keys", None, None)
        self._numbers = words(state, "numbers", len(self._keys) * self._words)
        self._times = words(state, "times", None)
        self._meta[0] = len(self._keys)
        self._require_entries()
        self._copy()

    def _require_entries(self) -> None:
        """Keys are of groups and partitions that there are, and sums of their numbers do not overflow."""
        widest = max((len(index.equal) + len(index.different) for index in self._layout.indices), default=0)
        wide = self._keys.shape[1] >= G_VALUES + max(len(self._columns), widest)
        require(len(self._times) > 0 and wide, "`keys` are too short")
        require_indices(self._keys[:, G_GROUP], -len(self._shape.n_indices), int(self._groups[-1]), "keys")
        require_indices(self._keys[:, G_PARTITION], 0, len(self._times), "keys")
        numbers = self._numbers.reshape(-1, self._words)
        require_indices(numbers[:, :-1], 0, 1 << BITS, "numbers")
        require_indices(numbers[:, -1], 0, SAFE, "numbers")
        require(numbers[:, -1].astype(np.float64).sum() < 1 << 61, "`numbers` are too large")
