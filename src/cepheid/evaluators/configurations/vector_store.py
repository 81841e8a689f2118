"""Numbers of partial matches as vectors of starts, between two batches: the state of `kernels.loops.vectors.loop`.

Takes the place of `SlotStore` where matches are counted inside a window and no test reads how a partial match began
(`Tables.sums`). Memory is bounded by the window: when the heap is full, its live part is copied to one twice as large.
"""

from __future__ import annotations

import numpy as np

from cepheid.errors import CepheidError
from cepheid.evaluators.configurations.guards import CompiledTests
from cepheid.evaluators.configurations.partition_store import PartitionStore
from cepheid.evaluators.configurations.tables import Tables
from cepheid.evaluators.driver import drive
from cepheid.evaluators.growth import in_blocks, power_of_two, with_words
from cepheid.evaluators.interface import State
from cepheid.kernels.loops.registers.layout import (
    I_WORDS,
    NEVER,
    NOWHERE,
    S_COLUMNS,
    S_KIND,
    ConfigBatch,
    ConfigOptions,
    Layout,
)
from cepheid.kernels.loops.vectors import layout as vectors
from cepheid.kernels.loops.vectors.arithmetic import LOOSE_BITS
from cepheid.kernels.loops.vectors.collect import copy, enter_everything, measure
from cepheid.kernels.loops.vectors.layout import Space, VectorTables
from cepheid.kernels.loops.vectors.loop import count_events
from cepheid.kernels.memory.status import MORE_CELLS, MORE_HEAP, MORE_PLACES, MORE_WORDS
from cepheid.matches.match_arrays import Found, Ints, nothing_found
from cepheid.state_checks import MOST_ROWS, require, require_indices, require_total, whole_number, words

_FEWEST_WORDS = 1 << 12
_FEWEST_CELLS = 1 << 10


