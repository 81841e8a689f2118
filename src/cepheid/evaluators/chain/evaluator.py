"""The chain evaluator behind the common interface.

Unary predicates give events classes, as for the compact evaluator; attributes of links become codes. What
waits is a run DAG (`Arena`), or only sums by key when matches are counted without a window (`Sums`); these
take 2ⁿ sums for n links that may differ, so with many links counts are kept in the run DAG too. Python is per
batch, newly met class or state, and growth.
"""

from __future__ import annotations

import numpy as np

from cepheid.algebra.nodes import Query, Strategy, WindowUnit
from cepheid.evaluators.chain.arena import Arena
from cepheid.evaluators.chain.automaton import ChainAutomaton
from cepheid.evaluators.chain.keys import Keys
from cepheid.evaluators.chain.layout import Layout
from cepheid.evaluators.chain.sums import Sums
from cepheid.evaluators.compact.classes import Classes
from cepheid.evaluators.interface import Events, State
from cepheid.kernels.chain_shape import NEVER, ChainBatch, ChainOptions
from cepheid.kernels.stream import window_edges
from cepheid.matches.found import Found, Ints, nothing_found
from cepheid.schema import Schema
from cepheid.streams.times import Times, age_limit, ties_of, unsigned

GUARD = 1 << 27  # events in the matches of one batch
_MOST_SUMMED = 6  # links of an automaton that is counted by sums
_UNLIMITED = np.iinfo(np.int64).max // 2


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
        self._window = query.window
        self._by_position = query.window is not None and query.window.unit is WindowUnit.EVENTS
        self.positional = self._by_position or self._keys.positional
        self._consume = query.consume
        self._counting = counting
        self._limit = _UNLIMITED if limit is None else min(limit, _UNLIMITED)
        summing = counting and query.window is None and len(automaton.links) <= _MOST_SUMMED
        self._sums = Sums(self._layout, self._keys) if summing else None
        self._arena = None if summing else Arena(self._layout, self._keys, 1 if counting else 0)
        self._rows = np.zeros(0, np.int64)
        self._times: Times = np.zeros(0, np.int64)
        self.relevant: Ints = np.zeros(0, np.int64)

    def advance(self, events: Events) -> Found:
        kept, classes = self._classes.of(events.table)
        rows, lanes, positions = events.at(kept)
        self.relevant = rows
        if len(kept) == 0:
            return nothing_found()
        edges = self._edges(rows, positions, events.times, kept)
        codes = self._keys.of(events.table, kept, positions)
        batch = ChainBatch(lanes, rows, positions if self._by_position else rows, classes, edges, codes)
        options = ChainOptions(
            self._window is not None,
            self._by_position,
            self._counting,
            self._consume,
            events.report,
            self._limit,
            GUARD,
        )
        n_lanes = 1 if events.keyed is None else int(lanes.max()) + 1
        if self._sums is not None:
            self._sums.fit_lanes(n_lanes)
            self._sums.run(batch, options)
            return nothing_found()
        assert self._arena is not None
        self._arena.fit_lanes(n_lanes)
        found = self._arena.run(batch, options)
        if self._window is not None:
            self._arena.tidy(self._edge)
        return found

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
        return self._arena.live_rows(self._edge)

    def keep_lanes(self, lanes: Ints) -> None:
        if self._sums is not None:
            self._sums.keep_lanes(lanes)
        elif self._arena is not None:
            self._arena.keep_lanes(lanes, self._edge)

    @property
    def memory(self) -> int:
        return self._store.memory + self._keys.memory + self._rows.nbytes + self._times.nbytes

    def _edges(self, rows: Ints, positions: Ints, all_times: Times, kept: Ints) -> Ints:
        """By kept event, the least row or position that a match ending there may start at."""
        if self._window is None:
            return np.full(len(rows), NEVER + 1)  # before every start
        if self._by_position:
            return positions - (int(self._window.amount) - 1)
        times = all_times[kept]
        all_rows = np.concatenate([self._rows, rows])
        all_times = np.concatenate([self._times.astype(times.dtype, copy=False), times])
        edges = np.empty(len(rows), np.int64)
        if times.dtype == np.float64:
            low = window_edges(all_times, all_rows, len(self._rows), float(self._window.amount), edges)
        else:
            ages = unsigned(ties_of(all_times))
            low = window_edges(ages, all_rows, len(self._rows), age_limit(self._window.amount), edges)
        self._rows, self._times = all_rows[low:].copy(), all_times[low:].copy()
        return edges

    @property
    def _edge(self) -> int:
        return int(self._rows[0]) if not self._by_position and len(self._rows) else int(NEVER)

    def save(self) -> State:
        return {
            "layout": self._layout.save(),
            "rows": self._rows,
            "times": self._times,
            **{f"store:{name}": array for name, array in self._store.save().items()},
            **{f"keys:{name}": array for name, array in self._keys.save().items()},
        }

    def load(self, state: State) -> None:
        self._layout.load(state["layout"])  # type: ignore[arg-type]
        self._rows = np.array(state["rows"], np.int64)
        self._times = np.array(state["times"])  # type: ignore[assignment]
        self._keys.load(_part(state, "keys:"))
        self._store.load(_part(state, "store:"))


def _part(state: State, prefix: str) -> State:
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}
