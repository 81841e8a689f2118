"""Counts by vectors of starts between two batches: what `kernels.counts` works on.

Takes the place of `Store` where matches are counted inside a window and starts need not be told apart (`Tables.sums`).
Memory is bounded by what a window holds: where the heap is full, what lives is copied to one twice as large.
"""

from __future__ import annotations

import numpy as np

from cepheid.errors import CepheidError
from cepheid.evaluators.configurations.tables import Tables
from cepheid.evaluators.configurations.tests import Tests
from cepheid.evaluators.interface import State
from cepheid.kernels.config_shape import I_WORDS, NEVER, S_COLUMNS, ConfigBatch, ConfigOptions, Layout
from cepheid.kernels.count_collect import copy, enter_everything, measure, stored_words
from cepheid.kernels.count_shape import (
    B_WORDS,
    C_BLOCKS,
    C_HI,
    C_LO,
    C_ROOM,
    C_SLOTS,
    CELLS,
    DONE,
    M_WORDS,
    MORE_CELLS,
    MORE_HEAP,
    MORE_PLACES,
    MORE_WORDS,
    NEED,
    NEED_CELLS,
    STATE_WORDS,
    WIDEST,
    Space,
)
from cepheid.kernels.counts import count_events
from cepheid.kernels.numbers import from_int, to_int
from cepheid.matches.found import Found, Ints, nothing_found

_FEWEST_WORDS = 1 << 12
_FEWEST_CELLS = 1 << 10
_SPARE_TEXTS = 1 << 14  # texts kept beyond twice those in use


