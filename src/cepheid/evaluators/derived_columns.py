"""Derived columns (`automata.derived`) computed over batches, for an evaluator whose automaton reads them.

In: events. Out: the same events with more columns, to the evaluator behind the same interface. Where a column asks for
what comes after an event, events are held, in order, until no event that comes can matter to them: until the windows of
`algebra.reach.waits` are over, or the stream is. So the evaluator behind sees every event once, in order, and knows of
no delay; its strategies, counts and saved states are what they always are.

Only events that satisfy some predicate of the automaton, or of what is forbidden, are looked at one by one: the *kept*
ones. Per kept event and batch there is a constant amount of work, in kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf
from typing import assert_never

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.algebra.conditions import attributes, conjunction, conjuncts
from cepheid.algebra.expression_printing import HIDDEN
from cepheid.algebra.nodes import Atom, Query
from cepheid.algebra.reach import bound, waits
from cepheid.algebra.windows import Window
from cepheid.automata.automaton import Automaton, Predicate, Test
from cepheid.automata.derived import Derived, Edge, EdgeOfNext, Place, PlaceOfLast, counts_events
from cepheid.automata.rivals import RivalCheck
from cepheid.evaluators.compact.classes import Classes
from cepheid.evaluators.configurations.rival_checks import kinds_of_rivals
from cepheid.evaluators.configurations.rival_events import RivalEvents
from cepheid.evaluators.event_words import FIELDS, PARTITION, POSITION, ROW, are_inside, times_in
from cepheid.evaluators.held_events import HeldEvents
from cepheid.evaluators.interface import (
    GUARD,
    Bounds,
    Evaluator,
    Events,
    State,
    guard_of,
    named,
    part_of,
    too_many_matches,
)
from cepheid.evaluators.window import ALL_BEFORE, SlidingWindow
from cepheid.kernels.columns.forbidden import last_forbidden, note_next
from cepheid.matches.match_arrays import Found, Gathering, Ints
from cepheid.plan.reads import read_by_conditions
from cepheid.schema import Schema
from cepheid.state_checks import require, require_ascending, require_indices, words
from cepheid.streams.times import Time, Times, recent, ties_of

_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
SILENT, REPORTED = 1, 2
"""Of an event that the automaton looks at: whether matches that end there are reported."""

_OWN, _FURTHER = FIELDS, FIELDS + 1
"""The fields of a kept event beyond those of `event_words`: whether the automaton looks at it, its values in the
columns that are known when it comes, the edges of windows, and for each column that is not known, the event before it
that waits for the same and the next forbidden event."""


def with_derived(schema: Schema, columns: Sequence[Derived]) -> Schema:
    """The schema of events with these columns."""
    fields = [pa.field(column.name, pa.int64()) for column in columns]
    return replace(schema, arrow=pa.schema([*schema.arrow, *fields]))


class DerivedColumns:
    """`inner` runs the automaton; with `every` it looks at events that satisfy none of the predicates, too."""

    def __init__(
        self,
        inner: Evaluator,
        automaton: Automaton,
        query: Query,
        schema: Schema,
        every: bool = False,
        rivals: RivalEvents | None = None,
    ) -> None:
        self._inner = inner
        columns = automaton.derived
        self._known = [column for column in columns if not isinstance(column, EdgeOfNext)]
        self._open = [column for column in columns if isinstance(column, EdgeOfNext)]
        self._rivals = rivals
        self._waits = waits(query) if self._open or rivals is not None else ()
        self._window = query.window
        self._bound = bound(query)
        self._is_keyed = bool(query.partition_by)
        compared = [
            window for check in automaton.checks if isinstance(check, RivalCheck) for window in check.windows
        ]
        self.positional = (
            inner.positional or any(map(_reads_positions, columns)) or any(map(counts_events, compared))
        )
        self.relevant: Ints = np.zeros(0, np.int64)

        own = [Predicate(None, None)] if every else _looked_at(automaton)
        atoms = dict.fromkeys(
            atom
            for column in columns
            if isinstance(column, EdgeOfNext | PlaceOfLast)
            for atom in sorted(column.atoms, key=repr)
        )
        self._own = range(len(own))
        self._number_of = {atom: len(own) + number for number, atom in enumerate(atoms)}
        forbidden = [Predicate(atom.type, atom.condition) for atom in atoms]
        kinds = kinds_of_rivals(automaton.checks)
        self._kinds = range(len(own) + len(forbidden), len(own) + len(forbidden) + len(kinds))
        self._classes = Classes((*own, *forbidden, *kinds), schema)

        windows = [column.window for column in columns if isinstance(column, Edge | EdgeOfNext)]
        self._windows = {window: SlidingWindow(window) for window in windows if window is not None}
        self._last = {
            column: np.full((0, FIELDS), _LEAST) for column in self._known if isinstance(column, PlaceOfLast)
        }
        self._newest = {column: np.full(0, -1) for column in self._open}
        read = {schema.type, schema.time, *read_by_conditions(query)}
        names = [name for name in schema.names if name in read]
        self._is_real = pa.types.is_floating(schema.time_type)
        first_edge = _FURTHER + len(self._known)
        self._edge_field = {window: first_edge + number for number, window in enumerate(self._windows)}
        first_list = first_edge + len(self._windows)
        self._list_field = {column: first_list + 2 * number for number, column in enumerate(self._open)}
        self._events = HeldEvents(first_list + 2 * len(self._open), schema.only(names).arrow)
        self._taken = 0

    @property
    def labels(self) -> tuple[frozenset[str], ...]:
        return self._inner.labels

    def advance(self, events: Events) -> Found:
        self._take(events)
        found = self._released(self._known_until(events.times[-1]))
        if self._rivals is not None:
            self._forget_rivals(self._rivals, events.times[-1])
        return found

    def pass_time(self, now: int | float) -> Found:
        found = Gathering()
        found.add(self._released(self._known_until(_next(now, self._is_real))))
        found.add(self._inner.pass_time(now))
        return found.found

    @property
    def waiting_since(self) -> int | float | None:
        waiting = self._times[self._events.words[_OWN] == REPORTED]
        return waiting[0].item() if len(waiting) else None

    def finish(self) -> Found:
        found = Gathering()
        found.add(self._released(len(self._events)))
        found.add(self._inner.finish())
        return found.found

    @property
    def _times(self) -> Times:
        return times_in(self._events.words, self._is_real)

    # ── as events come ──────────────────────────────────────────────────────────────────────────────────────────

    def _take(self, events: Events) -> None:
        kept, classes = self._classes.of(events.table)
        rows, partitions, positions = events.at(kept)
        clock = ties_of(events.times)[kept]
        is_own = self._satisfying(self._own)[classes]
        own = np.where(is_own, REPORTED if events.report else SILENT, 0)
        self.relevant = rows[is_own]
        self._fit_partitions(1 + int(partitions.max(initial=-1)))
        edges = {
            window: sliding.edges(rows, positions, events.times, kept)
            for window, sliding in self._windows.items()
        }
        first = self._events.end
        nothing = np.full(len(rows), -1)
        values = [np.zeros(len(rows), np.int64) for _ in self._known]
        fields = [rows, partitions, positions, clock, own, *values, *edges.values()]
        table = events.table.select(self._events.names)
        table = table if len(kept) == len(table) else table.take(pa.array(kept))
        self._events.add([*fields, *([nothing] * (2 * len(self._open)))], table, events.report)
        new = self._events.words[:, len(self._events) - len(rows) :]
        for number, column in enumerate(self._known):
            new[_FURTHER + number] = self._value(column, new, classes, edges)
        for open_column, newest in self._newest.items():
            forbidden = self._forbidden(open_column.atoms)[classes]
            before, next_one = self._events.words[self._list_field[open_column] :][:2]
            note_next(partitions, forbidden, first, self._events.first, newest, before, next_one)
        if self._rivals is not None:
            self._add_rivals(self._rivals, new[:FIELDS], classes, table)
        self._taken = events.first + len(events.times)

    def _add_rivals(self, rivals: RivalEvents, events: Ints, classes: Ints, table: pa.Table) -> None:
        of_class = np.zeros(len(self._classes.satisfied), np.int64)
        for bit, predicate in enumerate(self._kinds):
            of_class |= self._satisfying([predicate]).astype(np.int64) << bit
        kinds = of_class[classes]
        are_rivals = np.flatnonzero(kinds)
        rivals.add(events[:, are_rivals], kinds[are_rivals], table.take(pa.array(are_rivals)))

    def _forget_rivals(self, rivals: RivalEvents, now: Time) -> None:
        """Rivals that are outside of the window of all matches to come."""
        if self._window is not None and not counts_events(self._window):
            now = self._times[0] if len(self._events) else now
            rivals.drop(_older(times_in(rivals.words, self._is_real), now, self._window.amount))

    def _value(self, column: Derived, events: Ints, classes: Ints, edges: dict[Window, Ints]) -> Ints:
        """The values in a column that is known when events come."""
        match column:
            case Place(by_position):
                place: Ints = events[POSITION if by_position else ROW]
                return place
            case Edge(window):
                return np.full(len(classes), ALL_BEFORE) if window is None else edges[window]
            case PlaceOfLast(atoms, within, by_position):
                last = np.empty((FIELDS, len(classes)), np.int64)
                last_forbidden(events, self._forbidden(atoms)[classes], self._last[column], last)
                is_near = (last[ROW] >= 0) & are_inside(last, events, within, self._is_real)
                return np.where(is_near, last[POSITION if by_position else ROW], _LEAST)
            case EdgeOfNext():
                raise AssertionError(column)
            case _:
                assert_never(column)

    def _forbidden(self, atoms: Iterable[Atom]) -> npt.NDArray[np.bool_]:
        return self._satisfying(self._number_of[atom] for atom in atoms)

    def _satisfying(self, predicates: Iterable[int]) -> npt.NDArray[np.bool_]:
        """By class, whether its events satisfy any of these predicates."""
        several = frozenset(predicates)
        return np.array(
            [not several.isdisjoint(satisfied) for satisfied in self._classes.satisfied], np.bool_
        )

    def _fit_partitions(self, count: int) -> None:
        self._last = {column: _longer(last, count, _LEAST) for column, last in self._last.items()}
        self._newest = {column: _longer(newest, count, -1) for column, newest in self._newest.items()}

    # ── as they are given on ────────────────────────────────────────────────────────────────────────────────────

    def _known_until(self, now: Time) -> int:
        """Of how many held events it is known what lies beyond matches that end there, where all events before the time
        `now` have come."""
        count = len(self._events)
        for window in self._waits:
            if counts_events(window):  # without partitions, positions are rows
                until = self._taken + 1 - int(window.amount)
                count = min(count, int(np.searchsorted(self._events.words[ROW], until)))
            else:
                count = min(count, _older(self._times, now, window.amount))
        return max(count, _older(self._times, now, self._bound))

    def _released(self, count: int) -> Found:
        found = Gathering()
        edges = [self._edge_of_next(column, count) for column in self._open]
        at = 0
        for (table, report), events in self._events.take(count):
            end = at + len(table)
            values = [*events[_FURTHER : _FURTHER + len(self._known)], *(edge[at:end] for edge in edges)]
            for column, its in zip([*self._known, *self._open], values, strict=True):
                table = table.append_column(column.name, pa.array(its))
            rows, times = events[ROW], times_in(events, self._is_real)
            keyed = (events[PARTITION], events[POSITION]) if self._is_keyed else None
            found.add(self._inner.advance(Events(table, int(rows[0]), times, keyed, report, rows)))
            if len(found.found.rows) > guard_of(GUARD):
                raise too_many_matches(guard_of(GUARD), int(rows[-1]))
            at = end
        return found.found

    def _edge_of_next(self, column: EdgeOfNext, count: int) -> Ints:
        """The values in the column for the first so many held events."""
        held = self._events.words
        numbers = held[self._list_field[column] + 1, :count]
        here = np.maximum(numbers - self._events.first, 0)
        following = held[:FIELDS, here]
        edges = np.full(count, ALL_BEFORE)
        if column.window is not None:
            edges = held[self._edge_field[column.window], here]
        is_near = (numbers >= 0) & are_inside(held[:, :count], following, column.within, self._is_real)
        return np.where(is_near, edges, _MOST)

    # ── between batches ─────────────────────────────────────────────────────────────────────────────────────────

    @property
    def counted(self) -> int:
        return self._inner.counted

    def live_rows(self) -> Ints:
        held = self._events.words
        return np.concatenate([self._inner.live_rows(), held[ROW, held[_OWN] != 0]])

    def keep_partitions(self, partitions: Ints) -> None:
        """Partitions of events that are held are among them: what is forgotten lies longer ago than anything waits."""
        held = self._events.words
        numbers = np.searchsorted(partitions, held[PARTITION])
        assert bool((partitions[numbers] == held[PARTITION]).all()), (
            "events of a forgotten partition are held"
        )
        held[PARTITION] = numbers
        self._fit_partitions(1 + int(partitions.max(initial=-1)))
        self._last = {column: last[partitions] for column, last in self._last.items()}
        self._newest = {column: newest[partitions] for column, newest in self._newest.items()}
        if self._rivals is not None:
            self._rivals.keep_partitions(partitions)
        self._inner.keep_partitions(partitions)

    @property
    def memory(self) -> int:
        arrays = [*self._last.values(), *self._newest.values()]
        windows = sum(window.memory for window in self._windows.values())
        windows += 0 if self._rivals is None else self._rivals.memory
        own = self._events.memory + windows + sum(array.nbytes for array in arrays)
        return own + self._inner.memory

    def save(self) -> State:
        held = dict(self._events.save())
        events = held["events"]
        state: dict[str, npt.NDArray[np.generic]] = {}
        for number, column in enumerate(self._open):
            lists = events[self._list_field[column] :][:2]
            lists[:] = np.maximum(lists - self._events.first, -1)
            state[f"newest{number}"] = np.maximum(self._newest[column] - self._events.first, -1)
        for number, last in enumerate(self._last.values()):
            state[f"last{number}"] = last
        for number, window in enumerate(self._windows.values()):
            state |= named(f"window{number}:", window.save())
        if self._rivals is not None:
            state |= named("rivals:", self._rivals.save())
        return {**state, **named("held:", held), **named("inner:", self._inner.save())}

    def load(self, state: State, bounds: Bounds) -> None:
        self._taken = bounds.rows
        self._events.load(part_of(state, "held:"))
        held = self._events.words
        require_indices(held[ROW], 0, bounds.rows, "held")
        require_ascending(held[ROW], "held", strictly=True)
        require(bool(np.isfinite(self._times).all()), "an event that is held has a time that is none")
        require_ascending(self._times, "held")
        require_indices(held[PARTITION], 0, max(1, bounds.partitions), "held")
        own = np.arange(len(self._events))
        for number, column in enumerate(self._open):
            before, next_one = held[self._list_field[column] :][:2]
            require_indices(next_one, -1, len(own), "held")
            require(
                bool(((before >= -1) & (before < own)).all()), "a list of held events goes on to later ones"
            )
            self._newest[column] = words(state, f"newest{number}", None)
            require_indices(self._newest[column], -1, len(own), "newest")
        self._last = {
            column: words(state, f"last{number}", None, FIELDS) for number, column in enumerate(self._last)
        }
        for number, window in enumerate(self._windows.values()):
            window.load(part_of(state, f"window{number}:"), bounds)
        if self._rivals is not None:
            self._rivals.load(part_of(state, "rivals:"), bounds, len(self._kinds))
        self._inner.load(part_of(state, "inner:"), bounds)


def _reads_positions(column: Derived) -> bool:
    match column:
        case Place(by_position):
            return by_position
        case Edge(window):
            return counts_events(window)
        case EdgeOfNext(_, within, window):
            return counts_events(within) or counts_events(window)
        case PlaceOfLast(_, within, by_position):
            return counts_events(within) or by_position
        case _:
            assert_never(column)


def _next(now: int | float, is_real: bool) -> Time:
    """The next time after `now` that there is."""
    if is_real:
        return float(np.nextafter(now, np.inf))
    return np.int64(min(int(now // 1) + 1, _MOST))


def _older(times: Times, now: Time, amount: int | float) -> int:
    """How many of these times, which ascend, are more than `amount` older than `now`."""
    if amount == inf:
        return 0
    low, high = 0, len(times)
    while low < high:
        middle = (low + high) // 2
        is_recent = times[middle] > now or recent(times[middle : middle + 1], now, amount)[0]
        low, high = (low, middle) if is_recent else (middle + 1, high)
    return low


def _looked_at(automaton: Automaton) -> list[Predicate]:
    """Predicates of which one is satisfied by every event that the automaton looks at, of the columns of the stream."""
    found: dict[Predicate, None] = {}
    for guard in dict.fromkeys(one.guard for one in automaton.transitions):
        for group in (guard.holds, *guard.fails):
            own = [test for test in map(_of_the_stream, sorted(group, key=repr)) if test is not None]
            if group and not own:
                return [Predicate(None, None)]
            found |= dict.fromkeys(own)
    if any(not one.guard.holds for one in automaton.marks):
        return [Predicate(None, None)]
    return list(found)


def _of_the_stream(test: Test) -> Predicate | None:
    """What a test asks of the event at hand alone, without derived columns; None where that is nothing."""
    if not isinstance(test, Predicate) or test.condition is None:
        return test if isinstance(test, Predicate) else None
    parts = [
        part
        for part in conjuncts(test.condition)
        if not any(item.name.startswith(HIDDEN) or item.var is not None for item in attributes(part))
    ]
    if not parts and test.type is None:
        return None
    return Predicate(test.type, conjunction(tuple(parts)) if parts else None)


def _longer(array: Ints, count: int, value: int) -> Ints:
    if len(array) >= count:
        return array
    longer = np.full((max(count, 2 * len(array)), *array.shape[1:]), value)
    longer[: len(array)] = array
    return longer
