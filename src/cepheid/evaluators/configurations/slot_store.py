"""The slots, rings and nodes of all partitions between two batches: what `kernels.loops.registers.loop` works on.

It grows where the loop asks for room and copies the living part where much is dead, so that memory is bounded by what
a window holds.
"""

from __future__ import annotations

import numpy as np

from cepheid.evaluators.configurations.guards import Tests
from cepheid.evaluators.configurations.partition_store import Held
from cepheid.evaluators.configurations.tables import Tables
from cepheid.evaluators.driver import Matches, drive
from cepheid.evaluators.growth import power_of_two, with_words
from cepheid.evaluators.interface import State
from cepheid.kernels.loops.registers.collect import (
    copy,
    drop_nodes,
    measure,
    renumber_lists,
    set_stored_words,
    stored_words,
)
from cepheid.kernels.loops.registers.layout import (
    B_AT,
    B_COUNT,
    B_WORDS,
    CELLS,
    I_WORDS,
    L_BLOCKS,
    L_HI,
    L_LO,
    L_RING,
    L_RING_CAP,
    L_SLOTS,
    M_WORDS,
    NEED,
    NEED_NODES,
    NEED_SLOTS,
    NEVER,
    R_WORDS,
    S_COLUMNS,
    STAMP,
    TOP,
    ConfigBatch,
    ConfigOptions,
    Layout,
    RegisterSpace,
    RegisterTables,
    work_for,
)
from cepheid.kernels.loops.registers.loop import configurations
from cepheid.kernels.loops.registers.merge import enter_everything
from cepheid.kernels.loops.registers.verify import slots_fit
from cepheid.kernels.matches.collect import rows_of_nodes
from cepheid.kernels.matches.nodes import BEGIN, FIRST, FIRST_AT, N_BEFORE, N_OTHER, N_WORDS, NODES
from cepheid.kernels.matches.verify import nodes_fit
from cepheid.kernels.memory.big_integers import wider
from cepheid.kernels.memory.status import MORE_HEAP, MORE_NODES, MORE_STACK, MORE_WORDS
from cepheid.matches.match_arrays import Found, Ints
from cepheid.state_checks import is_count, require, require_disjoint, require_indices, require_total, words

_FEWEST_WORDS = 1 << 16  # so that copying what lives is rare
_SPARE_WORDS = 1 << 16  # beyond twice what lives, so that copying it is rare
_FEWEST_CELLS = 1 << 10