class Counts:
    def __init__(self, tables: Tables, tests: Tests) -> None:
        self._tables = tables
        self._tests = tests
        self._layout: Layout | None = None
        self._heap = np.empty(_FEWEST_WORDS, np.int64)
        self._meta = np.zeros(M_WORDS, np.int64)
        self._lanes = np.zeros((1, C_BLOCKS), np.int64)
        self._index = np.zeros(I_WORDS * _FEWEST_CELLS, np.int64)
        self._places = 64
        self._total = np.zeros(16, np.int64)
        self._texts_in_use = 0

    @property
    def counted(self) -> int:
        return to_int(self._total)

    def fit_lanes(self, count: int) -> None:
        if len(self._lanes) < count:
            more = max(count, 2 * len(self._lanes)) - len(self._lanes)
            self._lanes = np.concatenate([self._lanes, np.zeros((more, self._lanes.shape[1]), np.int64)])

    @property
    def is_laid_out(self) -> bool:
        return self._layout is not None

    def fit_states(self) -> None:
        """Room in the slots for states that were met since."""
        if self._layout is None:
            self._layout = self._tables.layout(STATE_WORDS)
            self._lanes = np.zeros((len(self._lanes), _lane_words(self._layout)), np.int64)
        else:
            self._copy(NEVER, np.arange(len(self._lanes)))

    def run(self, batch: ConfigBatch, options: ConfigOptions) -> Found:
        assert self._layout is not None
        at, moves = 0, self._tables.moves
        while True:
            space = Space(
                self._heap,
                self._meta,
                self._lanes,
                self._index,
                np.empty(self._places, np.int64),
                np.empty(self._places, np.int64),
                np.zeros(moves.asked_columns.shape[1], np.int64),
                np.zeros(len(self._total), np.int64),
                self._total,
            )
            status, at = count_events(
                moves, self._tables.turns, self._layout, self._tests.program, batch, at, options, space
            )
            if status == DONE:
                return nothing_found()
            if status == MORE_HEAP:
                edge = NEVER if options.by_lane else int(batch.edge[at])
                self._copy(edge, np.arange(len(self._lanes)), int(self._meta[NEED]))
            elif status == MORE_CELLS:
                self._enter_all(int(self._meta[NEED_CELLS]))
            elif status == MORE_PLACES:
                self._places = 4 * int(self._lanes[:, C_ROOM].max()) + self._places
            elif status == MORE_WORDS:
                self._total = from_int(self.counted, 2 * len(self._total) + int(self._meta[WIDEST]))

    def _copy(self, edge: int, lanes: Ints, need: int = 0) -> None:
        """Copies what lives from `edge` on of these lanes to an array at most half full of it, with room for some words
        more."""
        assert self._layout is not None
        layout, old = self._tables.layout(STATE_WORDS), self._layout
        words = int(measure(self._heap, self._lanes, lanes, old, layout, edge))
        heap, meta = np.empty(2 * (words + need) + _FEWEST_WORDS, np.int64), np.zeros(M_WORDS, np.int64)
        table = np.zeros((len(lanes), _lane_words(layout)), np.int64)
        copy(self._heap, self._lanes, lanes, old, layout, edge, heap, meta, table)
        self._heap, self._meta, self._lanes, self._layout = heap, meta, table, layout
        self._enter_all(0)

    def _enter_all(self, more: int) -> None:
        """Makes the index anew, with room for so many cells more."""
        assert self._layout is not None
        live = 2 * int(self._lanes[:, C_SLOTS].sum())
        if self._layout.indexed[0] >= 0:
            live += int((self._lanes[:, C_HI] - self._lanes[:, C_LO]).sum())
        cells = _FEWEST_CELLS
        while cells < 4 * (live + more):
            cells *= 2
        self._index = np.zeros(I_WORDS * cells, np.int64)
        self._meta[CELLS] = enter_everything(self._index, self._heap, self._lanes, self._layout)

    def tidy(self, edge: int) -> None:
        """Between two batches: numbers the texts in use anew where most are not."""
        if self._layout is None or self._tests.numbered <= 2 * self._texts_in_use + _SPARE_TEXTS:
            return
        self._copy(edge, np.arange(len(self._lanes)))
        layout, columns = self._layout, self._tables.columns
        last = np.array([columns.end(number) for number in range(len(layout.size))], np.int64)
        where = self._heap, self._lanes, layout, last, S_COLUMNS, max(columns.column, 1)
        held = []
        for word in self._tests.columns_of_texts():
            values = np.zeros(len(self._heap), np.int64)
            count = stored_words(*where, word, values, False)
            held.append((word, values[:count].copy()))
        kept = np.unique(np.concatenate([np.zeros(0, np.int64), *(values for _, values in held)]))
        renumbered = self._tests.keep(kept)
        for word, values in held:
            stored_words(*where, word, renumbered[np.maximum(values, -1)], True)
        self._enter_all(0)
        self._texts_in_use = self._tests.numbered

    def collect(self, edge: int) -> None:
        """Keeps nothing but what lives from `edge` on."""
        if self._layout is not None:
            self._copy(edge, np.arange(len(self._lanes)))

    def live_rows(self, edge: int) -> Ints:
        return np.zeros(0, np.int64)

    def keep_lanes(self, lanes: Ints, edge: int) -> None:
        if self._layout is not None:
            self._copy(edge, lanes[lanes < len(self._lanes)])
        else:
            self._lanes = np.zeros((max(len(lanes), 1), self._lanes.shape[1]), np.int64)

    @property
    def memory(self) -> int:
        return int(self._meta[0]) * 8 + self._lanes.nbytes  # beyond that no page has been touched

    def save(self) -> State:
        return {
            "starts": self._heap[: int(self._meta[0])],
            "lanes": self._lanes,
            "meta": self._meta,
            "total": self._total,
            "texts": np.array([self._texts_in_use]),
        }

    def load(self, state: State) -> None:
        if "starts" not in state:
            message = "the state of this count was saved by an earlier release, which kept it otherwise"
            raise CepheidError(
                "bad-state", message, hint="count the stream anew, or load it with that release"
            )
        self._heap = np.array(state["starts"], np.int64)
        self._lanes = np.array(state["lanes"], np.int64)
        self._meta = np.array(state["meta"], np.int64)
        self._total = np.array(state["total"], np.int64)
        self._texts_in_use = int(state["texts"][0])
        laid_out = self._lanes.shape[1] > C_BLOCKS
        self._layout = self._tables.layout(STATE_WORDS) if laid_out else None
        if self._layout is not None:
            self._enter_all(0)


def _lane_words(layout: Layout) -> int:
    return int(C_BLOCKS + len(layout.size) * B_WORDS)
