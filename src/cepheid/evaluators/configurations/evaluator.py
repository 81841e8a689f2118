"""The configurations evaluator behind the common interface.

Conditions on one event give events classes, as for the compact evaluator; guards over several events read words.
Partial matches whose words no later guard can distinguish share a slot (`SlotStore`). Python runs per batch, per new
class and when memory grows.
"""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt

from cepheid.algebra.nodes import Query, WindowUnit
from cepheid.automata.automaton import Predicate
from cepheid.automata.deterministic import RegisterAutomaton
from cepheid.evaluators.compact.classes import Classes
from cepheid.evaluators.configurations.guards import CompiledTests
from cepheid.evaluators.configurations.slot_store import SlotStore
from cepheid.evaluators.configurations.tables import Columns, Tables
from cepheid.evaluators.configurations.vector_store import VectorStore
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
from cepheid.evaluators.window_prefilter import WindowPrefilter
from cepheid.kernels.loops.registers.layout import ConfigBatch, ConfigOptions
from cepheid.matches.first_matches import ranks_of
from cepheid.matches.match_arrays import Found, Ints, nothing_found
from cepheid.schema import Schema
from cepheid.state_checks import letters

_EVERY = Predicate(None, None)


class ConfigurationsEvaluator:
    """Runs a determinised register automaton for a query's window, CONSUME and partition. With `forgets`, `use_up` says
    which events no later match may contain; with a window that counts positions it has no effect."""

    def __init__(
        self,
        automaton: RegisterAutomaton,
        query: Query,
        schema: Schema,
        counting: bool = False,
        limit: int | None = None,
        forgets: bool = False,
    ) -> None:
        self._automaton = automaton
        self.labels = automaton.labels
        # Events of class 0 satisfy no predicate and are skipped; if such events can end a run, all satisfy one more.
        extra = () if automaton.is_idle_on_others else (_EVERY,)
        self._classes = Classes((*automaton.predicates, *extra), schema, self._notices)
        conditions = [test.condition for test in automaton.tests]
        self._tests = CompiledTests([condition for condition in conditions if condition is not None], schema)
        order = [
            tuple(reads.index(register) for register in registers)
            for reads, registers in zip(automaton.reads, self._tests.registers, strict=True)
        ]
        self._nested = tuple(SlidingWindow(window) for window in automaton.windows)
        by_position = [window.unit is WindowUnit.EVENTS for window in automaton.windows]
        self._nested_by_position = np.array(by_position, np.bool_)
        remembers = bool(automaton.tests or automaton.windows)
        column = self._tests.record + 1 + any(by_position) if remembers else 0
        self._window = SlidingWindow(query.window)
        self._windowed = bool(self._window) or forgets
        self._forgets = forgets and not self._window.by_position
        self._used: Ints = np.zeros(0, np.int64)
        self._tables = Tables(
            automaton,
            order,
            Columns(column, self._windowed),
            counting and self._windowed,
            self._tests.equality,
            self._read,
        )
        self._store: SlotStore | VectorStore = (
            VectorStore(self._tables, self._tests)
            if self._tables.sums
            else SlotStore(self._tables, self._tests, counting, ranks_of(automaton.labels))
        )
        self._near = WindowPrefilter(query.window)
        self.positional = self._window.by_position or any(by_position)
        self._consume = query.consume
        self._counting = counting
        self.limit = UNLIMITED if limit is None else min(limit, UNLIMITED)
        self.relevant: Ints = np.zeros(0, np.int64)

    def advance(self, events: Events) -> Found:
        kept, classes = self._classes.of(events.table)
        kept, classes = self._near.of(events, kept, classes, self._tables.roles)
        rows, partitions, positions = events.at(kept)
        if np.any(self._tables.once):
            changing = self._changing(classes, partitions)
            kept, classes, rows = kept[changing], classes[changing], rows[changing]
            partitions, positions = partitions[changing], positions[changing]
        self.relevant = rows
        if len(kept) == 0:
            return nothing_found()
        batch = ConfigBatch(
            partitions,
            rows,
            positions,
            positions if self._window.by_position else rows,
            classes,
            self._edges(rows, partitions, positions, events, kept),
            self._tests.of(events.table, kept),
            self._nested_edges(rows, positions, events, kept),
        )
        options = ConfigOptions(
            self._windowed,
            self._window.by_position or self._forgets,
            self._counting,
            self._consume,
            events.report,
            self.limit,
            spare_of(self.limit),
            guard_of(GUARD),
            self._tests.record,
            len(self._automaton.tests),
            self._nested_by_position,
        )
        self._store.fit_partitions(1 if events.keyed is None else int(partitions.max()) + 1)
        found = self._store.run(batch, options)
        if self._windowed:
            self._store.tidy(self._window.edge)
        return found

    def _changing(self, classes: Ints, partitions: Ints) -> npt.NDArray[np.bool_]:
        """Which events change the state: not those of the same class and partition as the one before, if the class is
        idempotent. The last one moves the window on in any case."""
        changing = np.ones(len(classes), np.bool_)
        again = (classes[1:-1] == classes[:-2]) & (partitions[1:-1] == partitions[:-2])
        changing[1:-1] = ~(again & self._tables.once[classes[1:-1]])
        return changing

    def use_up(self, rows: Ints) -> None:
        """By partition, the last row that no later match may contain, or -1."""
        self._used = rows

    def _edges(self, rows: Ints, partitions: Ints, positions: Ints, events: Events, kept: Ints) -> Ints:
        edges = self._window.edges(rows, positions, events.times, kept)
        if self._forgets:
            known = partitions < len(self._used)
            edges[known] = np.maximum(edges[known], self._used[partitions[known]] + 1)
        return edges

    def _notices(self) -> npt.NDArray[np.bool_]:
        """By class number, whether any state has a transition on it. Makes room for new states."""
        is_new = self._tables.fit([self._known(satisfied) for satisfied in self._classes.satisfied])
        if is_new or not self._store.is_laid_out:
            self._store.fit_states()
        return self._tables.notices.copy()

    def _read(self, test: int) -> tuple[tuple[int, ...], ...]:
        """Per register the words of a column that a test reads; a nested window reads its row or position."""
        if test < len(self._automaton.tests):
            return self._tests.reads(test)
        return ((self._tests.record + int(self._nested_by_position[test - len(self._automaton.tests)]),),)

    def _known(self, satisfied: frozenset[int]) -> frozenset[int]:
        return satisfied - {len(self._automaton.predicates)}

    def _nested_edges(self, rows: Ints, positions: Ints, events: Events, kept: Ints) -> Ints:
        edges = np.zeros((len(rows), len(self._nested)), np.int64)
        for number, window in enumerate(self._nested):
            edges[:, number] = window.edges(rows, positions, events.times, kept)
        return edges

    def pass_time(self, now: int | float) -> Found:
        return nothing_found()

    waiting_since = None

    def finish(self) -> Found:
        return nothing_found()

    @property
    def counted(self) -> int:
        return self._store.counted

    def live_rows(self) -> Ints:
        return np.zeros(0, np.int64) if self._counting else self._store.live_rows(self._window.edge)

    def keep_partitions(self, partitions: Ints) -> None:
        self._store.keep_partitions(partitions, self._window.edge)

    @property
    def memory(self) -> int:
        return self._store.memory + self._tests.memory + self._window.memory

    def save(self) -> State:
        self._store.collect(self._window.edge)
        met = {
            "states": self._automaton.save(),
            "classes": [sorted(satisfied) for satisfied in self._classes.satisfied],
        }
        state: dict[str, npt.NDArray[np.generic]] = {
            "met": np.frombuffer(json.dumps(met).encode(), np.uint8),
            **named("window:", self._window.save()),
            **named("store:", self._store.save()),
            **named("tests:", self._tests.save()),
        }
        for number, window in enumerate(self._nested):
            state |= named(f"nested{number}:", window.save())
        return state

    def load(self, state: State, bounds: Bounds) -> None:
        met = json.loads(letters(state, "met").tobytes())
        self._automaton.load(met["states"])
        self._classes.restore(met["classes"])
        self._tables.fit([self._known(satisfied) for satisfied in self._classes.satisfied])
        self._tables.require_reached()
        self._window.load(part_of(state, "window:"), bounds)
        for number, window in enumerate(self._nested):
            window.load(part_of(state, f"nested{number}:"), bounds)
        self._tests.load(part_of(state, "tests:"))
        self._store.load(part_of(state, "store:"), self._windowed, len(self.labels))
        self._near.forget()
