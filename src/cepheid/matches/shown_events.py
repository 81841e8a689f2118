"""Which events of some matches an output column shows: the first, the last, those bound to a variable.

In: matches, and for each of their events its place, in a table or another array. Out: such places, one or more per
match, as numbers without a sign. Where all matches have the same labels in the same order, as those of a plain sequence
do, the k-th events of all matches lie at equal distances in the flat array, and nothing is searched for. The first
events and those of the first variable are then one array, the same object, so that `Gathered` gathers a column once for
both.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cepheid.kernels.matches.rows import have_same_labels, split_rows
from cepheid.matches.event_rows import Places
from cepheid.matches.match_arrays import Found, Ints
from cepheid.streams.gather import Rows

Names = tuple[frozenset[str], ...]


class Chosen:
    """`labels` says what the numbers of labels mean, `places` where the rows of events are."""

    def __init__(self, found: Found, labels: Names, places: Places) -> None:
        self._found = found
        self._labels = labels
        self._places = places
        self.is_sequence = bool(have_same_labels(found.offsets, found.labels))
        self._index = self._split(places)
        self._events = list(self._index)
        if self.is_sequence:
            self.first, self.last = self._events[0], self._events[-1]
        else:
            (index,) = self._events
            self.first, self.last = index[found.offsets[:-1]], index[found.offsets[1:] - 1]

    @property
    def matches(self) -> int:
        return len(self._found)

    def at(self, places: Places) -> Rows:
        """The places of events: where all matches have the same labels `[k, match]`, else all in one row."""
        return self._index if places is self._places else self._split(places)

    def _split(self, places: Places) -> Rows:
        events, matches = len(places.numbers), len(self._found)
        shape = (events // matches, matches) if self.is_sequence else (1, events)
        index = np.empty(shape, np.uint32 if places.end <= 1 << 32 else np.uint64)
        split_rows(places.numbers, places.first, index)
        return index

    def one_of(self, variable: str) -> tuple[Rows, npt.NDArray[np.bool_] | None]:
        """For each match the event bound to the variable, and which matches have none, if any."""
        if self.is_sequence:
            for event, label in zip(self._events, self._found.labels, strict=False):
                if variable in self._labels[label]:
                    return event, None
        offsets, index = self.all_of(variable)
        if len(index) == len(self._found) and (np.diff(offsets) == 1).all():
            return index, None
        present = offsets[1:] > offsets[:-1]
        chosen = np.zeros(len(self._found), index.dtype)
        # The first, where a saved state has labelled several.
        chosen[present] = index[offsets[:-1][present]]
        return chosen, ~present

    def all_of(self, variable: str) -> tuple[Ints, Rows]:
        """The events bound to the variable, match by match, and where those of each match begin."""
        has = np.array([variable in label for label in self._labels], np.bool_)[self._found.labels]
        offsets = np.concatenate([[0], np.cumsum(has)])[self._found.offsets]
        return offsets, self._index.T.reshape(-1)[has]
