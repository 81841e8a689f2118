"""Checks of whole matches against their rivals (`automata.rivals`): an event that fits beside a match rejects it.

In: candidates, the events that they consist of, and the rivals that have come. Out: which candidates no rival rejects.
For each candidate the rivals that may fit are a range of those in its partition, found by search; the pairs of
candidate and rival are asked over columns, in portions of bounded size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.algebra.conditions import Attribute, attributes, with_attributes
from cepheid.algebra.windows import Window
from cepheid.automata.attach_rounds import Check
from cepheid.automata.automaton import Predicate
from cepheid.automata.derived import counts_events
from cepheid.automata.rivals import Rival, RivalCheck
from cepheid.evaluators.columns import Columns
from cepheid.evaluators.configurations.rival_events import KINDS, RivalEvents
from cepheid.evaluators.event_words import CLOCK, FIELDS, POSITION, ROW, are_inside, times_in
from cepheid.matches.history import History, integers
from cepheid.matches.match_arrays import Found, Ints
from cepheid.schema import Schema
from cepheid.streams.times import Times

_MOST_PAIRS = 1 << 18
_NONE = np.iinfo(np.int64).max
Bools = npt.NDArray[np.bool_]


def of_rivals(
    checks: Sequence[Check | RivalCheck],
    labels: Sequence[frozenset[str]],
    events: RivalEvents,
    schema: Schema,
) -> list[OfRivals]:
    """The checks of rivals among these checks; kinds of rivals are numbered in their order (`kinds_of_rivals`)."""
    found: list[OfRivals] = []
    numbers = count()
    for check in checks:
        if isinstance(check, RivalCheck):
            kinds = [next(numbers) for _ in check.rivals]
            found.append(OfRivals(check, labels, kinds, events, pa.types.is_floating(schema.time_type)))
    return found


def kinds_of_rivals(checks: Sequence[Check | RivalCheck]) -> list[Predicate]:
    """What the events of each kind of rival satisfy."""
    several = (check.rivals for check in checks if isinstance(check, RivalCheck))
    return [Predicate(one.atom.type, one.atom.condition) for rivals in several for one in rivals]


class OfRivals:
    """`kinds`: the bits of its rivals among `events`."""

    def __init__(
        self,
        check: RivalCheck,
        labels: Sequence[frozenset[str]],
        kinds: Sequence[int],
        events: RivalEvents,
        is_real: bool,
    ) -> None:
        self._check, self._events, self._is_real = check, events, is_real
        self._rivals = [_Prepared(rival, kind) for rival, kind in zip(check.rivals, kinds, strict=True)]
        self._before, self._after = (_any_of(names, labels) for names in (check.before, check.after))
        self._branches = [_any_of([name], labels) for name in sorted(check.branches)]
        self._compared = {name: _any_of([name], labels) for name in sorted(check.compared)}

    def drop(self, candidates: Found, partitions: Ints, known: History, passes: Bools) -> None:
        """Sets `passes` to false for candidates that rivals reject; `partitions` are those of the candidates."""
        asked = np.flatnonzero(passes & self._is_asked(candidates))
        if not len(asked) or not self._events.words.shape[1]:
            return
        table, places = known.find(candidates.rows)
        matches = _Matches(candidates, partitions, table, places, self._before, self._after)
        compared = {name: np.flatnonzero(has[candidates.labels]) for name, has in self._compared.items()}
        counts = np.zeros(len(candidates), np.int64)
        for match, rival in self._pairs(matches, asked):
            fits = self._fits(matches, match, rival)
            match, rival = match[fits], rival[fits]
            events = {name: places[at[match]] for name, at in compared.items()}
            rejects = np.zeros(len(match), np.bool_)
            for one in self._rivals:
                rejects |= one.reject(self._events, rival, table, events)
            counts += np.bincount(match[rejects], minlength=len(counts))
        passes[counts >= self._check.least] = False

    def _is_asked(self, candidates: Found) -> Bools:
        """Whether a candidate has taken the branches that the NOT is in."""
        asked = np.ones(len(candidates), np.bool_)
        for has in self._branches:
            asked &= np.logical_or.reduceat(has[candidates.labels], candidates.offsets[:-1])
        return asked

    def _pairs(self, matches: _Matches, asked: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Candidates with each rival that may fit, in portions."""
        low, high = self._range(matches)
        order, begins, ends = self._events.between(matches.partitions[asked], low[asked], high[asked])
        lengths = np.maximum(ends - begins, 0)
        total = np.concatenate([[0], np.cumsum(lengths)])
        for first in range(0, int(total[-1]), _MOST_PAIRS):
            pairs = np.arange(first, min(first + _MOST_PAIRS, int(total[-1])))
            number = np.searchsorted(total, pairs, side="right") - 1
            yield asked[number], order[begins[number] + pairs - total[number]]

    def _range(self, matches: _Matches) -> tuple[Ints, Ints]:
        """The numbers of the rivals that may fit: between the events around the NOT, and about inside the windows."""
        rows = self._events.words[ROW]
        low = np.searchsorted(rows, matches.before[ROW], side="right")
        high = np.searchsorted(rows, np.where(matches.has_after, matches.after[ROW], _NONE))
        low[~matches.has_before] = 0
        window, within = self._check.window, self._check.within
        low = np.maximum(low, self._not_before(matches.last, window))
        high = np.minimum(high, self._not_after(matches.first, window))
        near = self._not_after(matches.before, within)
        high = np.where(matches.has_before, np.minimum(high, near), high)
        near = self._not_before(matches.after, within)
        low = np.where(matches.has_before, low, np.maximum(low, near))
        return low, high

    def _not_before(self, events: Ints, window: Window | None) -> Ints:
        """The number of the first rival that may be inside the window that ends at each event."""
        if window is None or counts_events(window):
            return np.zeros(events.shape[1], np.int64)
        return np.searchsorted(self._times, self._shifted(events, -window.amount), side="left")

    def _not_after(self, events: Ints, window: Window | None) -> Ints:
        """The number of the first rival that is after the window that begins with each event."""
        if window is None or counts_events(window):
            return np.full(events.shape[1], self._events.words.shape[1])
        return np.searchsorted(self._times, self._shifted(events, window.amount), side="right")

    @property
    def _times(self) -> Times:
        return times_in(self._events.words, self._is_real)

    def _shifted(self, events: Ints, amount: int | float) -> Times:
        """Times that much later or, where it is negative, earlier, a little more rather than less."""
        times = times_in(events, self._is_real)
        if self._is_real:
            slack = 4 * np.spacing(np.maximum(np.abs(times), abs(amount)))
            shifted: Times = times + amount + np.copysign(slack, amount)
            return shifted
        limits = np.iinfo(np.int64)
        if amount >= 0:
            step = min(int(amount), limits.max)
            return np.where(times > limits.max - step, limits.max, times + step)
        step = min(int(-amount), limits.max)
        return np.where(times < limits.min + step, limits.min, times - step)

    def _fits(self, matches: _Matches, match: Ints, rival: Ints) -> Bools:
        """Which pairs are inside the windows, and of which the rival is no event of the match where it may not be."""
        rivals, window, within = self._events.words[:, rival], self._check.window, self._check.within
        first, last = matches.first[:, match], matches.last[:, match]
        fits = (rivals[ROW] < first[ROW]) | are_inside(first, rivals, window, self._is_real)
        fits &= (rivals[ROW] > last[ROW]) | are_inside(rivals, last, window, self._is_real)
        if within is not None:
            after = are_inside(matches.before[:, match], rivals, within, self._is_real)
            before = are_inside(rivals, matches.after[:, match], within, self._is_real)
            fits &= np.where(matches.has_before[match], after, before)
        if self._check.apart:
            fits &= ~matches.have(match, rivals[ROW])
        return np.asarray(fits)


