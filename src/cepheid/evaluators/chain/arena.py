"""The run DAG of all partitions and its index, between two batches: the state of `kernels.loops.linked.loop`.

Where the loop needs memory it grows, or copies its live vertices where many are dead, so that memory is bounded by the
window. Python here is per batch and per growth, never per event, key or match.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepheid.evaluators.chain.keys import Keys
from cepheid.evaluators.chain.layout import Layout
from cepheid.evaluators.driver import Matches, drive
from cepheid.evaluators.growth import power_of_two, with_rows, with_words
from cepheid.evaluators.interface import State
from cepheid.kernels.loops.linked.layout import (
    FIRST,
    NEVER,
    V_CODES,
    V_LATEST,
    V_PARTITION,
    V_ROW,
    ChainBatch,
    ChainOptions,
    ChainTables,
)
from cepheid.kernels.loops.linked.loop import TOP, USED, ChainSpace, chain, scratch_for
from cepheid.kernels.loops.linked.nodes_below import LIST_WORDS, VERTEX, nodes_below
from cepheid.kernels.loops.linked.rebuild import find_vertices, measure, rebuild
from cepheid.kernels.loops.linked.verify import starts_fit, vertices_fit
from cepheid.kernels.matches.nodes import BEGIN, LABEL_BITS, N_WORDS
from cepheid.kernels.matches.nodes import FIRST as FIRST_NODE
from cepheid.kernels.matches.output import ROOTS
from cepheid.kernels.memory.big_integers import to_int, wider
from cepheid.kernels.memory.status import (
    MORE_HEAP,
    MORE_NODES,
    MORE_STACK,
    MORE_TRANSITIONS,
    MORE_WORDS,
)
from cepheid.matches.match_arrays import Found, Ints
from cepheid.state_checks import require, require_total, whole_number, words

_FEWEST_WORDS = 1 << 16  # so that copying what lives is rare
_SPARE_TEXTS = 1 << 14  # texts kept beyond twice those in use


class Arena:
    """`words` are those of a number, 0 when nothing is counted; `ranks` is the order of labels."""

    def __init__(self, layout: Layout, keys: Keys, words: int, ranks: Sequence[int]) -> None:
        self._layout = layout
        self._ranks = ranks
        self._keys = keys
        self._words = words
        self._shape = layout.shape(self._memo)
        self._heap = np.empty(_FEWEST_WORDS, np.int64)
        self._slots = np.zeros(256, np.int64)
        self._meta = np.array([FIRST, 0])
        self._born = np.zeros(1, np.int64)
        self._edges = np.full(1, NEVER)
        self._stack = np.empty(256, np.int64)
        self._total = np.zeros(16, np.int64)
        self._matches = Matches()
        self._texts_in_use = 0

    @property
    def _memo(self) -> int:
        return self._words + 1 if self._words else 0

    @property
    def counted(self) -> int:
        return to_int(self._total)

    def fit_partitions(self, count: int) -> None:
        self._born, self._edges = with_rows(self._born, count), with_rows(self._edges, count, NEVER)

    def run(self, batch: ChainBatch, options: ChainOptions) -> Found:
        self._matches.begin()
        if self._layout.fit():
            self.collect(NEVER)

        def loop(begin: int, options: ChainOptions = options) -> tuple[int, int]:
            tables = ChainTables(self._layout.transitions, self._shape)
            space = ChainSpace(
                heap=self._heap,
                slots=self._slots,
                meta=self._meta,
                born=self._born,
                edges=self._edges,
                reached=self._layout.reached,
                stack=self._stack,
                total=self._total,
                scratch=scratch_for(tables),
            )
            status, at = chain(tables, batch, begin, options, space, self._matches.out)
            return status, at

        def edge(at: int) -> int:
            return NEVER if options.by_position or not options.windowed else int(batch.edge[at])

        drive(
            loop,
            {
                MORE_TRANSITIONS: lambda at: self._reach(int(batch.klass[at]), edge(at)),
                MORE_HEAP: lambda at: self._make_room(edge(at), int(batch.klass[at])),
                MORE_STACK: lambda at: self._lengthen_stack(),
                MORE_WORDS: lambda at: self._widen(edge(at)),
                **self._matches.remedies(options.guard, batch.row),
                **self._matches.limited(
                    options.limit,
                    options.guard,
                    batch.row,
                    lambda at: loop(at, options._replace(limit=ROOTS)),
                    lambda roots, at: self._nodes_of(roots, int(batch.row[at]), int(batch.edge[at]), options),
                    self._ranks,
                ),
            },
        )
        return self._matches.found()

    def _nodes_of(self, roots: Ints, row: int, edge: int, options: ChainOptions) -> tuple[Ints, int, Ints]:
        """The nodes below the transitions that accept at an event, which is staged behind the last vertex: a label, the
        newest vertex and the list for each. Gives nodes, where they begin, and their roots."""
        top = int(self._meta[TOP])
        size, status = 1 << 10, MORE_NODES
        while status == MORE_NODES:
            size *= 4
            nodes, lists = np.empty(size * N_WORDS, np.int64), np.empty((size, LIST_WORDS), np.int64)
            newest = roots[:, 1:].copy()
            status, count = nodes_below(
                self._heap,
                self._shape,
                newest,
                top,
                edge,
                options.windowed,
                np.zeros(top, np.int64),
                np.empty(64, np.int64),
                lists,
                nodes,
            )
        # Nodes are to point to older ones, as vertices do.
        order = np.concatenate(
            [np.arange(FIRST_NODE), FIRST_NODE + np.argsort(lists[FIRST_NODE:count, VERTEX])]
        )
        number = np.argsort(order)
        nodes = nodes.reshape(-1, N_WORDS)[order]
        nodes[FIRST_NODE:, 1:] = number[nodes[FIRST_NODE:, 1:]]
        endings = row << LABEL_BITS | roots[:, 0]
        backs = np.stack([np.full(len(roots), BEGIN), number[newest[:, 0]], endings], axis=1)
        return nodes.reshape(-1), 0, backs

    def _reach(self, klass: int, edge: int) -> None:
        self._layout.reach(klass)
        if self._layout.fit():
            self.collect(edge)

    def _lengthen_stack(self) -> None:
        self._stack = np.empty(4 * len(self._stack), np.int64)

    def _widen(self, edge: int) -> None:
        self._words = wider(self._words)
        self._total = with_words(self._total, self._words)
        self.collect(edge)

    def _make_room(self, edge: int, klass: int) -> None:
        """Makes room for one more event, and for as many words again as are live."""
        count = int(self._layout.transitions.how_many[klass])
        self._copy(edge, (count + 1) * int(self._shape.size.max()), count * int(self._shape.n_indices.max()))

    def collect(self, edge: int) -> None:
        """Keeps the vertices that are alive from `edge` on, with the lists of the current layout."""
        self._copy(edge, 0, 0)

    def _copy(self, edge: int, words: int, cells: int, partitions: Ints | None = None) -> None:
        """Copies the live vertices from `edge` on to arrays that they fill at most by half, with room for a few words
        and cells more."""
        if partitions is None:
            partitions = np.arange(len(self._born))
        shape = self._layout.shape(self._memo)
        top = int(self._meta[TOP])
        living = (self._born, edge, self._edges, partitions)
        n_words, n_cells = measure(self._heap, top, self._shape, *living, shape)
        if shape.size.tolist() == self._shape.size.tolist():
            n_cells = min(n_cells, int(self._meta[USED]))  # there are no more lists than had been made
        heap = np.empty(max(_FEWEST_WORDS, 2 * n_words + words), np.int64)
        slots = np.zeros(power_of_two(8 * (n_cells + cells), 256), np.int64)
        young, values = np.zeros(len(self._born), np.int64), np.empty(64, np.int64)
        self._meta[:] = rebuild(self._heap, top, self._shape, *living, shape, young, values, heap, slots)
        self._heap, self._slots, self._shape, self._born = heap, slots, shape, young

    def tidy(self, edge: int) -> None:
        """Between two batches: numbers the texts in use anew where most are not."""
        if self._keys.numbered <= 2 * self._texts_in_use + _SPARE_TEXTS:
            return
        self.collect(edge)
        vertices = self._vertices()
        self._texts_in_use = 0
        for reading, columns in self._keys.columns_of_texts().items():
            at = vertices[:, np.newaxis] + V_CODES + np.array(columns)
            codes = self._heap[at]
            kept = np.unique(codes[codes >= 0])
            self._keys.keep(reading, kept)
            self._heap[at] = np.where(codes >= 0, np.searchsorted(kept, codes), codes)
            self._texts_in_use += len(kept)
        self.collect(edge)

    def _vertices(self) -> Ints:
        top = int(self._meta[TOP])
        vertices = np.empty(top, np.int64)
        return vertices[: find_vertices(self._heap, top, self._shape, vertices)]

    def live_rows(self, edge: int) -> Ints:
        vertices = self._vertices()
        partitions, latest = self._heap[vertices + V_PARTITION], self._heap[vertices + V_LATEST]
        lives = (vertices >= self._born[partitions]) & (latest >= np.maximum(edge, self._edges[partitions]))
        return np.unique(self._heap[vertices[lives] + V_ROW])

    def keep_partitions(self, partitions: Ints, edge: int) -> None:
        numbers = np.full(len(self._born), -1)
        partitions = partitions[partitions < len(self._born)]
        numbers[partitions] = np.arange(len(partitions))
        self._copy(edge, 0, 0, numbers)
        edges = self._edges[partitions]
        self._born = np.zeros(max(len(partitions), 1), np.int64)
        self._edges = np.full(max(len(partitions), 1), NEVER)
        self._edges[: len(partitions)] = edges

    @property
    def memory(self) -> int:
        heap = self._heap[: int(self._meta[TOP])]  # of what is beyond no page has been touched
        return int(sum(array.nbytes for array in (heap, self._slots, self._born, self._edges)))

    def save(self) -> State:
        return {
            "heap": self._heap[: int(self._meta[TOP])],
            "born": self._born,
            "edges": self._edges,
            "total": self._total,
            "words": np.array([self._words]),
        }

    def load(self, state: State, edge: int, windowed: bool, by_position: bool, labels: int) -> None:
        """The index is not saved: copying makes it anew. Only live vertices are copied: an engine that is saved and
        loaded more often than its heap is full would else never drop anything."""
        self._total = words(state, "total", None)
        counting = self._words > 0
        self._words = whole_number(state, "words", int(counting), len(self._total) if counting else 0)
        require_total(self._total, self._words + 8)
        self._shape = self._layout.shape(self._memo)
        self._heap = words(state, "heap", None)
        self._meta = np.array([len(self._heap), len(self._heap)])
        self._born = words(state, "born", None)
        self._edges = words(state, "edges", len(self._born))
        require(
            by_position or bool((self._edges == NEVER).all()), "it has `edges`, and no window counts events"
        )
        require(len(self._born) > 0 and len(self._heap) >= FIRST, "it has no partitions")
        fits = vertices_fit(
            self._heap,
            self._shape,
            len(self._layout.indices),
            len(self._born),
            labels,
            self._keys.most_codes(),
            np.zeros(len(self._heap), np.int64),
        )
        require(fits, "`heap` points out of range")
        self.collect(edge)
        top, values = int(self._meta[TOP]), np.empty(64, np.int64)
        require(
            starts_fit(self._heap, top, self._shape, windowed, values),
            "the first events of matches in `heap` are wrong",
        )
