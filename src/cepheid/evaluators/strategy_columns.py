"""The columns that strategies inside a formula derive from the stream, for an evaluator whose automaton reads them.

In: events. Out: the same events with two more columns for each part (`automata.strategy_parts`): the letter of each
event and how the part can begin with it. They go to the evaluator behind the same interface. The state is a number per
partition and part that looks back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from cepheid.automata.strategy_parts import DEAD, StrategyPart
from cepheid.evaluators.compact.classes import Classes
from cepheid.evaluators.growth import with_rows
from cepheid.evaluators.interface import Bounds, Evaluator, Events, State, named, part_of
from cepheid.kernels.columns.states_before import states_before
from cepheid.matches.match_arrays import Found, Ints
from cepheid.schema import Schema
from cepheid.state_checks import require_indices, words

_INNER = "after:"


def with_columns(schema: Schema, parts: Sequence[StrategyPart]) -> Schema:
    """The schema of events with the columns of these parts."""
    fields = [pa.field(name, pa.int64()) for part in parts for name in (part.letter, part.beginning)]
    return replace(schema, arrow=pa.schema([*schema.arrow, *fields]))


class StrategyColumns:
    """`parts` are those whose columns `inner` reads, in an order in which each comes after those that it reads."""

    def __init__(self, inner: Evaluator, parts: Sequence[StrategyPart], schema: Schema) -> None:
        self._inner = inner
        self._parts = [_Part(part, with_columns(schema, parts[:number])) for number, part in enumerate(parts)]
        self.positional = inner.positional
        self.relevant: Ints = np.zeros(0, np.int64)

    @property
    def labels(self) -> tuple[frozenset[str], ...]:
        return self._inner.labels

    def advance(self, events: Events) -> Found:
        for part in self._parts:
            events = part.with_columns(events)
        found = self._inner.advance(events)
        self.relevant = self._inner.relevant
        return found

    def pass_time(self, now: int | float) -> Found:
        return self._inner.pass_time(now)

    @property
    def waiting_since(self) -> int | float | None:
        return self._inner.waiting_since

    def finish(self) -> Found:
        return self._inner.finish()

    @property
    def counted(self) -> int:
        return self._inner.counted

    def live_rows(self) -> Ints:
        return self._inner.live_rows()

    def keep_partitions(self, partitions: Ints) -> None:
        for part in self._parts:
            part.keep_partitions(partitions)
        self._inner.keep_partitions(partitions)

    @property
    def memory(self) -> int:
        return self._inner.memory + sum(part.states.nbytes for part in self._parts)

    def save(self) -> State:
        states = {f"part{number}": part.states for number, part in enumerate(self._parts)}
        return {**states, **named(_INNER, self._inner.save())}

    def load(self, state: State, bounds: Bounds) -> None:
        for number, part in enumerate(self._parts):
            part.load(state, f"part{number}")
        self._inner.load(part_of(state, _INNER), bounds)


class _Part:
    """`states`: by partition, the state of the part's automaton before the part begins."""

    def __init__(self, part: StrategyPart, schema: Schema) -> None:
        self._part = part
        self._classes = Classes(part.automaton.predicates, schema)
        self._skips, self._begins = np.array(part.skips, np.int64), np.array(part.begins, np.int64)
        before = (self._skips != np.arange(len(self._skips))[:, None]).any(axis=0)
        self._matters = before | (self._begins != 0).any(axis=0)
        self.states: Ints = np.zeros(0, np.int64)

    def with_columns(self, events: Events) -> Events:
        kept, classes = self._classes.of(events.table)
        letters = np.full(len(events.table), self._part.letters[frozenset()])
        letters[kept] = np.array([self._part.letters[one] for one in self._classes.satisfied], np.int64)[
            classes
        ]
        beginnings = self._beginnings(events, letters)
        table = events.table.append_column(self._part.letter, pa.array(letters))
        return replace(events, table=table.append_column(self._part.beginning, pa.array(beginnings)))

    def _beginnings(self, events: Events, letters: Ints) -> Ints:
        """How the part can begin with each event, by its number."""
        if not self._part.looks_back:
            return np.asarray(self._begins[0][letters])
        places = np.flatnonzero(self._matters[letters])
        partitions = events.at(places)[1]
        self.states = with_rows(self.states, 1 + int(partitions.max(initial=-1)))
        states = np.empty(len(places), np.int64)
        states_before(partitions, letters[places], self._skips, self.states, states)
        found = np.zeros(len(letters), np.int64)
        found[places] = np.where(states == DEAD, 0, self._begins[states, letters[places]])
        return found

    def keep_partitions(self, partitions: Ints) -> None:
        self.states = self.states[partitions[partitions < len(self.states)]]

    def load(self, state: State, name: str) -> None:
        self.states = words(state, name, None)
        require_indices(self.states, DEAD, len(self._skips), name)