HIDDEN_WORDS = ("\0position", "\0clock")
"""The columns in which positions and times of the events of candidates are kept."""


class _Matches:
    """Of each candidate, words of its first and last event, and of the last before a NOT and the first after it, where
    there are such."""

    def __init__(
        self, candidates: Found, partitions: Ints, table: pa.Table, places: Ints, before: Bools, after: Bools
    ) -> None:
        offsets, begins = candidates.offsets, candidates.offsets[:-1]
        self._rows, self._offsets = candidates.rows, offsets
        self.partitions = partitions
        words = np.zeros((FIELDS, len(candidates.rows)), np.int64)
        words[ROW] = candidates.rows
        words[POSITION] = integers(table, HIDDEN_WORDS[0])[places]
        words[CLOCK] = integers(table, HIDDEN_WORDS[1])[places]
        number = np.arange(len(candidates.rows))
        last_before = np.maximum.reduceat(np.where(before[candidates.labels], number, -1), begins)
        first_after = np.minimum.reduceat(np.where(after[candidates.labels], number, _NONE), begins)
        self.has_before, self.has_after = last_before >= 0, first_after < _NONE
        self.first, self.last = words[:, begins], words[:, offsets[1:] - 1]
        self.before = words[:, np.maximum(last_before, 0)]
        self.after = words[:, np.where(self.has_after, first_after, 0)]

    def have(self, match: Ints, rows: Ints) -> Bools:
        """Whether these matches contain these rows."""
        known = np.unique(self._rows)
        count = len(known) + 1
        of = np.repeat(np.arange(len(self._offsets) - 1), np.diff(self._offsets))
        keys = of * count + np.searchsorted(known, self._rows)
        at = np.searchsorted(known, rows)
        is_known = known[np.minimum(at, len(known) - 1)] == rows
        asked = match * count + at
        place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        return np.asarray(is_known & (keys[place] == asked))


class _Prepared:
    """A kind of rival with its condition over columns, one for each attribute that it reads of each name."""

    def __init__(self, rival: Rival, kind: int) -> None:
        self._kind = kind
        self._condition = None
        if rival.condition is not None:
            self._reads = list(dict.fromkeys((item.var, item.name) for item in attributes(rival.condition)))
            self._condition = with_attributes(
                rival.condition, lambda one: Attribute(None, str(self._reads.index((one.var, one.name))))
            )

    def reject(self, events: RivalEvents, rival: Ints, known: pa.Table, at: dict[str, Ints]) -> Bools:
        """Pair by pair, whether the rival is of this kind and its condition holds; `at`: where in `known` the events of
        each name are."""
        rejects: Bools = (events.words[KINDS, rival] >> self._kind & 1).astype(np.bool_)
        if self._condition is None or not rejects.any():
            return rejects
        here = np.flatnonzero(rejects)
        columns = {}
        for number, (var, name) in enumerate(self._reads):
            table, places = (events.table, rival[here]) if var is None else (known, at[var][here])
            columns[str(number)] = table.column(name).take(pa.array(places))
        rejects[here] = Columns(pa.table(columns)).holds(self._condition)
        return rejects


def _any_of(names: Iterable[str], labels: Sequence[frozenset[str]]) -> Bools:
    several = frozenset(names)
    return np.array([not several.isdisjoint(label) for label in labels], np.bool_)
