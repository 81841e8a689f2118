"""Leaves out events that are in no window with both a beginning and an end of a match, before anything else is
computed.

In: the relevant events of a batch, and by class the roles of its events. Out: the events that lie between an event with
which a match can begin and one with which it can end, both inside one window. An event outside of every such pair
changes no match: it can only be marked, or end a partial match, between a beginning and an end. Invariant: the matches
that end at each event are the same, so CONSUME, LIMIT and strategies see the same.

Partitions are ignored: in the whole stream a few more events are kept than in each partition by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cepheid.algebra.nodes import Window, WindowUnit
from cepheid.evaluators.interface import Events
from cepheid.kernels.columns.events import BEGINS, ENDS, keep_near
from cepheid.matches.match_arrays import Ints
from cepheid.streams.times import age_limit, ties_of, unsigned

_FEW_EVENTS = 256  # relevant ones of a batch, of which leaving out any saves no time
_MOST_NEAR = 0.75  # of a batch's relevant events, beyond which looking for others does not pay
_PASSED = 15  # batches that are not looked at then


def roles_of(
    classes: Sequence[frozenset[int]], begins: Collection[int], ends: Collection[int]
) -> npt.NDArray[np.uint8]:
    """By class, of which the predicates are given, what its events can do; `begins` are the predicates of marks with
    which a match begins, `ends` of those with which one ends."""
    roles = [
        (not satisfied.isdisjoint(begins)) * BEGINS | (not satisfied.isdisjoint(ends)) * ENDS
        for satisfied in classes
    ]
    return np.array(roles, np.uint8)


class WindowPrefilter:
    def __init__(self, window: Window | None) -> None:
        self._window = window
        self._ends: npt.NDArray[Any] = np.zeros(0, np.uint64)
        self._begun = False
        self._begin: Any = 0
        self._is_known = True
        self._batches_to_pass = 0

    def forget(self) -> None:
        """Forgets when a match could last begin: it may have been just now."""
        self._is_known = False

    def of_many(
        self, events: Events, places: Ints, classes: Ints, roles: npt.NDArray[np.uint8]
    ) -> tuple[Ints, Ints]:
        """The same in batches that are large enough for it to pay. A batch of which nearly all events are near is
        followed by some that are not looked at: where matches are everywhere, looking costs a tenth of a count."""
        if len(places) < _FEW_EVENTS or self._batches_to_pass:
            self._batches_to_pass = max(0, self._batches_to_pass - 1)
            self.forget()
            return places, classes
        near = self.of(events, places, classes, roles)
        if len(near[0]) > _MOST_NEAR * len(places):
            self._batches_to_pass = _PASSED
        return near

    def of(
        self, events: Events, places: Ints, classes: Ints, roles: npt.NDArray[np.uint8]
    ) -> tuple[Ints, Ints]:
        """The events at these places that are kept, and their classes; both arrays are written to."""
        if self._window is None or len(events.times) == 0:
            return places, classes
        clock: npt.NDArray[Any]
        first: Any
        now: Any
        amount: Any
        if self._window.unit is WindowUnit.EVENTS:
            if events.keyed is not None:
                return places, classes
            clock = unsigned(events.at(places)[0])
            amount = np.uint64(max(int(self._window.amount) - 1, 0))
            first, now = events.at(np.array([0, len(events.times) - 1]))[0]
        elif events.times.dtype == np.float64:
            clock, amount = events.times[places], np.float64(self._window.amount)
            first, now = events.times[0], events.times[-1]
        else:
            times = unsigned(ties_of(events.times))
            clock, amount = times[places], age_limit(self._window.amount)
            first, now = times[0], times[-1]
        if not self._is_known:
            self._begun, self._begin, self._is_known = True, first, True
        if len(self._ends) < len(clock) or self._ends.dtype != clock.dtype:
            self._ends = np.empty(len(clock), clock.dtype)
        now, begin = clock.dtype.type(now), clock.dtype.type(self._begin)
        count, self._begun, self._begin = keep_near(
            clock, now, roles, amount, self._begun, begin, self._ends, places, classes
        )
        return places[:count], classes[:count]
