"""The compact evaluator behind the common interface.

Python runs per batch and per new (state, class), never per event, key or match. The loop is
`kernels.loops.sliding.loop`; it returns where the automaton's table lacks an entry or a number outgrows its words, and
is called again from there. Counting with a small automaton runs on `kernels.loops.sliding.dense` until a number
outgrows a machine word.
"""

from __future__ import annotations

import numpy as np

from cepheid.algebra.nodes import Query, Strategy
from cepheid.automata.automaton import Automaton
from cepheid.automata.determinise import Determiniser, numbered_transitions
from cepheid.automata.deterministic import Deterministic, Transitions
from cepheid.automata.minimise import minimise
from cepheid.evaluators.compact.classes import Classes
from cepheid.evaluators.compact.programs import dense_automaton
from cepheid.evaluators.compact.transitions import TransitionTable
from cepheid.evaluators.driver import Matches, drive
from cepheid.evaluators.growth import in_blocks, with_rows, with_words
from cepheid.evaluators.interface import (
    GUARD,
    UNLIMITED,
    Bounds,
    Events,
    State,
    guard_of,
    named,
    part_of,
    spare_of,
)
from cepheid.evaluators.window import SlidingWindow
from cepheid.evaluators.window_prefilter import WindowPrefilter, roles_of
from cepheid.kernels.columns.events import group_by_partition
from cepheid.kernels.loops.sliding.change_layout import regrow_partitions, to_sparse_partitions
from cepheid.kernels.loops.sliding.dense import Dense, DenseSpace, count_dense
from cepheid.kernels.loops.sliding.loop import slide
from cepheid.kernels.loops.sliding.partition_state import (
    CLASS_BITS,
    EVENT_WORDS,
    EVENTS,
    FIELDS,
    LOW,
    N_EVENTS,
    N_NODES,
    NODES,
    ROW,
)
from cepheid.kernels.loops.sliding.retained_rows import collect_all, free_all_but
from cepheid.kernels.loops.sliding.saved_cells import cells_to_nodes
from cepheid.kernels.loops.sliding.tables import Batch, Options
from cepheid.kernels.loops.sliding.verify import BLOCKS, dense_partitions_fit, free_blocks, partitions_fit
from cepheid.kernels.loops.sliding.widen import widen_partitions
from cepheid.kernels.matches.collect import rows_of_events
from cepheid.kernels.matches.nodes import FIRST, FIRST_AT, N_EVENT, N_WORDS
from cepheid.kernels.matches.output import ROOTS
from cepheid.kernels.memory.big_integers import to_int, wider
from cepheid.kernels.memory.carry_save import BITS, LIMIT, SPARE_BITS
from cepheid.kernels.memory.heap import META, SMALLEST, with_room
from cepheid.kernels.memory.status import DONE, MORE_HEAP, MORE_TRANSITIONS, MORE_WORDS
from cepheid.matches.first_matches import ranks_of
from cepheid.matches.match_arrays import Found, Ints, nothing_found
from cepheid.schema import Schema
from cepheid.state_checks import (
    letters,
    require,
    require_disjoint,
    require_indices,
    require_total,
    whole_number,
    words,
)

_MOST_STATES = 64  # of a dense automaton: its matrix must stay in the nearest cache
_MOST_STATES_PER_PARTITION = 12  # … and be small enough to have one per key
_MOST_WORDS = 256  # of a number, beyond which `slide` is as fast


