"""Which events of some matches an output column shows: the first, the last, those bound to a variable.

In: matches, and for each of their events the place of its row in a table. Out: such places, one or more per match.
Where all matches have the same labels in the same order, as those of a plain sequence do, the k-th events of all
matches lie at equal distances in the flat array, and nothing is searched for. The first events and those of the first
variable are then one array, the same object, so that `Gathered` gathers a column once for both.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cepheid.matches.match_arrays import Found, Ints

Names = tuple[frozenset[str], ...]


class Chosen:
    """`index[k]` is the place of event k of `found`; `labels` says what the numbers of labels mean."""

    def __init__(self, found: Found, labels: Names, index: Ints) -> None:
        self._found = found
        self._labels = labels
        self._index = index
        self._events: list[Ints] | None = None
        self.first: Ints
        self.last: Ints
        if is_uniform(found):
            length = int(found.offsets[1])
            self._events = [np.ascontiguousarray(index[k::length]) for k in range(length)]
            self.first, self.last = self._events[0], self._events[-1]
        else:
            self.first, self.last = index[found.offsets[:-1]], index[found.offsets[1:] - 1]

    def one_of(self, variable: str) -> tuple[Ints, npt.NDArray[np.bool_] | None]:
        """For each match the event bound to the variable, and which matches have none, if any."""
        if self._events is not None:
            for event, label in zip(self._events, self._found.labels, strict=False):
                if variable in self._labels[label]:
                    return event, None
        offsets, index = self.all_of(variable)
        if len(index) == len(self._found) and (np.diff(offsets) == 1).all():
            return index, None
        present = offsets[1:] > offsets[:-1]
        chosen = np.zeros(len(self._found), np.int64)
        # The first, where a saved state has labelled several.
        chosen[present] = index[offsets[:-1][present]]
        return chosen, ~present

    def all_of(self, variable: str) -> tuple[Ints, Ints]:
        """The events bound to the variable, match by match, and where those of each match begin."""
        has = np.array([variable in label for label in self._labels], np.bool_)[self._found.labels]
        offsets = np.concatenate([[0], np.cumsum(has)])[self._found.offsets]
        return offsets, self._index[has]


def is_uniform(found: Found) -> bool:
    """Whether all matches have the same labels in the same order.

    >>> is_uniform(Found(np.array([0, 2, 4]), np.array([5, 6, 5, 7]), np.array([1, 2, 1, 2], np.int16)))
    True
    """
    length = int(found.offsets[1])
    if len(found.rows) != length * len(found) or not (np.diff(found.offsets) == length).all():
        return False
    return bool((found.labels.reshape(-1, length) == found.labels[:length]).all())
