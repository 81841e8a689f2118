"""Drives a loop over a batch: where it stops for lack of memory or tables, provides them and calls it again.

In: a loop, which from a given event on gives a status and the event it stopped before (`kernels.memory.status`), and
a remedy for each status. The matches that loops write go to `Matches`, whose arrays are kept from batch to batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from cepheid.evaluators.interface import too_many_matches
from cepheid.kernels.matches.output import Output
from cepheid.kernels.memory.status import DONE, MORE_OUTPUT, TOO_MANY
from cepheid.matches.match_arrays import LABEL, Found, Ints, longer, nothing_found

_MOST_KEPT = 1 << 22  # events of matches that room is kept for

Remedies: TypeAlias = Mapping[int, Callable[[int], object]]
"""By status: what makes room, given the event that needs it."""


def drive(loop: Callable[[int], tuple[int, int]], remedies: Remedies, begin: int = 0) -> int:
    """Calls a loop until it is DONE: the event it then stopped before.

    >>> room = [2]
    >>> def loop(begin: int) -> tuple[int, int]:
    ...     return (DONE, 5) if room[0] >= 5 else (MORE_OUTPUT, room[0])
    >>> drive(loop, {MORE_OUTPUT: lambda at: room.append(room.pop() + 2)})
    5
    """
    status, at = loop(begin)
    while status != DONE:
        remedies[status](at)
        status, at = loop(at)
    return int(at)


class Matches:
    """Room for the matches of a batch."""

    def __init__(self) -> None:
        self.out = _room()

    def begin(self) -> None:
        self.out.offsets[0] = 0
        self.out.made[0] = 0

    def remedies(self, guard: int, rows: Ints) -> Remedies:
        """The remedies for output arrays that are full; `guard` is the most events, `rows` are those of the batch."""

        def too_many(at: int) -> None:
            raise too_many_matches(guard, int(rows[at]))

        return {MORE_OUTPUT: self._double, TOO_MANY: too_many}

    def _double(self, at: int) -> None:
        offsets, rows, labels, made = self.out
        self.out = Output(
            offsets=longer(offsets, 2 * len(offsets)),
            rows=longer(rows, 2 * len(rows)),
            labels=longer(labels, 2 * len(labels)),
            made=made,
        )

    def found(self) -> Found:
        """The matches since `begin`; arrays that have become large are not kept."""
        offsets, rows, labels, made = self.out
        count = int(made[0])
        if len(rows) > _MOST_KEPT:
            self.out = _room()
        if count == 0:
            return nothing_found()
        return Found(offsets[: count + 1], rows[: offsets[count]], labels[: offsets[count]])


def _room() -> Output:
    return Output(
        offsets=np.zeros(256, np.int64),
        rows=np.zeros(1024, np.int64),
        labels=np.zeros(1024, LABEL),
        made=np.zeros(1, np.int64),
    )
