"""Drives a loop over a batch: where it stops for lack of memory or tables, provides them and calls it again.

In: a loop, which from a given event on gives a status and the event it stopped before (`kernels.memory.status`), and
a remedy for each status. The matches that loops write go to `Matches`, whose arrays are kept from batch to batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from cepheid.evaluators.first_by_positions import graph_of, walk_of
from cepheid.evaluators.interface import UNLIMITED, too_many_matches
from cepheid.kernels.matches.first_by_positions import first_by_positions
from cepheid.kernels.matches.output import BEFORE, MADE, MADE_WORDS, ROOT_WORDS, Output
from cepheid.kernels.memory.status import BEYOND_LIMIT, DONE, MORE_OUTPUT, MORE_STACK, TOO_MANY
from cepheid.matches.match_arrays import LABEL, Found, Ints, longer, nothing_found

_MOST_KEPT = 1 << 22  # events of matches that room is kept for
_STEPS = 1 << 10  # of a walk, before it needs more room

Remedies: TypeAlias = Mapping[int, Callable[[int], object]]
"""By status: what makes room, given the event that needs it."""


def drive(
    loop: Callable[[int], tuple[int, int]], remedies: Remedies, begin: int = 0, until: int = DONE
) -> int:
    """Calls a loop until it is DONE, or what else is waited for: the event it then stopped before.

    >>> room = [2]
    >>> def loop(begin: int) -> tuple[int, int]:
    ...     return (DONE, 5) if room[0] >= 5 else (MORE_OUTPUT, room[0])
    >>> drive(loop, {MORE_OUTPUT: lambda at: room.append(room.pop() + 2)})
    5
    """
    status, at = loop(begin)
    while status != until:
        remedies[status](at)
        status, at = loop(at)
    return int(at)


class Matches:
    """Room for the matches of a batch."""

    def __init__(self) -> None:
        self.out = _room()

    def begin(self) -> None:
        self.out.offsets[0] = 0
        self.out.made[:] = 0, 0, -1

    def remedies(self, guard: int, rows: Ints) -> Remedies:
        """The remedies for output arrays that are full; `guard` is the most events, `rows` are those of the batch."""

        def too_many(at: int) -> None:
            raise too_many_matches(guard, int(rows[at]))

        return {MORE_OUTPUT: self._double, TOO_MANY: too_many}

    def limited(
        self,
        limit: int,
        guard: int,
        rows: Ints,
        roots_at: Callable[[int], tuple[int, int]],
        nodes_of: Callable[[Ints, int], tuple[Ints, int, Ints]],
        ranks: Sequence[int],
    ) -> Remedies:
        """Where many more matches end at an event than the limit leaves room for: only the first by positions are
        written. `roots_at` is the loop with ROOTS as its limit, `nodes_of` gives for what it writes at an event nodes,
        where they begin, and roots of them; `ranks` is the order of labels."""

        def write_first(at: int) -> None:
            nodes, base, roots = nodes_of(self._roots(roots_at, at), at)
            graph, most = graph_of(nodes, base, roots), int(self.out.made[BEFORE]) + limit
            walk = walk_of(graph, _STEPS)

            def loop(at: int) -> tuple[int, int]:
                return first_by_positions(graph, *order, most, guard, walk, self.out), at

            def lengthen(at: int) -> None:
                nonlocal walk
                walk = walk_of(graph, 4 * len(walk.steps))

            drive(loop, {MORE_STACK: lengthen, **self.remedies(guard, rows)}, at)

        order = np.array(ranks), np.argsort(ranks).astype(LABEL)
        return {} if limit == UNLIMITED else {BEYOND_LIMIT: write_first, TOO_MANY: write_first}

    def _roots(self, roots_at: Callable[[int], tuple[int, int]], at: int) -> Ints:
        """What leads to the matches that end at an event, in three words each."""
        before = int(self.out.made[MADE])
        drive(roots_at, {MORE_OUTPUT: self._double}, at, until=BEYOND_LIMIT)
        first, last = self.out.offsets[[before, int(self.out.made[MADE])]]
        self.out.made[MADE] = before
        return self.out.rows[first:last].reshape(-1, ROOT_WORDS).copy()

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
        made=np.zeros(MADE_WORDS, np.int64),
    )
