"""The slots, rings and nodes of all partitions between two batches: what `kernels.loops.registers.loop` works on.

It grows where the loop asks for room and copies the living part where much is dead, so that memory is bounded by what
a window holds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepheid.evaluators.configurations.guards import CompiledTests
from cepheid.evaluators.configurations.partition_store import PartitionStore
from cepheid.evaluators.configurations.tables import Tables
from cepheid.evaluators.driver import Matches, drive
from cepheid.evaluators.growth import in_blocks, power_of_two, with_words
from cepheid.evaluators.interface import State
from cepheid.kernels.loops.registers import layout as slots
from cepheid.kernels.loops.registers.collect import (
    copy,
    drop_nodes,
    measure,
    renumber_lists,
)
from cepheid.kernels.loops.registers.layout import (
    NEVER,
    NOWHERE,
    ConfigBatch,
    ConfigOptions,
    Layout,
    RegisterSpace,
    RegisterTables,
    work_for,
)
from cepheid.kernels.loops.registers.loop import configurations
from cepheid.kernels.loops.registers.merge import enter_everything
from cepheid.kernels.matches.collect import rows_of_events
from cepheid.kernels.matches.nodes import (
    BEGIN,
    FIRST,
    FIRST_AT,
    N_BEFORE,
    N_EVENT,
    N_OTHER,
    N_WORDS,
    NODES,
)
from cepheid.kernels.matches.output import ROOTS
from cepheid.kernels.matches.verify import nodes_fit
from cepheid.kernels.memory.big_integers import MASK, SAFE, wider
from cepheid.kernels.memory.status import MORE_HEAP, MORE_NODES, MORE_STACK, MORE_WORDS
from cepheid.matches.match_arrays import Found, Ints
from cepheid.state_checks import (
    MOST_ROWS,
    is_count,
    require,
    require_disjoint,
    require_indices,
    require_total,
    words,
)

_FEWEST_WORDS = 1 << 16  # so that copying what lives is rare
_SPARE_WORDS = 1 << 16  # beyond twice what lives, so that copying it is rare
_FEWEST_CELLS = 1 << 10


class SlotStore(PartitionStore):
    partition_words, block_words = slots.L_BLOCKS, slots.B_WORDS

    def __init__(self, tables: Tables, tests: CompiledTests, counting: bool, ranks: Sequence[int]) -> None:
        heap, meta = np.zeros(_FEWEST_WORDS, np.int64), np.zeros(slots.M_WORDS, np.int64)
        super().__init__(tables, tests, 1, heap, meta)
        self._counting = counting
        self._ranks = ranks
        self._nodes = np.zeros(N_WORDS if counting else _FEWEST_WORDS, np.int64)
        self._meta[NODES] = FIRST
        self._index = np.zeros(slots.I_WORDS * _FEWEST_CELLS, np.int64)
        self._made = np.zeros(3 * 64, np.int64)
        self._stack = np.empty(1 << 10, np.int64)
        self._matches = Matches()

    def run(self, batch: ConfigBatch, options: ConfigOptions) -> Found:
        self._matches.begin()

        def loop(begin: int, options: ConfigOptions = options) -> tuple[int, int]:
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
                **self._matches.limited(
                    options.limit,
                    options.guard,
                    batch.row,
                    lambda at: loop(at, options._replace(limit=ROOTS)),
                    lambda roots, at: (self._nodes, -FIRST_AT, roots),
                    self._ranks,
                ),
            },
        )
        return self._matches.found()

    def _lengthen_stack(self) -> None:
        self._stack = np.empty(2 * len(self._stack), np.int64)

    def _widen(self, edge: int) -> None:
        self._words = wider(self._words)
        self._total = with_words(self._total, self._words)
        self._copy(edge)

    def _make_room(self, edge: int) -> None:
        """Room for the event that asked for it, and for as much again as lives."""
        words, made = int(self._meta[slots.NEED]), int(self._meta[slots.NEED_SLOTS])
        if int(self._meta[slots.TOP]) + words > len(self._heap):
            self._copy(edge, more=2 * words)
        if 2 * slots.I_WORDS * (int(self._meta[slots.CELLS]) + 2 * (made + 1)) > len(self._index):
            self._enter_all(made)
        cells = power_of_two(2 * (made + 1), len(self._made) // 3)
        if 3 * cells > len(self._made):
            self._made = np.zeros(3 * cells, np.int64)

    def _more_nodes(self, edge: int) -> None:
        more = int(self._meta[slots.NEED_NODES])
        self._copy(edge)
        live = int(self._meta[NODES])
        wanted = 2 * (live + more) * N_WORDS
        if wanted > len(self._nodes):
            nodes = np.zeros(max(wanted, 2 * len(self._nodes)), np.int64)
            used = (live - FIRST) * N_WORDS
            nodes[:used] = self._nodes[:used]
            self._nodes = nodes

    def _copy(self, edge: int, *, partitions: Ints | None = None, more: int = 0) -> None:
        assert self._layout is not None
        partitions = np.arange(len(self._partitions)) if partitions is None else partitions
        layout, old = self._new_layout(), self._layout
        needed = int(measure(self._heap, self._partitions, partitions, old, layout, edge))
        heap = np.zeros(2 * needed + more + _SPARE_WORDS, np.int64)
        table = self._new_partitions(layout, len(partitions))
        self._meta[slots.TOP] = copy(self._heap, self._partitions, partitions, old, layout, edge, heap, table)
        self._heap, self._partitions, self._layout = heap, table, layout
        self._enter_all(0)
        if not self._counting:
            self._collect_nodes()

    def _enter_all(self, more: int) -> None:
        assert self._layout is not None
        live = int(self._partitions[:, slots.L_SLOTS].sum())
        cells = power_of_two(8 * (live + more + 1) + len(self._partitions), _FEWEST_CELLS)
        self._index = np.zeros(slots.I_WORDS * cells, np.int64)
        self._meta[slots.CELLS] = enter_everything(self._index, self._heap, self._partitions, self._layout)

    def _collect_nodes(self) -> None:
        assert self._layout is not None
        numbers = np.zeros(int(self._meta[NODES]), np.int64)
        self._meta[NODES] = drop_nodes(self._heap, self._partitions, self._layout, self._nodes, numbers)

    def _records(self, region: int) -> tuple[Ints, int]:
        assert self._layout is not None
        at, counts = self._block(region)
        return in_blocks(at, counts, int(self._layout.size[region])), slots.S_COLUMNS

    def _block(self, region: int) -> tuple[Ints, Ints]:
        """By partition where its slots of a region begin, and how many there are."""
        block = slots.L_BLOCKS + region * slots.B_WORDS
        return self._partitions[:, block + slots.B_AT], self._partitions[:, block + slots.B_COUNT]

    def live_rows(self, edge: int) -> Ints:
        if self._layout is None:
            return np.zeros(0, np.int64)
        self.collect(edge)
        used = (int(self._meta[NODES]) - FIRST) * N_WORDS
        rows: Ints = rows_of_events(self._nodes[N_EVENT:used:N_WORDS])
        return rows

    @property
    def memory(self) -> int:
        used = int(self._meta[slots.TOP]) + N_WORDS * int(
            self._meta[NODES]
        )  # of what is beyond no page has been touched
        return used * 8 + self._partitions.nbytes

    def save(self) -> State:
        return {
            "heap": self._heap[: int(self._meta[slots.TOP])],
            "lanes": self._partitions,
            "graph": self._nodes[: (int(self._meta[NODES]) - FIRST) * N_WORDS],
            "meta": self._meta,
            "total": self._total,
            "words": np.array([self._words, self._texts_in_use]),
        }

    def _load_own(self, state: State) -> None:
        self._heap = words(state, "heap", None)
        self._meta = words(state, "meta", slots.M_WORDS)
        is_old = "graph" not in state
        self._nodes = _graph_of(words(state, "nodes", None)) if is_old else words(state, "graph", None)
        self._meta[NODES] += is_old
        self._meta[slots.STAMP] = 0
        self._made[:] = 0
        self._total = words(state, "total", None)
        self._words, self._texts_in_use = words(state, "words", 2).tolist()
        require(1 <= self._words <= (len(self._total) if self._counting else 1), "`words` are too many")
        require(is_count(self._texts_in_use), "the number of texts in `words` is invalid")
        require_total(self._total, self._words + 8)
        nodes = int(self._meta[NODES])
        require(
            nodes >= FIRST and (nodes - FIRST) * N_WORDS == len(self._nodes),
            "the number of nodes is not the one it states",
        )
        is_laid_out = self._partitions.shape[1] > self.partition_words
        require(is_laid_out or nodes == FIRST, "nodes are stored, but no partial matches")

    def _require_fit(self, layout: Layout, state: State, windowed: bool, labels: int) -> None:
        nodes, is_old = int(self._meta[NODES]), "graph" not in state
        fits = nodes_fit(self._nodes, -FIRST_AT, nodes, labels, np.empty(nodes, np.int64))
        require(fits, "nodes point out of range")
        self._require_blocks(layout)
        self._require_slots(layout, windowed, nodes - is_old)
        if is_old and not self._counting:
            numbers = np.arange(nodes)
            numbers[1:] += 1
            renumber_lists(self._heap, self._partitions, layout, numbers)

    def _require_blocks(self, layout: Layout) -> None:
        """Rings and blocks lie inside the heap, each apart from the others: the check of one writes to it."""
        rings = np.where(
            self._partitions[:, slots.L_HI] > self._partitions[:, slots.L_LO],
            self._partitions[:, slots.L_RING_CAP],
            0,
        )
        begins, counts, sizes = [self._partitions[:, slots.L_RING]], [rings], [slots.R_WORDS]
        for region, size in enumerate(layout.size.tolist()):
            at, count = self._block(region)
            begins.append(at)
            counts.append(count)
            sizes.append(size)
        at, count = np.concatenate(begins), np.concatenate(counts)
        require_indices(count, 0, len(self._heap) + 1, "lanes")
        held = count > 0
        lengths = count * np.repeat(sizes, len(self._partitions))
        require_disjoint(at[held], lengths[held], len(self._heap), "lanes")

    def _require_slots(self, layout: Layout, windowed: bool, nodes: int) -> None:
        """Slots and rings, which lie inside the heap, lead only to each other and to so many nodes. Rings are made anew
        from the slots they lead to, and no slot has a cell of the index, which is not saved."""
        heap, partitions = self._heap, self._partitions
        fields = (slots.L_ROOT, slots.L_LO, slots.L_HI, slots.L_RING, slots.L_RING_CAP)
        root, low, high, ring, cap = (partitions[:, field] for field in fields)
        require_indices(root, 0, len(layout.region), "lanes")
        require_indices(layout.region[root], NOWHERE, 0, "lanes")
        require_indices(low, 0, MOST_ROWS + 1, "lanes")
        require_indices(high, 0, MOST_ROWS + 1 if windowed else 2, "lanes")
        fits = (low <= high) & (high - low <= cap) & (cap & (cap - 1) == 0)
        require(fits.all(), "the rings of `lanes` are of other sizes")

        def entry_of(ordinals: Ints, of: Ints) -> Ints:
            return ring[of] + (ordinals & (cap[of] - 1)) * slots.R_WORDS

        numbers = np.arange(len(partitions))
        of = np.repeat(numbers, high - low)
        entries = entry_of(in_blocks(low, high - low, 1), of)
        heap[entries + slots.R_SLOT] = NOWHERE
        began = heap[entries + slots.R_START]
        require((began[1:] >= began[:-1])[of[1:] == of[:-1]].all(), "the rings of `lanes` are out of order")
        for region, size in enumerate(layout.size.tolist()):
            at, counts = self._block(region)
            found, of = in_blocks(at, counts, size), np.repeat(numbers, counts)
            ordinals, kinds = heap[found + slots.S_ORDINAL], heap[found + slots.S_KIND]
            require_indices(kinds, 0, len(layout.keys), "lanes")
            require_indices(self._key_ends()[kinds], 0, int(layout.numbers[region]) + 1, "lanes")
            require(((low[of] <= ordinals) & (ordinals < high[of])).all(), "slots of `lanes` have no start")
            entries = entry_of(ordinals, of)
            same = heap[entries + slots.R_START] == heap[found + slots.S_START]
            require(same.all() or not windowed, "slots of `lanes` have other starts")
            if region == 0:
                require(len(np.unique(entries)) == len(entries), "slots of `lanes` share a start")
                heap[entries + slots.R_SLOT] = (found - at[of]) // size
            heap[found + slots.S_CELL] = NOWHERE
            first = found + layout.numbers[region]
            states = np.full(len(found), layout.states[region])
            self._require_numbers(in_blocks(first, states, layout.words), nodes)

    def _require_numbers(self, at: Ints, nodes: int) -> None:
        """Numbers have words as arithmetic leaves them; lists are nodes."""
        if not self._counting:
            require_indices(self._heap[at], 0, nodes, "lanes")
            return
        numbers = self._heap[at[:, np.newaxis] + np.arange(self._words)]
        require_indices(numbers[:, :-1], 0, MASK + 1, "lanes")
        require_indices(numbers[:, -1], 0, SAFE, "lanes")


def _graph_of(nodes: Ints) -> Ints:
    """Nodes of releases in which the first node had number 1, and 0 as what comes before stood for the empty string."""
    graph = nodes[N_WORDS:].copy()
    other = graph[N_OTHER::N_WORDS]
    require(bool((other >= 0).all()), "`nodes` point out of range")
    graph[N_BEFORE::N_WORDS] += BEGIN
    other += other > 0
    return graph