class VectorStore(PartitionStore):
    partition_words, block_words = vectors.C_BLOCKS, vectors.B_WORDS

    def __init__(self, tables: Tables, tests: CompiledTests) -> None:
        heap, meta = np.empty(_FEWEST_WORDS, np.int64), np.zeros(vectors.M_WORDS, np.int64)
        super().__init__(tables, tests, vectors.STATE_WORDS, heap, meta)
        self._index = np.zeros(I_WORDS * _FEWEST_CELLS, np.int64)
        self._places = 64

    def run(self, batch: ConfigBatch, options: ConfigOptions) -> Found:
        assert self._layout is not None
        transitions = self._tables.transitions
        tables = VectorTables(transitions, self._tables.turns, self._layout, self._tests.program)

        def loop(begin: int) -> tuple[int, int]:
            space = Space(
                heap=self._heap,
                meta=self._meta,
                partitions=self._partitions,
                cells=self._index,
                bits=np.empty(self._places, np.int64),
                mask=np.empty(self._places, np.int64),
                at=np.zeros(transitions.asked_columns.shape[1], np.int64),
                sums=np.zeros(len(self._total), np.int64),
                total=self._total,
            )
            status, at = count_events(tables, batch, begin, options, space)
            return status, at

        drive(
            loop,
            {
                MORE_HEAP: lambda at: self._make_room(NEVER if options.by_partition else int(batch.edge[at])),
                MORE_CELLS: lambda at: self._enter_all(int(self._meta[vectors.NEED_CELLS])),
                MORE_PLACES: lambda at: self._add_places(),
                MORE_WORDS: lambda at: self._lengthen_total(),
            },
        )
        return nothing_found()

    def _make_room(self, edge: int) -> None:
        self._copy(edge, more=int(self._meta[vectors.NEED]))

    def _add_places(self) -> None:
        self._places += 4 * int(self._partitions[:, vectors.C_ROOM].max())

    def _lengthen_total(self) -> None:
        self._total = with_words(self._total, 2 * len(self._total) + int(self._meta[vectors.WIDEST]))

    def _copy(self, edge: int, *, partitions: Ints | None = None, more: int = 0) -> None:
        assert self._layout is not None
        partitions = np.arange(len(self._partitions)) if partitions is None else partitions
        layout, old = self._new_layout(), self._layout
        words = int(measure(self._heap, self._partitions, partitions, old, layout, edge))
        heap, meta = (
            np.empty(2 * (words + more) + _FEWEST_WORDS, np.int64),
            np.zeros(vectors.M_WORDS, np.int64),
        )
        table = self._new_partitions(layout, len(partitions))
        copy(self._heap, self._partitions, partitions, old, layout, edge, heap, meta, table)
        self._heap, self._meta, self._partitions, self._layout = heap, meta, table, layout
        self._enter_all(0)

    def _enter_all(self, more: int) -> None:
        assert self._layout is not None
        live = 2 * int(self._partitions[:, vectors.C_SLOTS].sum())
        if self._layout.indexed[0] >= 0:
            live += int((self._partitions[:, vectors.C_HI] - self._partitions[:, vectors.C_LO]).sum())
        cells = power_of_two(4 * (live + more), _FEWEST_CELLS)
        self._index = np.zeros(I_WORDS * cells, np.int64)
        self._meta[vectors.CELLS] = enter_everything(self._index, self._heap, self._partitions, self._layout)

    def _records(self, region: int) -> tuple[Ints, int]:
        """Of region 0 these are the starts; other slots have no column of a start."""
        assert self._layout is not None
        partitions = self._partitions
        if region == 0:
            record, first = int(self._layout.numbers[0]), partitions[:, vectors.C_LO]
            begins = partitions[:, vectors.C_STARTS] + (first - partitions[:, vectors.C_BASE]) * record
            return in_blocks(begins, partitions[:, vectors.C_HI] - first, record), S_COLUMNS
        block = vectors.C_BLOCKS + region * vectors.B_WORDS
        at, counts = partitions[:, block + vectors.B_AT], partitions[:, block + vectors.B_COUNT]
        return in_blocks(at, counts, int(self._layout.size[region])), self._tables.columns.end(0)

    def live_rows(self, edge: int) -> Ints:
        return np.zeros(0, np.int64)

    @property
    def memory(self) -> int:
        return int(self._meta[0]) * 8 + self._partitions.nbytes  # beyond that no page has been touched

    def save(self) -> State:
        return {
            "starts": self._heap[: int(self._meta[0])],
            "lanes": self._partitions,
            "meta": self._meta,
            "total": self._total,
            "texts": np.array([self._texts_in_use]),
        }

    def _load_own(self, state: State) -> None:
        if "starts" not in state:
            message = "the state of this count was saved by an earlier release, in a format that this one cannot read"
            raise CepheidError(
                "bad-state", message, hint="count the stream anew, or load it with that release"
            )
        self._heap = words(state, "starts", None)
        self._meta = words(state, "meta", vectors.M_WORDS)
        self._total = words(state, "total", None)
        require_total(self._total, 8)
        self._texts_in_use = whole_number(state, "texts", 0, MOST_ROWS)

    def _require_fit(self, layout: Layout, state: State, windowed: bool, labels: int) -> None:
        """Every number that is used as an index is in its range, and words of a vector have no more bits than it says.
        What is counted beside them, such as the words of all blocks, `copy` works out anew."""
        fields = (vectors.C_ROOT, vectors.C_LO, vectors.C_HI)
        root, low, high = (self._partitions[:, field] for field in fields)
        require_indices(root, 0, len(layout.region), "lanes")
        require_indices(layout.region[root], NOWHERE, 0, "lanes")
        require_indices(low, 0, MOST_ROWS + 1, "lanes")
        require_indices(high, 0, MOST_ROWS + 1, "lanes")
        require((low <= high).all(), "`lanes` have a negative number of starts")
        partitions = self._partitions[low < high]  # of others nothing is read
        held = self._require_starts(partitions, int(layout.numbers[0]))
        base, low, high, room = (
            partitions[:, field] for field in (vectors.C_BASE, vectors.C_LO, vectors.C_HI, vectors.C_ROOM)
        )
        for region, size in enumerate(layout.size.tolist()):
            block = vectors.C_BLOCKS + region * vectors.B_WORDS
            at, counts = partitions[:, block + vectors.B_AT], partitions[:, block + vectors.B_COUNT]
            most = len(self._heap)
            require_indices(counts, 0, most + 1, "lanes")
            inside = (counts == 0) | ((at >= 0) & (at <= most - counts * size))
            held += int(counts.sum()) * size
            require(inside.all() and held <= most, "blocks of `lanes` point out of range")
            found, of = in_blocks(at, counts, size), np.repeat(np.arange(len(partitions)), counts)
            if region > 0:
                kinds = self._heap[found + S_KIND]
                require_indices(kinds, 0, len(layout.keys), "lanes")
                require_indices(self._key_ends()[kinds], 0, int(layout.numbers[region]) + 1, "lanes")
            states = np.full(len(found), layout.states[region])
            each = in_blocks(found + layout.numbers[region], states, vectors.STATE_WORDS)
            of = np.repeat(of, states)
            held = self._require_vectors(each, room[of], (low - base)[of], (high - low)[of], held)

    def _require_starts(self, partitions: Ints, record: int) -> int:
        """The starts of partitions lie inside the heap: the words that they hold."""
        fields = (vectors.C_BASE, vectors.C_LO, vectors.C_HI, vectors.C_ROOM, vectors.C_STARTS)
        base, low, high, room, starts = (partitions[:, field] for field in fields)
        most = len(self._heap)
        require_indices(room, 1, most + 1, "lanes")
        fits = (base >= 0) & (base <= low) & (high - base <= room)
        fits &= (starts >= 0) & (starts <= most - room * record)
        fits &= partitions[:, vectors.C_BLOCKS + vectors.B_COUNT] == 1
        require(fits.all(), "starts of `lanes` point out of range")
        return int((room * record).sum())

    def _require_vectors(self, each: Ints, room: Ints, first: Ints, count: Ints, held: int) -> int:
        """Vectors, of which places from `first` on are read, lie inside the heap: the words held, with theirs."""
        at, length, bits = (
            self._heap[each + word] for word in (vectors.V_AT, vectors.V_LENGTH, vectors.V_BITS)
        )
        there, most = at != 0, len(self._heap)
        at, length, bits, room, first, count = (
            values[there] for values in (at, length, bits, room, first, count)
        )
        require_indices(bits, 0, LOOSE_BITS + 1, "vectors")
        require(((length >= 1) & (length <= most // room)).all(), "vectors are longer than the heap")
        require(((at > 0) & (at <= most - length * room)).all(), "vectors point out of range")
        held += int((length * room).sum())
        require(held <= most, "vectors overlap")
        rows = in_blocks(at + first, length, room)
        words = self._heap[in_blocks(rows, np.repeat(count, length), 1)]
        above = words >> np.repeat(np.repeat(bits, length), np.repeat(count, length))
        require(not above.any(), "numbers of vectors have more bits than they state")
        return held
