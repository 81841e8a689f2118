"""The rows that the partitions of a compact evaluator still need; dropping partitions."""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import allocating, compiled
from cepheid.kernels.loops.sliding.partition_state import (
    EVENT_WORDS,
    EVENTS,
    LOW,
    N_BACK,
    N_EVENTS,
    N_NODES,
    NODES,
    ROW,
    collect,
    free,
)
from cepheid.kernels.matches.collect import rows_of_nodes
from cepheid.kernels.matches.nodes import FIRST_AT


@compiled
def free_all_but(heap, meta, partitions, kept):
    """Frees the blocks of all partitions that are not in `kept` (ascending)."""
    k = 0
    for partition in range(len(partitions)):
        if k < len(kept) and kept[k] == partition:
            k += 1
        else:
            free(heap, meta, partitions, partition)


@allocating
def window_rows(heap, partitions, edge):
    """The rows of all windows that are not before `edge`, ascending."""
    count = 0
    for partition in range(len(partitions)):
        count += partitions[partition, N_EVENTS] - partitions[partition, LOW]
    rows = np.empty(count, np.int64)
    n = 0
    for partition in range(len(partitions)):
        events = partitions[partition, EVENTS]
        for i in range(partitions[partition, LOW], partitions[partition, N_EVENTS]):
            row = heap[events + i * EVENT_WORDS + ROW]
            if row >= edge:
                rows[n] = row
                n += 1
    rows = rows[:n].copy()
    rows.sort()
    return rows


@allocating
def node_rows(heap, partitions):
    """The rows that partial matches of partitions without a window contain, ascending, perhaps repeated."""
    count = 0
    for partition in range(len(partitions)):
        if partitions[partition, N_BACK] > 0:
            collect(heap, partitions, partition)
        count += partitions[partition, N_NODES]
    rows = np.empty(count, np.int64)
    n = 0
    for partition in range(len(partitions)):
        base = partitions[partition, NODES] - FIRST_AT
        n += rows_of_nodes(heap, base, partitions[partition, N_NODES], rows[n:])
    rows = rows[:n].copy()
    rows.sort()
    return rows
