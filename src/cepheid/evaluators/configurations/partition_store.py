"""The state of all partitions between two batches, the part that `SlotStore` and `VectorStore` have in common.

Python here is per batch and per growth, never per event, key or match.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from cepheid.evaluators.configurations.guards import CompiledTests
from cepheid.evaluators.configurations.tables import Tables
from cepheid.evaluators.growth import with_rows
from cepheid.evaluators.interface import State
from cepheid.kernels.conditions.decimals import BEYOND, DECIMAL, MOST_SCALE
from cepheid.kernels.conditions.values import BIG, NULL, REAL, TIMES, TRUTH, WHOLE
from cepheid.kernels.loops.registers.layout import NEVER, Layout
from cepheid.kernels.memory.big_integers import to_int
from cepheid.matches.match_arrays import Ints
from cepheid.state_checks import require, words

_TAGS = [NULL, WHOLE, BIG, REAL, TRUTH, *TIMES, BEYOND, *range(DECIMAL, DECIMAL + MOST_SCALE + 1)]
"""The tags of values that are stored beside them. Texts are stored as numbers, in columns of their own."""
_SPARE_TEXTS = 1 << 14  # texts kept beyond twice those in use


class PartitionStore(ABC):
    """`heap`, and in `meta[0]` how much of it is used; `words`: those of a number in a slot."""

    partition_words: ClassVar[int]
    """Those of a partition before it is laid out; then come `block_words` for each region."""

    block_words: ClassVar[int]

    def __init__(self, tables: Tables, tests: CompiledTests, words: int, heap: Ints, meta: Ints) -> None:
        self._tables = tables
        self._tests = tests
        self._words = words
        self._heap = heap
        self._meta = meta
        self._layout: Layout | None = None
        self._partitions = np.zeros((1, self.partition_words), np.int64)
        self._total = np.zeros(16, np.int64)
        self._texts_in_use = 0

    def _new_layout(self) -> Layout:
        """The layout of the states known so far."""
        return self._tables.layout(self._words)

    def _new_partitions(self, layout: Layout, count: int) -> Ints:
        width = self.partition_words + len(layout.size) * self.block_words
        return np.zeros((count, width), np.int64)

    @abstractmethod
    def _copy(self, edge: int, *, partitions: Ints | None = None, more: int = 0) -> None:
        """Copies the live part from `edge` on, of these partitions or of all, to an array that it fills at most by
        half, with room for some words more."""

    @abstractmethod
    def _enter_all(self, more: int) -> None:
        """Builds the index anew, with room for so many entries more."""

    @abstractmethod
    def _records(self, region: int) -> tuple[Ints, int]:
        """Where the slots of a region begin, and at which of their words the columns do."""

    @abstractmethod
    def _load_own(self, state: State) -> None:
        """Takes over all arrays of a saved state but the partitions, and checks what does without these."""

    @abstractmethod
    def _require_fit(self, layout: Layout, state: State, windowed: bool, labels: int) -> None:
        """Whether partitions lead only to what is there."""

    @property
    def counted(self) -> int:
        return to_int(self._total)

    def fit_partitions(self, count: int) -> None:
        self._partitions = with_rows(self._partitions, count)

    @property
    def is_laid_out(self) -> bool:
        return self._layout is not None

    def fit_states(self) -> None:
        """Makes room in the slots for new states."""
        if self._layout is None:
            self._layout = self._new_layout()
            self._partitions = self._new_partitions(self._layout, len(self._partitions))
        else:
            self._copy(NEVER)

    def _remembered(self) -> Ints:
        """Where the remembered columns begin."""
        assert self._layout is not None
        columns, found = self._tables.columns, [np.zeros(0, np.int64)]
        for region in range(len(self._layout.size)):
            slots, first = self._records(region)
            inside = np.arange(first, columns.end(region), max(columns.column, 1))
            found.append((slots[:, np.newaxis] + inside).reshape(-1))
        return np.concatenate(found)

    def _key_ends(self) -> Ints:
        """By kind, the end of the words by which its slots differ."""
        assert self._layout is not None
        ends: Ints = np.max(self._layout.keys, axis=1, initial=-1) + 1
        return ends

    def load(self, state: State, windowed: bool, labels: int) -> None:
        """The live part is copied once more, so that only words that slots lead to are taken over."""
        self._layout, self._partitions = None, words(state, "lanes", None, None)
        require(len(self._partitions) > 0, "`lanes` is empty")
        self._load_own(state)
        require(self._meta[0] == len(self._heap), "the length of its heap is not the one it states")
        if self._partitions.shape[1] == self.partition_words:
            require(not self._partitions.any(), "`lanes` has no blocks, but partial matches are stored")
            return
        self._layout = self._new_layout()
        wanted = self._new_partitions(self._layout, 0).shape[1]
        require(self._partitions.shape[1] == wanted, "`lanes` do not fit the query's automaton")
        self._require_fit(self._layout, state, windowed, labels)
        self._copy(NEVER)
        self._require_values()

    def _require_values(self) -> None:
        """After loading: what stored events have as texts are numbers of texts, and what has a tag has a known one."""
        at = self._remembered()
        for word in self._tests.columns_of_texts():
            self._tests.require_texts(word, self._heap[at + word])
        for word in self._tests.columns_of_tags():
            known = bool(np.isin(self._heap[at + word], _TAGS).all())
            require(known, "a stored value has an unknown tag")

    def tidy(self, edge: int) -> None:
        """Between two batches: numbers the texts in use anew where most are not."""
        if self._layout is None or self._tests.numbered <= 2 * self._texts_in_use + _SPARE_TEXTS:
            return
        self._copy(edge)
        columns = self._remembered()
        texts = [columns + word for word in self._tests.columns_of_texts()]
        held = np.concatenate([columns[:0], *texts])
        renumbered = self._tests.keep(np.unique(self._heap[held]))
        self._heap[held] = renumbered[np.maximum(self._heap[held], -1)]
        self._enter_all(0)
        self._texts_in_use = self._tests.numbered

    def collect(self, edge: int) -> None:
        """Keeps only the live part from `edge` on."""
        if self._layout is not None:
            self._copy(edge)

    def keep_partitions(self, partitions: Ints, edge: int) -> None:
        """The partitions that are kept may all be newer than any event that has come here."""
        if self._layout is not None:
            self._copy(edge, partitions=partitions[partitions < len(self._partitions)])
            self.fit_partitions(1)
        else:
            self._partitions = np.zeros((max(len(partitions), 1), self._partitions.shape[1]), np.int64)
