"""What an evaluator found: matches as flat arrays, not yet rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.kernels.columns.events import take_lists

Ints = npt.NDArray[np.int64]
Number = TypeVar("Number", bound=np.generic)
LABEL = np.int16
_IN_POOL = 1 << 18  # numbers at least, so that arrays seldom grow
Labels = npt.NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Found:
    """Match m is made of `rows[offsets[m]:offsets[m+1]]`, global row numbers in stream order; `labels` beside
    them says which variables each event is bound to (an index into the evaluator's `labels`). The arrays are the
    evaluator's own, to be read before it is given more events."""

    offsets: Ints
    rows: Ints
    labels: Labels

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def part(self, begin: int, end: int) -> Found:
        """The matches from number `begin` to before `end`, if there are so many."""
        if begin == 0 and end >= len(self):
            return self
        offsets = self.offsets[begin : end + 1]
        events = slice(offsets[0], offsets[-1])
        return Found(offsets - offsets[0], self.rows[events], self.labels[events])

    def take(self, matches: Ints) -> Found:
        """The matches of these numbers, copied.

        >>> found = Found(np.array([0, 1, 3]), np.array([5, 6, 7]), np.zeros(3, LABEL))
        >>> found.take(np.array([1])).rows
        array([6, 7])
        """
        return Found(*take_lists(matches, self.offsets, self.rows, self.labels))


def joined(parts: Sequence[Found]) -> Found:
    """The matches of all parts, one after another.

    >>> one = Found(np.array([0, 2]), np.array([5, 6]), np.zeros(2, LABEL))
    >>> joined([one, one]).offsets
    array([0, 2, 4])
    """
    filled = [part for part in parts if len(part)]
    if len(filled) < 2:
        return filled[0] if filled else nothing_found()
    lengths = np.concatenate([np.diff(part.offsets) for part in filled])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return Found(
        offsets,
        np.concatenate([part.rows for part in filled]),
        np.concatenate([part.labels for part in filled]),
    )


class Gathering:
    """Matches of several batches in arrays that are used again, but for rows that are `given_away`: these are in memory
    of Arrow's pool, and their reader keeps them.

    >>> gathering = Gathering()
    >>> gathering.add(Found(np.array([0, 2]), np.array([5, 6]), np.zeros(2, LABEL)))
    >>> gathering.add(Found(np.array([0, 1]), np.array([9]), np.zeros(1, LABEL)))
    >>> gathering.found.offsets, gathering.found.rows
    (array([0, 2, 3]), array([5, 6, 9]))
    """

    def __init__(self, given_away: bool = False) -> None:
        self._given_away = given_away
        self._arrays = nothing_found()
        self._count = 0

    @property
    def found(self) -> Found:
        """All of them; the arrays hold until there are more."""
        offsets, rows, labels = self._arrays.offsets, self._arrays.rows, self._arrays.labels
        events = offsets[self._count]
        return Found(offsets[: self._count + 1], rows[:events], labels[:events])

    def add(self, found: Found) -> None:
        begin, count = int(self._arrays.offsets[self._count]), self._count + len(found)
        end = begin + len(found.rows)
        self._arrays = Found(
            longer(self._arrays.offsets, count + 1),
            longer(self._arrays.rows, end, in_pool=self._given_away),
            longer(self._arrays.labels, end),
        )
        np.add(found.offsets[1:], begin, out=self._arrays.offsets[self._count + 1 : count + 1])
        self._arrays.rows[begin:end] = found.rows
        self._arrays.labels[begin:end] = found.labels
        self._count = count

    def clear(self) -> None:
        self._count = 0
        if self._given_away:
            self._arrays = replace(self._arrays, rows=nothing_found().rows)


def longer(array: npt.NDArray[Number], least: int, in_pool: bool = False) -> npt.NDArray[Number]:
    """The array with the same beginning, at least so long; memory is touched where it is used. That of Arrow's pool is
    used again by what Arrow makes.

    >>> len(longer(np.zeros(4), 3)), len(longer(np.zeros(4), 5))
    (4, 8)
    """
    if len(array) >= least:
        return array
    length = max(least, 2 * len(array))
    more: npt.NDArray[Number] = np.empty(0 if in_pool else length, array.dtype)
    if in_pool:
        more = np.frombuffer(pa.allocate_buffer(max(length, _IN_POOL) * array.itemsize), array.dtype)
    more[: len(array)] = array
    return more


def nothing_found() -> Found:
    return Found(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, LABEL))