class Store(Held):
    def __init__(self, tables: Tables, tests: Tests, counting: bool) -> None:
        super().__init__(tables, tests, L_BLOCKS)
        self._counting = counting
        self._words = 1
        self._heap = np.zeros(_FEWEST_WORDS, np.int64)
        self._nodes = np.zeros(N_WORDS if counting else _FEWEST_WORDS, np.int64)
        self._meta = np.zeros(M_WORDS, np.int64)
        self._meta[NODES] = FIRST
        self._index = np.zeros(I_WORDS * _FEWEST_CELLS, np.int64)
        self._made = np.zeros(3 * 64, np.int64)
        self._stack = np.empty(1 << 10, np.int64)
        self._matches = Matches()

    def _new_layout(self) -> Layout:
        return self._tables.layout(self._words)

    def _partition_words(self, layout: Layout) -> int:
        return int(L_BLOCKS + len(layout.size) * B_WORDS)

    @property
    def _heap_words(self) -> int:
        return len(self._heap)

    def run(self, batch: ConfigBatch, options: ConfigOptions) -> Found:
        self._matches.begin()

        def loop(begin: int) -> tuple[int, int]:
            assert self._layout is not None
            transitions = self._tables.transitions
            tables = RegisterTables(transitions, self._layout, self._tests.program)
            space = RegisterSpace(
                heap=self._heap,
                meta=self._meta,
                partitions=self._partitions,
                nodes=self._nodes,
                cells=self._index,
                made=self._made,
                total=self._total,
                stack=self._stack,
                work=work_for(self._layout, transitions),
            )
            status, at = configurations(tables, batch, begin, options, space, self._matches.out)
            return status, at

        def edge(at: int) -> int:
            if options.by_partition or not options.windowed:
                return NEVER
            return int(batch.edge[min(at, len(batch.edge) - 1)])

        drive(
            loop,
            {
                MORE_HEAP: lambda at: self._make_room(edge(at)),
                MORE_NODES: lambda at: self._more_nodes(edge(at)),
                MORE_STACK: lambda at: self._lengthen_stack(),
                MORE_WORDS: lambda at: self._widen(edge(at)),
                **self._matches.remedies(options.guard, batch.row),
            },
        )
        return self._matches.found()

    def _lengthen_stack(self) -> None:
        self._stack = np.empty(2 * len(self._stack), np.int64)

    def _widen(self, edge: int) -> None:
        self._words = wider(self._words)
        self._total = with_words(self._total, self._words)
        self._copy(edge, np.arange(len(self._partitions)))

    def _make_room(self, edge: int) -> None:
        """Room for the event that asked for it, and for as much again as lives."""
        words, slots = int(self._meta[NEED]), int(self._meta[NEED_SLOTS])
        if int(self._meta[TOP]) + words > len(self._heap):
            self._copy(edge, np.arange(len(self._partitions)), 2 * words)
        if 2 * I_WORDS * (int(self._meta[CELLS]) + 2 * (slots + 1)) > len(self._index):
            self._enter_all(slots)
        cells = power_of_two(2 * (slots + 1), len(self._made) // 3)
        if 3 * cells > len(self._made):
            self._made = np.zeros(3 * cells, np.int64)

    def _more_nodes(self, edge: int) -> None:
        more = int(self._meta[NEED_NODES])
        self._copy(edge, np.arange(len(self._partitions)))
        live = int(self._meta[NODES])
        wanted = 2 * (live + more) * N_WORDS
        if wanted > len(self._nodes):
            nodes = np.zeros(max(wanted, 2 * len(self._nodes)), np.int64)
            used = (live - FIRST) * N_WORDS
            nodes[:used] = self._nodes[:used]
            self._nodes = nodes

    def _copy(self, edge: int, partitions: Ints, more: int = 0) -> None:
        assert self._layout is not None
        layout, old = self._new_layout(), self._layout
        needed = int(measure(self._heap, self._partitions, partitions, old, layout, edge))
        heap = np.zeros(2 * needed + more + _SPARE_WORDS, np.int64)
        table = np.zeros((len(partitions), self._partition_words(layout)), np.int64)
        self._meta[TOP] = copy(self._heap, self._partitions, partitions, old, layout, edge, heap, table)
        self._heap, self._partitions, self._layout = heap, table, layout
        self._enter_all(0)
        if not self._counting:
            self._collect_nodes()

    def _enter_all(self, more: int) -> None:
        assert self._layout is not None
        live = int(self._partitions[:, L_SLOTS].sum())
        cells = power_of_two(8 * (live + more + 1) + len(self._partitions), _FEWEST_CELLS)
        self._index = np.zeros(I_WORDS * cells, np.int64)
        self._meta[CELLS] = enter_everything(self._index, self._heap, self._partitions, self._layout)

    def _collect_nodes(self) -> None:
        assert self._layout is not None
        numbers = np.zeros(int(self._meta[NODES]), np.int64)
        self._meta[NODES] = drop_nodes(self._heap, self._partitions, self._layout, self._nodes, numbers)

    def _texts(self, last: Ints, step: int, word: int, values: Ints, is_put: bool) -> int:
        each = set_stored_words if is_put else stored_words
        return int(each(self._heap, self._partitions, self._layout, S_COLUMNS, last, step, word, values))

    def live_rows(self, edge: int) -> Ints:
        if self._layout is None:
            return np.zeros(0, np.int64)
        self.collect(edge)
        used = int(self._meta[NODES])
        rows = np.zeros(used, np.int64)
        return np.unique(rows[: rows_of_nodes(self._nodes, -FIRST_AT, used, rows)])

    @property
    def memory(self) -> int:
        used = int(self._meta[TOP]) + N_WORDS * int(
            self._meta[NODES]
        )  # of what is beyond no page has been touched
        return used * 8 + self._partitions.nbytes

    def save(self) -> State:
        return {
            "heap": self._heap[: int(self._meta[TOP])],
            "lanes": self._partitions,
            "graph": self._nodes[: (int(self._meta[NODES]) - FIRST) * N_WORDS],
            "meta": self._meta,
            "total": self._total,
            "words": np.array([self._words, self._texts_in_use]),
        }

    def load(self, state: State, windowed: bool, labels: int) -> None:
        """What lives is copied once more, so that nothing is taken over that slots do not lead to."""
        self._heap = words(state, "heap", None)
        self._partitions = words(state, "lanes", None, None)
        self._meta = words(state, "meta", M_WORDS)
        is_old = "graph" not in state
        self._nodes = _graph_of(words(state, "nodes", None)) if is_old else words(state, "graph", None)
        self._meta[NODES] += is_old
        self._meta[STAMP] = 0
        self._made[:] = 0
        self._total = words(state, "total", None)
        self._words, self._texts_in_use = words(state, "words", 2).tolist()
        require(1 <= self._words <= (len(self._total) if self._counting else 1), "`words` are too many")
        require(is_count(self._texts_in_use), "the number of texts in `words` is invalid")
        require_total(self._total, self._words + 8)
        nodes = int(self._meta[NODES])
        require(self._meta[TOP] == len(self._heap), "the length of `heap` is not the one it states")
        require(
            nodes >= FIRST and (nodes - FIRST) * N_WORDS == len(self._nodes),
            "the number of nodes is not the one it states",
        )
        require(len(self._partitions) > 0, "`lanes` is empty")
        self._layout = None
        if self._partitions.shape[1] == L_BLOCKS:
            require(
                not self._partitions.any() and nodes == FIRST,
                "`lanes` has no blocks, but partial matches are stored",
            )
            return
        self._layout = self._new_layout()
        require(
            self._partitions.shape[1] == self._partition_words(self._layout),
            "`lanes` do not fit the query's automaton",
        )
        fits = nodes_fit(self._nodes, -FIRST_AT, nodes, labels, np.empty(nodes, np.int64))
        require(fits, "nodes point out of range")
        self._require_blocks(self._layout)
        fits = slots_fit(
            self._heap,
            self._partitions,
            self._layout,
            self._key_ends(),
            windowed,
            self._counting,
            nodes - is_old,
        )
        require(fits, "`lanes` point out of range")
        if is_old and not self._counting:
            numbers = np.arange(nodes)
            numbers[1:] += 1
            renumber_lists(self._heap, self._partitions, self._layout, numbers)
        self._copy(NEVER, np.arange(len(self._partitions)))
        self._require_values()

    def _require_blocks(self, layout: Layout) -> None:
        """Rings and blocks lie inside the heap, each apart from the others: the check of one writes to it."""
        rings = np.where(
            self._partitions[:, L_HI] > self._partitions[:, L_LO], self._partitions[:, L_RING_CAP], 0
        )
        begins, counts, sizes = [self._partitions[:, L_RING]], [rings], [R_WORDS]
        for region, size in enumerate(layout.size.tolist()):
            block = L_BLOCKS + region * B_WORDS
            begins.append(self._partitions[:, block + B_AT])
            counts.append(self._partitions[:, block + B_COUNT])
            sizes.append(size)
        at, count = np.concatenate(begins), np.concatenate(counts)
        require_indices(count, 0, len(self._heap) + 1, "lanes")
        held = count > 0
        lengths = count * np.repeat(sizes, len(self._partitions))
        require_disjoint(at[held], lengths[held], len(self._heap), "lanes")


def _graph_of(nodes: Ints) -> Ints:
    """Nodes of releases in which the first node had number 1, and 0 as what comes before stood for the empty string."""
    graph = nodes[N_WORDS:].copy()
    other = graph[N_OTHER::N_WORDS]
    require(bool((other >= 0).all()), "`nodes` point out of range")
    graph[N_BEFORE::N_WORDS] += BEGIN
    other += other > 0
    return graph