class CompactEvaluator:
    def __init__(
        self,
        automaton: Automaton,
        query: Query,
        schema: Schema,
        counting: bool = False,
        limit: int | None = None,
    ) -> None:
        self.labels = automaton.labels
        self._classes = Classes(automaton.predicates, schema)
        self._automaton: Deterministic[Transitions] = minimise(
            Determiniser(automaton, query.strategy), labelled=not counting
        ) or Determiniser(automaton, query.strategy)
        self._transitions = TransitionTable(self._automaton, self._classes)
        self._window = SlidingWindow(query.window)
        marks, skips = numbered_transitions(automaton)
        self._gaps = query.strategy is Strategy.STRICT or any(
            all(skip.required or skip.target != state for skip in skips[state])
            for state in range(len(marks))
            if marks[state]
        )
        self._begins = {predicate for predicate, _, _ in marks[0]}
        self._ends = {
            predicate for leaving in marks for predicate, _, target in leaving if target in automaton.finals
        }
        self._near = WindowPrefilter(query.window)
        self.positional = self._window.by_position or self._gaps
        self._consume = query.consume
        self._counting = counting
        self._limit = UNLIMITED if limit is None else min(limit, UNLIMITED)
        self._ranks = ranks_of(automaton.labels)
        self._most_states = _MOST_STATES_PER_PARTITION if query.partition_by else _MOST_STATES
        self._dense: Dense | None = None
        self._is_dense = counting
        self._words = 1
        self._total = np.zeros(16, np.int64)
        self._digits = np.zeros(32, np.int64)
        self._heap = np.zeros(1024, np.int64)
        self._meta = np.zeros(META, np.int64)
        self._partitions = np.zeros((1, FIELDS), np.int64)
        self._matches = Matches()
        self.relevant: Ints = np.zeros(0, np.int64)

    def advance(self, events: Events) -> Found:
        kept, classes = self._reachable(events, *self._classes.of(events.table))
        rows, partitions, positions = events.at(kept)
        self.relevant = rows
        if len(kept) == 0:
            return nothing_found()
        edges = self._window.edges(rows, positions, events.times, kept)
        if self._window.by_position:
            edges <<= CLASS_BITS  # places, in the words of `partition`
        n_partitions = 1 if events.keyed is None else int(partitions.max()) + 1
        self._partitions = with_rows(self._partitions, n_partitions)
        batch = Batch(partitions, rows, positions, classes, edges)
        if n_partitions > 1:
            order = self._grouped(partitions, n_partitions)
            batch = Batch(*(column[order] for column in batch))
        begin = self._count_dense(batch, events.report) if self._is_dense else 0
        found = self._run(batch, begin, events.report)
        return found if n_partitions == 1 else _by_end(found)

    def _reachable(self, events: Events, kept: Ints, classes: Ints) -> tuple[Ints, Ints]:
        """Without events that no match can reach, unless skipping one may end a partial match."""
        if self._gaps:
            return kept, classes
        roles = roles_of(self._classes.satisfied, self._begins, self._ends)
        return self._near.of_many(events, kept, classes, roles)

    def pass_time(self, now: int | float) -> Found:
        return nothing_found()

    waiting_since = None

    def finish(self) -> Found:
        return nothing_found()

    @property
    def counted(self) -> int:
        return to_int(self._total) + sum(int(digit) << BITS * k for k, digit in enumerate(self._digits))

    def live_rows(self) -> Ints:
        if self._counting:
            return np.zeros(0, np.int64)
        if not self._window:
            collect_all(self._heap, self._partitions)
            counts = np.maximum(self._partitions[:, N_NODES] - FIRST, 0)
            return rows_of_events(
                self._heap[in_blocks(self._partitions[:, NODES], counts, N_WORDS) + N_EVENT]
            )
        low, high = self._partitions[:, LOW], self._partitions[:, N_EVENTS]
        events = in_blocks(self._partitions[:, EVENTS] + low * EVENT_WORDS, high - low, EVENT_WORDS)
        rows: Ints = self._heap[events + ROW]
        return np.sort(rows[rows >= self._window.edge])

    def keep_partitions(self, partitions: Ints) -> None:
        free_all_but(self._heap, self._meta, self._partitions, partitions)
        self._partitions = self._partitions[partitions[partitions < len(self._partitions)]]
        if len(self._partitions) == 0:
            self._partitions = np.zeros((1, FIELDS), np.int64)

    @property
    def memory(self) -> int:
        heap = self._heap[: int(self._meta[0])]  # of what is beyond no page has been touched
        return heap.nbytes + self._partitions.nbytes + self._window.memory

    def _options(self, report: bool) -> Options:
        return Options(
            self._words,
            self._counting,
            bool(self._window),
            self._window.by_position,
            self._gaps,
            self._consume,
            report,
            self._limit,
            spare_of(self._limit),
            guard_of(GUARD),
        )

    def _count_dense(self, batch: Batch, report: bool) -> int:
        """Counts with dense matrices as long as these suffice: the event from which `slide` continues."""
        self._refit_dense()
        needed = 0

        def loop(begin: int) -> tuple[int, int]:
            nonlocal needed
            dense = self._dense
            if dense is None or begin == len(batch.partition):
                return DONE, begin
            space = DenseSpace(
                heap=self._heap,
                meta=self._meta,
                partitions=self._partitions,
                total=self._digits,
                matrix=np.empty(dense.rows * dense.words * dense.states, np.int64),
            )
            wide = None if dense.words == 1 else 1
            status, at, needed = count_dense(dense, batch, begin, self._options(report), space, wide)
            return status, at

        return drive(
            loop,
            {MORE_WORDS: lambda at: self._lengthen(), MORE_HEAP: lambda at: self._lengthen_heap(needed)},
        )

    def _lengthen_heap(self, needed: int) -> None:
        self._heap = with_room(self._heap, int(self._meta[0]), needed)

    def _lengthen(self) -> None:
        """Twice the words for every number, or `slide` where that is too many."""
        dense = self._dense
        assert dense is not None
        if dense.words >= _MOST_WORDS:
            self._to_sparse()
            return
        self._dense = dense._replace(words=2 * dense.words)
        self._regrow(dense, self._dense)
        longer = np.zeros(2 * self._dense.words + 32, np.int64)
        longer[: len(self._digits)] = self._digits
        self._digits = longer

    def _regrow(self, old: Dense, new: Dense) -> None:
        self._heap = regrow_partitions(
            self._heap, self._meta, self._partitions, old.states, old.words, new.states, new.words, new.rows
        )

    def _refit_dense(self) -> None:
        """The automaton over all classes met so far, and the partitions' matrices of its size."""
        classes = self._classes.satisfied
        known = self._dense
        if known is not None and len(known.accept_first) == len(classes) + 1:
            return
        words = known.words if known is not None else 1
        grown = dense_automaton(self._automaton, classes, self._most_states, words)
        if grown is None:
            self._to_sparse()
        elif known is not None and (grown.states, grown.rows) != (known.states, known.rows):
            self._regrow(known, grown)
        self._dense = grown

    def _to_sparse(self) -> None:
        """Changes to the sparse layout: from now on `slide` counts, with numbers of any size."""
        self._is_dense = False
        if self._dense is None:
            return
        for state in range(self._dense.states):
            for klass in range(len(self._classes.satisfied)):
                self._transitions.fill(state, klass)
        dense, self._dense = self._dense, None
        self._use_words(2 * dense.words + 1)  # of 32 bits, so that all numbers fit

        def loop(begin: int) -> tuple[int, int]:
            status, partition, self._heap = to_sparse_partitions(
                self._transitions.table,
                begin,
                self._options(True),
                self._heap,
                self._meta,
                self._partitions,
                dense.states,
                dense.words,
            )
            return status, partition

        drive(loop, {MORE_WORDS: self._widen})

    def _run(self, batch: Batch, begin: int, report: bool) -> Found:
        if begin == len(batch.partition):
            return nothing_found()
        self._matches.begin()
        missing = 0, 0

        def loop(begin: int, limit: int = self._limit) -> tuple[int, int]:
            nonlocal missing
            status, at, state, klass, self._heap = slide(
                self._transitions.table,
                batch,
                begin,
                self._options(report)._replace(limit=limit),
                self._heap,
                self._meta,
                self._partitions,
                self._total,
                self._matches.out,
            )
            missing = state, klass
            return status, at

        drive(
            loop,
            {
                MORE_TRANSITIONS: lambda at: self._transitions.fill(*missing),
                MORE_WORDS: lambda at: self._widen(len(self._partitions)),
                **self._matches.remedies(guard_of(GUARD), batch.row),
                **self._matches.limited(
                    self._limit,
                    guard_of(GUARD),
                    batch.row,
                    lambda at: loop(at, ROOTS),
                    lambda roots, at: (self._heap, self._first_node(batch, at), roots),
                    self._ranks,
                ),
            },
            begin,
        )
        return self._matches.found()

    def _first_node(self, batch: Batch, at: int) -> int:
        """Where in the heap the nodes of an event's partition begin."""
        return int(self._partitions[batch.partition[at], NODES]) - FIRST_AT

    @staticmethod
    def _grouped(partitions: Ints, n_partitions: int) -> Ints:
        if n_partitions <= 8 * len(partitions):
            order: Ints = group_by_partition(partitions, n_partitions)
            return order
        return np.argsort(partitions, kind="stable")

    def _widen(self, partitions: int) -> None:
        """Gives the numbers of the first `partitions` partitions more words, and all later numbers."""
        words = wider(self._words)
        self._heap = widen_partitions(
            self._heap, self._meta, self._partitions[:partitions], self._words, words
        )
        self._use_words(words)

    def _use_words(self, words: int) -> None:
        """From now on numbers of `slide` have so many words; their products must fit the total."""
        self._words = words
        self._total = with_words(self._total, 2 * words)

    def save(self) -> State:
        return {
            "automaton": self._transitions.save(),
            "heap": self._heap[: max(int(self._meta[0]), 1)],
            "meta": self._meta,
            "lanes": self._partitions,
            "node_words": np.array([N_WORDS]),
            **named("window:", self._window.save()),
            "total": self._total,
            "digits": self._digits,
            "words": np.array([self._words]),
            "dense": np.array([self._is_dense, *(self._dense[:3] if self._dense is not None else (0, 0, 0))]),
        }

    def load(self, state: State, bounds: Bounds) -> None:
        self._transitions.load(letters(state, "automaton"))
        self._heap = words(state, "heap", None)
        self._meta = words(state, "meta", META)
        self._partitions = words(state, "lanes", None, FIELDS)
        self._window.load(part_of(state, "window:"), bounds)
        self._total = words(state, "total", None)
        self._digits = words(state, "digits", None)
        self._words = whole_number(state, "words", 1, len(self._total))
        require_total(self._total, 2 * self._words + 8)
        require(len(self._partitions) > 0, "`lanes` is empty")
        self._load_dense(*words(state, "dense", 4).tolist())
        self._require_blocks()
        if "node_words" in state:
            whole_number(state, "node_words", N_WORDS, N_WORDS)
        elif not self._counting:
            fits = cells_to_nodes(self._heap, self._partitions, len(self._automaton))
            require(fits, "`lanes` point out of range")
        self._require_partitions()
        self._near.forget()

    def _load_dense(self, is_dense: int, states: int, rows: int, words: int) -> None:
        """Loads whether matrices are dense, and their numbers of states and words: 0 where there are none yet."""
        require(is_dense in (0, int(self._counting)), "`dense` is neither 0 nor 1")
        require(is_dense or not states, "`dense` states a size, but there are no matrices")
        self._is_dense = bool(is_dense)
        self._dense = None
        if states:
            require(0 < states <= self._most_states and 0 < words <= _MOST_WORDS, "`dense` is too large")
            self._dense = dense_automaton(self._automaton, self._classes.satisfied, states, words)
            same = self._dense is not None and self._dense[:3] == (states, rows, words)
            require(same, "`dense` does not fit the query's automaton")
        require_total(self._digits, 2 * max(words, 1) + 8, BITS)

    def _require_blocks(self) -> None:
        """The blocks of partitions and those that are free lie inside the heap, each apart from the others."""
        used = int(self._meta[0])
        require(
            used >= 0 and len(self._heap) == max(used, 1), "the length of `heap` is not the one it states"
        )
        most = len(self._heap) // (1 << SMALLEST) + 1
        begins, lengths = np.empty(most, np.int64), np.empty(most, np.int64)
        count = free_blocks(self._heap, self._meta, begins, lengths)
        require(count >= 0, "`meta` points out of the heap")
        at = [begins[:count]]
        sizes = [lengths[:count]]
        for block, size_class in BLOCKS:
            held = self._partitions[:, block] != 0
            classes = self._partitions[held, size_class]
            require_indices(classes, SMALLEST, 47, "lanes")
            at.append(self._partitions[held, block])
            sizes.append(1 << classes)
        require_disjoint(
            np.concatenate([np.zeros(1, np.int64), *at]), np.concatenate([[1], *sizes]), max(used, 1), "lanes"
        )

    def _require_partitions(self) -> None:
        classes = len(self._classes.satisfied)
        if not self._is_dense:
            fits = partitions_fit(
                self._heap,
                self._partitions,
                self._words,
                self._counting,
                bool(self._window),
                len(self._automaton),
                classes,
                len(self.labels),
                np.zeros(len(self._automaton), np.int64),
                np.empty(
                    FIRST + int(np.clip(self._partitions[:, N_NODES].max(), 0, len(self._heap))), np.int64
                ),
            )
        elif self._dense is not None:
            states, rows, words = self._dense[:3]
            most_back, most_front = (LIMIT, LIMIT) if words == 1 else (2 * LIMIT, LIMIT << SPARE_BITS)
            fits = dense_partitions_fit(
                self._heap,
                self._partitions,
                bool(self._window),
                rows,
                states,
                words,
                classes,
                most_back - 1,
                most_front - 1,
            )
        else:
            fits = not self._partitions.any()
        require(fits, "`lanes` point out of range")


def _by_end(found: Found) -> Found:
    """The same matches in the order of their last events."""
    ends = found.rows[found.offsets[1:] - 1]
    if bool(np.all(ends[1:] >= ends[:-1])):
        return found
    return found.take(np.argsort(ends, kind="stable"))
