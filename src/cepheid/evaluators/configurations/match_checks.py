"""Conditions checked on whole matches, over an evaluator that finds all candidates.

In: events, and conditions that registers cannot decide, such as `X.id <> z.id` for all events of a set X before z: a
run would have to store every one of them. Out: the candidates that pass. Auxiliary labels of a candidate say which of
its events a condition is about; several candidates that differ in these labels only are one match. The attributes of
all events that candidates may contain are buffered. A NOT that compares is a check, too: of candidates with the events
that it forbids (`rival_checks`).

Every combination of events of a candidate is checked, so time grows with the candidates and their sizes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from cepheid.algebra.conditions import Attribute, attributes, with_attributes
from cepheid.automata.attach_rounds import Check
from cepheid.automata.rivals import RivalCheck
from cepheid.evaluators.columns import Columns
from cepheid.evaluators.configurations.consumption import Consumption
from cepheid.evaluators.configurations.evaluator import ConfigurationsEvaluator
from cepheid.evaluators.configurations.event_choices import EventChoices
from cepheid.evaluators.configurations.match_filter import LARGE, SMALL, MatchFilter
from cepheid.evaluators.configurations.projection import Projection
from cepheid.evaluators.configurations.rival_checks import HIDDEN_WORDS, of_rivals
from cepheid.evaluators.configurations.rival_events import RivalEvents
from cepheid.evaluators.configurations.whole_set_checks import WholeSetCheck
from cepheid.evaluators.interface import Bounds, Events, State
from cepheid.matches.history import ROW, History, integers
from cepheid.matches.match_arrays import Found, Ints, nothing_found
from cepheid.schema import Schema
from cepheid.state_checks import (
    bytes_of,
    letters,
    require,
    stream_of,
    words,
)
from cepheid.streams.partitions import Partitions
from cepheid.streams.times import ties_of

_SPARE = 1 << 12  # events kept beyond twice those that live


class MatchChecks(MatchFilter):
    """`shown`: the names of the output. With `consume`, matches that pass consume their events, and `inner` learns
    after each piece which; pieces are small where no window bounds matches."""

    hint = "a filter is checked on all matches of the query without it: use a shorter WITHIN, or narrower conditions"

    def __init__(
        self,
        inner: ConfigurationsEvaluator,
        checks: Sequence[Check | RivalCheck],
        shown: Collection[str],
        schema: Schema,
        consume: bool = False,
        windowed: bool = False,
        counting: bool = False,
        limit: int | None = None,
        rivals: RivalEvents | None = None,
    ) -> None:
        super().__init__(inner, counting, limit, SMALL if consume and not windowed else LARGE)
        self._source = self._limited = inner
        self._checks = [
            WholeSetCheck(check, inner.labels, schema) if check.whole else _Prepared(check, inner.labels)
            for check in checks
            if isinstance(check, Check)
        ]
        self._rival_checks = [] if rivals is None else of_rivals(checks, inner.labels, rivals, schema)
        names = sorted({name for check in checks for name in check.reads})
        self._read = schema.only(names).arrow
        self._hidden = (ROW, *HIDDEN_WORDS) if self._rival_checks else (ROW,)
        self._events = History(self._read, self._hidden)
        self._alive = 0
        self._projection = Projection(inner.labels, shown)
        self._consumption = Consumption() if consume else None
        self.decides_alone = not consume

    @property
    def labels(self) -> tuple[frozenset[str], ...]:
        return self._projection.labels

    def _candidates(self, piece: Events) -> Found:
        """All candidates: also a match that is not reported consumes its events."""
        return super()._candidates(piece if self._consumption is None else replace(piece, report=True))

    def _filtered(self, candidates: Found, piece: Events) -> Found:
        relevant = self._inner.relevant
        places = piece.places_of(relevant)
        numbers = [relevant]
        if self._rival_checks:
            numbers += [piece.at(places)[2], ties_of(piece.times)[places]]
        events = piece.table.select(self._read.names).take(pa.array(places))
        self._events.add(self._numbered(events, numbers))
        found = self._passing(candidates, piece, relevant) if len(candidates) else nothing_found()
        if len(self._events) > 2 * self._alive + _SPARE:
            self._forget()
        return found if piece.report else nothing_found()

    def _passing(self, candidates: Found, piece: Events, relevant: Ints) -> Found:
        passes = np.ones(len(candidates), np.bool_)
        for check in self._checks:
            check.drop(candidates, self._events, passes)
        if self._rival_checks:
            ends = candidates.rows[candidates.offsets[1:] - 1]
            partitions = piece.at(piece.places_of(ends))[1]
            for rival_check in self._rival_checks:
                rival_check.drop(candidates, partitions, self._events, passes)
        if self._consumption is not None:
            self._consumption.take(candidates, piece, relevant, passes)
            self._source.use_up(self._consumption.rows)
        return self._projection.of(candidates.take(np.flatnonzero(passes)))

    def _numbered(self, events: pa.Table, numbers: Sequence[Ints]) -> pa.Table:
        return pa.table(
            [*events.columns, *map(pa.array, numbers)], names=[*events.column_names, *self._hidden]
        )

    def _forget(self) -> None:
        rows = self._inner.live_rows()
        self._events.keep(rows)
        self._alive = len(rows)

    def keep_partitions(self, partitions: Ints) -> None:
        super().keep_partitions(partitions)
        if self._consumption is not None:
            self._consumption.keep_partitions(partitions)
            self._source.use_up(self._consumption.rows)

    @property
    def memory(self) -> int:
        consumed = 0 if self._consumption is None else self._consumption.memory
        return super().memory + self._events.memory + consumed

    def save(self) -> State:
        self._forget()
        events = self._events.save()
        consumed = {} if self._consumption is None else self._consumption.save()
        own: State = {
            "rows": integers(events, ROW),
            "events": bytes_of(events.drop_columns(list(self._hidden))),
            **{name[1:]: integers(events, name) for name in self._hidden[1:]},
        }
        return {**super().save(), **own, **consumed}

    def load(self, state: State, bounds: Bounds) -> None:
        super().load(state, bounds)
        events, rows = stream_of(letters(state, "events"), "events"), words(state, "rows", None)
        require(len(events) == len(rows) or not self._read.names, "`events` are not as many as `rows`")
        places = [words(state, name[1:], len(rows)) for name in self._hidden[1:]]
        self._events.load(self._numbered(events, [rows, *places]), bounds.rows)
        self._events.require(self._inner.live_rows())
        self._alive = len(rows)
        if self._consumption is not None:
            self._consumption.load(state)
            self._source.use_up(self._consumption.rows)


class _Prepared:
    """A check with its condition over columns, one for each attribute that it reads of each name."""

    def __init__(self, check: Check, labels: Sequence[frozenset[str]]) -> None:
        self._choices = EventChoices(check, labels)
        self._places = {name: k for k, (name, _) in enumerate(check.paths)}
        self._reads = list(dict.fromkeys((item.var, item.name) for item in attributes(check.condition)))
        self._condition = with_attributes(
            check.condition, lambda one: Attribute(None, str(self._reads.index((one.var, one.name))))
        )

    def drop(self, candidates: Found, known: History, passes: np.ndarray) -> None:
        """Sets `passes` to false for candidates with a choice of events for which the condition is not true."""
        for matches, events in self._choices.of(candidates):
            failed = ~self._holds(candidates.rows[events], known)
            passes[matches[failed]] = False

    def _holds(self, rows: Ints, known: History) -> np.ndarray:
        """For each choice, [choice, name], whether the condition is true of its events: asked once of distinct ones."""
        names = [str(k) for k in range(rows.shape[1])]
        choices = Partitions(tuple(names), hashed=False)
        codes = choices.of(pa.table(list(rows.T), names=names))
        distinct = np.empty((choices.count, len(names)), np.int64)
        distinct[codes] = rows
        columns = {}
        for k, (var, name) in enumerate(self._reads):
            table, places = known.find(distinct[:, self._places[str(var)]])
            columns[str(k)] = table.column(name).take(pa.array(places))
        holds: np.ndarray = Columns(pa.table(columns)).holds(self._condition)
        return holds[codes]
