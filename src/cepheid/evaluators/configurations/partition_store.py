"""What partitions hold between two batches, in whatever form: `Store` has slots for each start, `Counts` vectors of
starts.

Python here is per batch and per growth, never per event, key or match.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from cepheid.evaluators.configurations.guards import Tests
from cepheid.evaluators.configurations.tables import Tables
from cepheid.evaluators.growth import with_rows
from cepheid.kernels.conditions.decimals import BEYOND, DECIMAL, MOST_SCALE
from cepheid.kernels.conditions.values import BIG, NULL, REAL, TIMES, TRUTH, WHOLE
from cepheid.kernels.loops.registers.layout import NEVER, Layout
from cepheid.kernels.memory.big_integers import to_int
from cepheid.matches.match_arrays import Ints
from cepheid.state_checks import require

_TAGS = [NULL, WHOLE, BIG, REAL, TRUTH, *TIMES, BEYOND, *range(DECIMAL, DECIMAL + MOST_SCALE + 1)]
"""The tags of values that are stored beside them. Texts are stored as numbers, in columns of their own."""
_SPARE_TEXTS = 1 << 14  # texts kept beyond twice those in use


class Held(ABC):
    def __init__(self, tables: Tables, tests: Tests, partition_words: int) -> None:
        """`partition_words`: those of a partition before it is laid out."""
        self._tables = tables
        self._tests = tests
        self._layout: Layout | None = None
        self._partitions = np.zeros((1, partition_words), np.int64)
        self._total = np.zeros(16, np.int64)
        self._texts_in_use = 0

    @abstractmethod
    def _new_layout(self) -> Layout:
        """That of the states met so far."""

    @abstractmethod
    def _partition_words(self, layout: Layout) -> int: ...

    @abstractmethod
    def _copy(self, edge: int, partitions: Ints, more: int = 0) -> None:
        """Copies what lives from `edge` on of these partitions to an array at most half full of it, with room for some
        words more."""

    @abstractmethod
    def _enter_all(self, more: int) -> None:
        """Makes the index anew, with room for so many entries more."""

    @abstractmethod
    def _texts(self, last: Ints, step: int, word: int, values: Ints, is_put: bool) -> int:
        """One word of every column that is remembered, into `values`, or with `is_put` from there: how many. Columns
        are `step` words long and over at `last[region]`."""

    @property
    @abstractmethod
    def _heap_words(self) -> int: ...

    @property
    def counted(self) -> int:
        return to_int(self._total)

    def fit_partitions(self, count: int) -> None:
        self._partitions = with_rows(self._partitions, count)

    @property
    def is_laid_out(self) -> bool:
        return self._layout is not None

    def fit_states(self) -> None:
        """Room in the slots for states that were met since."""
        if self._layout is None:
            self._layout = self._new_layout()
            self._partitions = np.zeros(
                (len(self._partitions), self._partition_words(self._layout)), np.int64
            )
        else:
            self._copy(NEVER, np.arange(len(self._partitions)))

    def _stored(self, word: int) -> Ints:
        """One word of every column that is remembered."""
        values = np.zeros(self._heap_words, np.int64)
        return values[: self._texts(*self._remembered, word, values, is_put=False)].copy()

    @property
    def _remembered(self) -> tuple[Ints, int]:
        """By region the word at which columns are over, and how long they are."""
        assert self._layout is not None
        columns = self._tables.columns
        last = np.array([columns.end(number) for number in range(len(self._layout.size))], np.int64)
        return last, max(columns.column, 1)

    def _key_ends(self) -> Ints:
        """By kind, the word after those that tell its slots apart."""
        assert self._layout is not None
        ends: Ints = np.max(self._layout.keys, axis=1, initial=-1) + 1
        return ends

    def _require_values(self) -> None:
        """After loading: what stored events have as texts are numbers of texts, and what has a tag has a known one."""
        for word in self._tests.columns_of_texts():
            self._tests.require_texts(word, self._stored(word))
        for word in self._tests.columns_of_tags():
            require(bool(np.isin(self._stored(word), _TAGS).all()), "a stored value has an unknown tag")

    def tidy(self, edge: int) -> None:
        """Between two batches: numbers the texts in use anew where most are not."""
        if self._layout is None or self._tests.numbered <= 2 * self._texts_in_use + _SPARE_TEXTS:
            return
        self._copy(edge, np.arange(len(self._partitions)))
        last, step = self._remembered
        held = [(word, self._stored(word)) for word in self._tests.columns_of_texts()]
        kept = np.unique(np.concatenate([np.zeros(0, np.int64), *(values for _, values in held)]))
        renumbered = self._tests.keep(kept)
        for word, values in held:
            self._texts(last, step, word, renumbered[np.maximum(values, -1)], is_put=True)
        self._enter_all(0)
        self._texts_in_use = self._tests.numbered

    def collect(self, edge: int) -> None:
        """Keeps nothing but what lives from `edge` on."""
        if self._layout is not None:
            self._copy(edge, np.arange(len(self._partitions)))

    def keep_partitions(self, partitions: Ints, edge: int) -> None:
        if self._layout is not None:
            self._copy(edge, partitions[partitions < len(self._partitions)])
        else:
            self._partitions = np.zeros((max(len(partitions), 1), self._partitions.shape[1]), np.int64)
