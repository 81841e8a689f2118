"""The chain evaluator behind the common interface.

Unary predicates give events classes, as for the compact evaluator; attributes of links become codes. Partial matches
are a run DAG (`Arena`), or only sums by key when matches are counted without a window (`Sums`); these take 2ⁿ sums for
n links that may differ, so with many links counts are kept in the run DAG too. Python runs per batch, per new class or
state, and when memory grows.
"""

from __future__ import annotations

import numpy as np

from cepheid.algebra.nodes import Query, Strategy
from cepheid.automata.deterministic import ChainAutomaton
from cepheid.evaluators.chain.arena import Arena
from cepheid.evaluators.chain.keys import Keys
from cepheid.evaluators.chain.layout import Layout
from cepheid.evaluators.chain.sums import Sums
from cepheid.evaluators.compact.classes import Classes
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
from cepheid.kernels.loops.linked.layout import ChainBatch, ChainOptions
from cepheid.matches.first_matches import ranks_of
from cepheid.matches.match_arrays import Found, Ints, nothing_found
from cepheid.schema import Schema
from cepheid.state_checks import letters

_MOST_SUMMED = 6  # links of an automaton that is counted by sums


class ChainEvaluator:
    """Runs an automaton for a query's window, CONSUME and partition."""

    def __init__(
        self,
        automaton: ChainAutomaton,
        query: Query,
        schema: Schema,
        counting: bool = False,
        limit: int | None = None,
    ) -> None:
        assert query.strategy in (Strategy.ALL, Strategy.STRICT)  # the automaton itself is strict then
        self.labels = automaton.labels
        self._classes = Classes(automaton.predicates, schema)
        self._keys = Keys(automaton.links, schema)
        self._layout = Layout(automaton, self._classes, self._keys)
        self._window = SlidingWindow(query.window)
        self._near = WindowPrefilter(query.window)
        self._begins, self._ends = automaton.begins, automaton.ends
        self.positional = self._window.by_position or self._keys.positional
        self._consume = query.consume
        self._counting = counting
        self._limit = UNLIMITED if limit is None else min(limit, UNLIMITED)
        summing = counting and query.window is None and len(automaton.links) <= _MOST_SUMMED
        self._sums = Sums(self._layout, self._keys) if summing else None
        self._arena = (
            None
            if summing
            else Arena(self._layout, self._keys, 1 if counting else 0, ranks_of(automaton.labels))
        )
        self.relevant: Ints = np.zeros(0, np.int64)

    def advance(self, events: Events) -> Found:
        kept, classes = self._classes.of(events.table)
        roles = roles_of(self._classes.satisfied, self._begins, self._ends)
        kept, classes = self._near.of_many(events, kept, classes, roles)
        rows, partitions, positions = events.at(kept)
        self.relevant = rows
        if len(kept) == 0:
            return nothing_found()
        edges = self._window.edges(rows, positions, events.times, kept)
        codes = self._keys.of(events.table, kept, positions)
        batch = ChainBatch(
            partitions, rows, positions if self._window.by_position else rows, classes, edges, codes
        )
        options = ChainOptions(
            bool(self._window),
            self._window.by_position,
            self._counting,
            self._consume,
            events.report,
            self._limit,
            spare_of(self._limit),
            guard_of(GUARD),
        )
        n_partitions = 1 if events.keyed is None else int(partitions.max()) + 1
        if self._sums is not None:
            self._sums.fit_partitions(n_partitions)
            self._sums.run(batch, options)
            return nothing_found()
        assert self._arena is not None
        self._arena.fit_partitions(n_partitions)
        found = self._arena.run(batch, options)
        if self._window:
            self._arena.tidy(self._window.edge)
        return found

    def pass_time(self, now: int | float) -> Found:
        return nothing_found()

    waiting_since = None

    def finish(self) -> Found:
        return nothing_found()

    @property
    def counted(self) -> int:
        return self._store.counted

    @property
    def _store(self) -> Arena | Sums:
        store = self._sums if self._sums is not None else self._arena
        assert store is not None
        return store

    def live_rows(self) -> Ints:
        if self._counting or self._arena is None:
            return np.zeros(0, np.int64)
        return self._arena.live_rows(self._window.edge)

    def keep_partitions(self, partitions: Ints) -> None:
        if self._sums is not None:
            self._sums.keep_partitions(partitions)
        elif self._arena is not None:
            self._arena.keep_partitions(partitions, self._window.edge)

    @property
    def memory(self) -> int:
        return self._store.memory + self._keys.memory + self._window.memory

    def save(self) -> State:
        if self._arena is not None:
            self._arena.collect(self._window.edge)
        return {
            "layout": self._layout.save(),
            **named("window:", self._window.save()),
            **named("store:", self._store.save()),
            **named("keys:", self._keys.save()),
        }

    def load(self, state: State, bounds: Bounds) -> None:
        self._layout.load(letters(state, "layout"))
        self._window.load(part_of(state, "window:"), bounds)
        self._near.forget()
        self._keys.load(part_of(state, "keys:"))
        store = part_of(state, "store:")
        if self._sums is not None:
            self._sums.load(store)
        elif self._arena is not None:
            window = self._window
            self._arena.load(store, window.edge, bool(window), window.by_position, len(self.labels))
