"""Conditions that are asked of whole matches, over an evaluator that finds all candidates.

In: events, which are handed on in pieces, and conditions that no register decides, such as `X.id <> z.id` for all
events of a set X before z: a run would have to remember every one of them. Out: of the candidates those that pass. A
candidate says which of its events a condition is about by labels that the output does not show; when these are
dropped, what were several candidates may be one match. Attributes of events that candidates may contain are kept.

All choices of events of a candidate are looked at, so time grows with the candidates and their sizes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa

from cepheid.algebra.conditions import Attribute, Condition, Expression, attributes, rebuild
from cepheid.errors import CepheidError
from cepheid.evaluators.columns import Columns
from cepheid.evaluators.configurations.selection import next_size
from cepheid.evaluators.interface import Evaluator, Events, State, part_of
from cepheid.kernels.match_hashes import hash_matches
from cepheid.matches.found import LABEL, Found, Ints, Labels, joined, nothing_found
from cepheid.rewrite.attach_sets import Check

_FIRST_ROWS = 1 << 10
_MOST_CHOICES = 1 << 20  # looked at together
_SPARE = 1 << 12  # events kept beyond twice those that live
_INNER = "all:"


class Checked:
    """Takes what `inner`, made to list all candidates without limit, finds. `shown`: the names of the output."""

    def __init__(
        self,
        inner: Evaluator,
        checks: Sequence[Check],
        shown: Collection[str],
        schema: pa.Schema,
        counting: bool = False,
        limit: int | None = None,
    ) -> None:
        self._inner = inner
        self._checks = [_Prepared(check, inner.labels) for check in checks]
        names = sorted({item.name for check in checks for item in attributes(check.condition)})
        self._kept = _Kept(pa.schema([schema.field(name) for name in names]))
        plain = [frozenset(label & frozenset(shown)) for label in inner.labels]
        self.labels = tuple(dict.fromkeys([frozenset[str](), *plain]))
        self._label = np.array([self.labels.index(label) for label in plain], LABEL)
        self._counting = counting
        self._limit = None if counting else limit
        self._passed = 0
        self._size = _FIRST_ROWS
        self.positional = inner.positional
        self.relevant: Ints = np.zeros(0, np.int64)

    def advance(self, events: Events) -> Found:
        relevant, found = [], []
        at = 0
        while at < len(events.times):
            is_wanted = events.report and (self._limit is None or self._passed < self._limit)
            piece = events.part(at, at + self._size, report=is_wanted)
            try:
                candidates = self._inner.advance(piece)
            except CepheidError as error:
                raise _explained(error) from error
            at += self._size
            self._size = next_size(self._size, len(candidates.rows))
            relevant.append(self._inner.relevant)
            self._kept.add(piece, self._inner.relevant)
            found.append(self._passing(candidates))
            if self._kept.is_large:
                self._kept.only(self._inner.live_rows())
        self.relevant = np.concatenate([np.zeros(0, np.int64), *relevant])
        return joined(found)

    def _passing(self, candidates: Found) -> Found:
        if len(candidates) == 0:
            return nothing_found()
        passes = np.ones(len(candidates), np.bool_)
        for check in self._checks:
            check.drop(candidates, self._kept, passes)
        found = candidates.take(np.flatnonzero(passes))
        found = _distinct(Found(found.offsets, found.rows, self._label[found.labels]))
        self._passed += len(found)
        return nothing_found() if self._counting else found

    def finish(self) -> Found:
        return self._passing(self._inner.finish())

    @property
    def counted(self) -> int:
        return self._passed

    def live_rows(self) -> Ints:
        return self._inner.live_rows()

    def keep_lanes(self, lanes: Ints) -> None:
        self._inner.keep_lanes(lanes)

    @property
    def memory(self) -> int:
        return self._inner.memory + self._kept.memory

    def save(self) -> State:
        self._kept.only(self._inner.live_rows())
        own = {"passed": np.array([self._passed]), "size": np.array([self._size]), **self._kept.save()}
        return {**own, **{_INNER + name: array for name, array in self._inner.save().items()}}

    def load(self, state: State) -> None:
        self._passed, self._size = int(state["passed"][0]), int(state["size"][0])
        self._kept.load(state)
        self._inner.load(part_of(state, _INNER))


class _Kept:
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

    @property
    def memory(self) -> int:
        return int(self._table.nbytes) + self._rows.nbytes

    def save(self) -> dict[str, np.ndarray]:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self._table.schema) as writer:
            writer.write_table(self._table)
        return {"rows": self._rows, "events": np.frombuffer(sink.getvalue(), np.uint8)}

    def load(self, state: State) -> None:
        self._rows = np.array(state["rows"], np.int64)
        self._table = pa.ipc.open_stream(state["events"].tobytes()).read_all()
        self._alive = len(self._rows)


class _Prepared:
    """A check with, per name, the labels that have it."""

    def __init__(self, check: Check, labels: Sequence[frozenset[str]]) -> None:
        self._groups = [
            [np.array([name in label for label in labels], np.bool_) for name in group]
            for group in check.groups
        ]
        self._places = {name: k for k, name in enumerate(name for group in check.groups for name in group)}
        self._reads = list(dict.fromkeys((item.var, item.name) for item in attributes(check.condition)))
        self._condition = _over_columns(check.condition, self._reads)

    def drop(self, candidates: Found, kept: _Kept, passes: np.ndarray) -> None:
        """Sets `passes` to false for candidates with a choice of events for which the condition is not true."""
        match_of = np.repeat(np.arange(len(candidates)), np.diff(candidates.offsets))
        groups = [self._group(names, candidates.labels, match_of, len(candidates)) for names in self._groups]
        choices = np.prod([counts for _, counts, _ in groups], axis=0)
        ends = np.cumsum(choices)
        begin = 0
        while begin < len(candidates):
            done = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, done + _MOST_CHOICES, side="right")))
            matches, events = _chosen(groups, begin, end)
            if len(matches):
                failed = ~self._holds(candidates.rows[events], kept)
                passes[matches[failed]] = False
            begin = end

    @staticmethod
    def _group(
        names: Sequence[np.ndarray], labels: Labels, match_of: Ints, matches: int
    ) -> tuple[Ints, Ints, Ints]:
        """The events that go together, a row each; how many rows a match has, and where they begin."""
        events = np.stack([np.flatnonzero(has[labels]) for has in names], axis=1)
        counts = np.bincount(match_of[events[:, 0]], minlength=matches)
        return events, counts, np.cumsum(counts) - counts

    def _holds(self, rows: Ints, kept: _Kept) -> np.ndarray:
        """For each choice, [choice, name], whether the condition is true of its events: asked once of distinct ones."""
        distinct, codes = np.unique(rows, axis=0, return_inverse=True)
        table = pa.table(
            {
                str(k): kept.column(name, distinct[:, self._places[str(var)]])
                for k, (var, name) in enumerate(self._reads)
            }
        )
        holds: np.ndarray = Columns(table).holds(self._condition)
        return holds[codes.reshape(-1)]


def _chosen(groups: Sequence[tuple[Ints, Ints, Ints]], begin: int, end: int) -> tuple[Ints, Ints]:
    """All choices of one row of each group, for the matches from `begin` to before `end`: match and events."""
    matches = np.arange(begin, end)
    chosen: list[Ints] = []
    for events, counts, begins in groups:
        times = counts[matches]
        firsts = np.cumsum(times) - times
        within = np.arange(int(times.sum())) - np.repeat(firsts, times)
        chosen = [np.repeat(one, times, axis=0) for one in chosen]
        chosen.append(events[np.repeat(begins[matches], times) + within])
        matches = np.repeat(matches, times)
    return matches, np.concatenate(chosen, axis=1)


def _over_columns(expression: Expression, reads: Sequence[tuple[str | None, str]]) -> Condition:
    if isinstance(expression, Attribute):
        return Attribute(None, str(reads.index((expression.var, expression.name))))
    return rebuild(expression, lambda child: _over_columns(child, reads))


def _distinct(found: Found) -> Found:
    """Each match once, the first of those that are alike."""
    hashes = np.empty((len(found), 2), np.int64)
    hash_matches(found.offsets, found.rows, found.labels, hashes)
    _, first = np.unique(hashes, axis=0, return_index=True)
    return found if len(first) == len(found) else found.take(np.sort(first))


def _explained(error: CepheidError) -> CepheidError:
    """The same with what helps here: neither LIMIT nor `count` spares looking at all candidates."""
    if error.code != "too-many-matches":
        return error
    hint = "a filter is asked of all matches without it: use a shorter WITHIN, or narrower conditions"
    return CepheidError(error.code, error.message, span=error.span, hint=hint)
