"""Conditions checked on whole matches, over an evaluator that finds all candidates.

In: events, and conditions that registers cannot decide, such as `X.id <> z.id` for all events of a set X before z: a
run would have to store every one of them. Out: the candidates that pass. Auxiliary labels of a candidate say which of
its events a condition is about; several candidates that differ in these labels only are one match. The attributes of
all events that candidates may contain are buffered.

Every combination of events of a candidate is checked, so time grows with the candidates and their sizes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from cepheid.algebra.conditions import Attribute, attributes, with_attributes
from cepheid.automata.attach_rounds import Check
from cepheid.evaluators.columns import Columns
from cepheid.evaluators.configurations.consumption import Consumption
from cepheid.evaluators.configurations.evaluator import ConfigurationsEvaluator
from cepheid.evaluators.configurations.event_choices import Choices
from cepheid.evaluators.configurations.match_filter import LARGE, SMALL, MatchFilter
from cepheid.evaluators.configurations.projection import Projection
from cepheid.evaluators.interface import Bounds, Events, State
from cepheid.matches.match_arrays import Found, Ints, nothing_found
from cepheid.semantics.rows import rows_of
from cepheid.semantics.whole_sets import holds_of_sets
from cepheid.state_checks import (
    bytes_of,
    letters,
    require,
    require_ascending,
    require_columns,
    require_indices,
    stream_of,
    words,
)

_SPARE = 1 << 12  # events kept beyond twice those that live


class Checked(MatchFilter):
    """`shown`: the names of the output. With `consume`, matches that pass consume their events, and `inner` learns
    after each piece which; pieces are small where no window bounds matches."""

    hint = "a filter is checked on all matches of the query without it: use a shorter WITHIN, or narrower conditions"

    def __init__(
        self,
        inner: ConfigurationsEvaluator,
        checks: Sequence[Check],
        shown: Collection[str],
        schema: pa.Schema,
        consume: bool = False,
        windowed: bool = False,
        counting: bool = False,
        limit: int | None = None,
    ) -> None:
        super().__init__(inner, counting, limit, SMALL if consume and not windowed else LARGE)
        self._source = self._limited = inner
        self._checks = [
            _OfWholeSets(check, inner.labels) if check.whole else _Prepared(check, inner.labels)
            for check in checks
        ]
        names = sorted({item.name for check in checks for item in attributes(check.condition)})
        self._attributes = _Attributes(pa.schema([schema.field(name) for name in names]))
        self._projection = Projection(inner.labels, shown)
        self._consumption = Consumption() if consume else None
        self.decides_alone = not consume

    @property
    def labels(self) -> tuple[frozenset[str], ...]:
        return self._projection.labels

    def _candidates(self, piece: Events) -> Found:
        """All candidates: also those that are not reported may consume."""
        return super()._candidates(piece if self._consumption is None else replace(piece, report=True))

    def _filtered(self, candidates: Found, piece: Events) -> Found:
        relevant = self._inner.relevant
        self._attributes.add(piece, relevant)
        found = self._passing(candidates, piece, relevant) if len(candidates) else nothing_found()
        if self._attributes.is_large:
            self._attributes.only(self._inner.live_rows())
        return found if piece.report else nothing_found()

    def _passing(self, candidates: Found, piece: Events, relevant: Ints) -> Found:
        passes = np.ones(len(candidates), np.bool_)
        for check in self._checks:
            check.drop(candidates, self._attributes, passes)
        if self._consumption is not None:
            self._consumption.take(candidates, piece, relevant, passes)
            self._source.use_up(self._consumption.rows)
        return self._projection.of(candidates.take(np.flatnonzero(passes)))

    def keep_partitions(self, partitions: Ints) -> None:
        super().keep_partitions(partitions)
        if self._consumption is not None:
            self._consumption.keep_partitions(partitions)
            self._source.use_up(self._consumption.rows)

    @property
    def memory(self) -> int:
        consumed = 0 if self._consumption is None else self._consumption.memory
        return super().memory + self._attributes.memory + consumed

    def save(self) -> State:
        self._attributes.only(self._inner.live_rows())
        consumed = {} if self._consumption is None else self._consumption.save()
        return {**super().save(), **self._attributes.save(), **consumed}

    def load(self, state: State, bounds: Bounds) -> None:
        super().load(state, bounds)
        self._attributes.load(state, bounds)
        self._attributes.require(self._inner.live_rows())
        if self._consumption is not None:
            self._consumption.load(state)
            self._source.use_up(self._consumption.rows)


class _Attributes:
    """Attributes of the events that candidates may contain, by row number."""

    def __init__(self, schema: pa.Schema) -> None:
        self._rows: Ints = np.zeros(0, np.int64)
        self._table = schema.empty_table()
        self._alive = 0

    def add(self, events: Events, rows: Ints) -> None:
        new = events.table.select(self._table.column_names).take(pa.array(rows - events.first))
        self._rows = np.concatenate([self._rows, rows])
        self._table = pa.concat_tables([self._table, new])

    @property
    def is_large(self) -> bool:
        return len(self._rows) > 2 * self._alive + _SPARE

    def only(self, rows: Ints) -> None:
        """Keeps these rows; all are there."""
        places = np.searchsorted(self._rows, rows)
        self._rows, self._table = rows, self._table.take(pa.array(places)).combine_chunks()
        self._alive = len(rows)

    def column(self, name: str, rows: Ints) -> pa.ChunkedArray:
        return self._table.column(name).take(pa.array(np.searchsorted(self._rows, rows)))

    def rows(self, names: Sequence[str], rows: Ints) -> dict[int, dict[str, Any]]:
        """The attributes of these rows as the definition reads them, by row."""
        distinct = np.unique(rows)
        if not names:
            return {row: {} for row in distinct.tolist()}
        table = pa.table({name: self.column(name, distinct) for name in names})
        return dict(zip(distinct.tolist(), rows_of(table), strict=True))

    @property
    def memory(self) -> int:
        return int(self._table.nbytes) + self._rows.nbytes

    def save(self) -> dict[str, np.ndarray]:
        return {"rows": self._rows, "events": bytes_of(self._table)}

    def load(self, state: State, bounds: Bounds) -> None:
        self._rows = words(state, "rows", None)
        require_indices(self._rows, 0, bounds.rows, "rows")
        require_ascending(self._rows, "rows", strictly=True)
        schema = self._table.schema
        self._table = stream_of(letters(state, "events"), "events")
        require_columns(self._table, schema, "events")
        require(len(self._table) == len(self._rows), "`events` are not as many as `rows`")
        self._alive = len(self._rows)

    def require(self, rows: Ints) -> None:
        """All of these rows are here."""
        known = np.isin(rows, self._rows, assume_unique=True)
        require(bool(known.all()), "partial matches contain rows that it has not kept")


class _Prepared:
    """A check with its condition over columns, one for each attribute that it reads of each name."""

    def __init__(self, check: Check, labels: Sequence[frozenset[str]]) -> None:
        self._choices = Choices(check, labels)
        self._places = {name: k for k, (name, _) in enumerate(check.paths)}
        self._reads = list(dict.fromkeys((item.var, item.name) for item in attributes(check.condition)))
        self._condition = with_attributes(
            check.condition, lambda one: Attribute(None, str(self._reads.index((one.var, one.name))))
        )

    def drop(self, candidates: Found, known: _Attributes, passes: np.ndarray) -> None:
        """Sets `passes` to false for candidates with a choice of events for which the condition is not true."""
        for matches, events in self._choices.of(candidates):
            failed = ~self._holds(candidates.rows[events], known)
            passes[matches[failed]] = False

    def _holds(self, rows: Ints, known: _Attributes) -> np.ndarray:
        """For each choice, [choice, name], whether the condition is true of its events: asked once of distinct ones."""
        distinct, codes = np.unique(rows, axis=0, return_inverse=True)
        table = pa.table(
            {
                str(k): known.column(name, distinct[:, self._places[str(var)]])
                for k, (var, name) in enumerate(self._reads)
            }
        )
        holds: np.ndarray = Columns(table).holds(self._condition)
        return holds[codes.reshape(-1)]


class _OfWholeSets:
    """A check of a condition on whole sets, by the definition: once for each filter that a match has passed through,
    and for each choice of single events that it reads."""

    def __init__(self, check: Check, labels: Sequence[frozenset[str]]) -> None:
        self._choices = Choices(check, labels)
        self._has = {
            name: np.array([name in label for label in labels], np.bool_) for name in sorted(check.names)
        }
        (self._marker, _), *singles = check.paths
        self._singles = [name for name, _ in singles]
        self._whole = sorted(check.whole)
        self._condition = check.condition
        self._reads = list(dict.fromkeys(item.name for item in attributes(check.condition)))

    def drop(self, candidates: Found, known: _Attributes, passes: np.ndarray) -> None:
        """Sets `passes` to false for candidates that the condition does not hold of."""
        number: Ints = np.cumsum(self._has[self._marker][candidates.labels])
        gathered = {name: np.flatnonzero(self._has[name][candidates.labels]) for name in self._whole}
        rows = known.rows(self._reads, candidates.rows)
        for matches, events in self._choices.of(candidates):
            for match, chosen in zip(matches.tolist(), events.tolist(), strict=True):
                if passes[match]:
                    here = {
                        name: [
                            rows[int(candidates.rows[place])]
                            for place in _of_number(places, number, chosen[0])
                        ]
                        for name, places in gathered.items()
                    }
                    singles = {
                        name: rows[int(candidates.rows[place])]
                        for name, place in zip(self._singles, chosen[1:], strict=True)
                    }
                    passes[match] = holds_of_sets(self._condition, here, singles)


def _of_number(places: Ints, number: Ints, first: int) -> list[int]:
    """The places that belong to the marked event at place `first`: those with as many marked events up to them."""
    numbers = number[places]
    low, high = np.searchsorted(numbers, number[first]), np.searchsorted(numbers, number[first], side="right")
    found: list[int] = places[low:high].tolist()
    return found
