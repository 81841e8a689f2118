"""Which rows the lanes of a compact evaluator still need, and giving back what others hold."""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import allocating, compiled
from cepheid.kernels.loops.sliding.partition_state import (
    CELLS,
    EVENT_WORDS,
    EVENTS,
    LOW,
    N_BACK,
    N_CELLS,
    N_EVENTS,
    ROW,
    collect,
    free,
)
from cepheid.kernels.matches.cells import CELL_LABEL, CELL_ROW, CELL_WORDS, UNION


@compiled
def free_all_but(heap, meta, lanes, kept):
    """Gives back what the lanes hold that are not in `kept` (ascending)."""
    k = 0
    for lane in range(len(lanes)):
        if k < len(kept) and kept[k] == lane:
            k += 1
        else:
            free(heap, meta, lanes, lane)


@allocating
def window_rows(heap, lanes, edge):
    """The rows of all windows that are not before `edge`, ascending."""
    count = 0
    for lane in range(len(lanes)):
        count += lanes[lane, N_EVENTS] - lanes[lane, LOW]
    rows = np.empty(count, np.int64)
    n = 0
    for lane in range(len(lanes)):
        events = lanes[lane, EVENTS]
        for i in range(lanes[lane, LOW], lanes[lane, N_EVENTS]):
            row = heap[events + i * EVENT_WORDS + ROW]
            if row >= edge:
                rows[n] = row
                n += 1
    rows = rows[:n].copy()
    rows.sort()
    return rows


@allocating
def cell_rows(heap, lanes):
    """The rows that partial matches of lanes without a window contain, ascending, perhaps repeated."""
    count = 0
    for lane in range(len(lanes)):
        if lanes[lane, N_BACK] > 0:
            collect(heap, lanes, lane)
        count += lanes[lane, N_CELLS]
    rows = np.empty(count, np.int64)
    n = 0
    for lane in range(len(lanes)):
        for cell in range(1, lanes[lane, N_CELLS]):
            at = lanes[lane, CELLS] + cell * CELL_WORDS
            if heap[at + CELL_LABEL] != UNION:
                rows[n] = heap[at + CELL_ROW]
                n += 1
    rows = rows[:n].copy()
    rows.sort()
    return rows
