"""States of the releases before nodes were the same for all loops: their cells become nodes, in place.

A cell is four words: a row, a label (-1: a union), a set before and another set. Sets are numbers: -1 the empty one,
0 that of the empty string, then cells, from 1 on.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled
from cepheid.kernels.loops.sliding.partition_state import (
    BACK,
    FRONT,
    LOW,
    N_BACK,
    N_NODES,
    NODES,
    PIVOT,
    WIDTH,
)
from cepheid.kernels.loops.sliding.verify import has_room
from cepheid.kernels.matches.nodes import FIRST, JOIN, LABEL_BITS, LABELS, N_WORDS, put_node

_CELL_WORDS = 4
_MOST_ROWS = 1 << 46


@compiled
def cells_to_nodes(heap, partitions, states):
    """Of any partitions whose blocks lie inside the heap: whether they have cells, and sets, where they say."""
    for partition in range(len(partitions)):
        cells, first = max(partitions[partition, N_NODES], 1), partitions[partition, NODES]
        if cells > 1 and (
            cells > len(heap) or not has_room(partitions, partition, NODES, cells * _CELL_WORDS)
        ):
            return False
        for cell in range(1, cells):
            at = first + cell * _CELL_WORDS
            row, label, before, other = heap[at], heap[at + 1], heap[at + 2], heap[at + 3]
            if row < 0 or row >= _MOST_ROWS or label < -1 or label > LABELS:
                return False
            event = JOIN if label < 0 else row << LABEL_BITS | label
            put_node(heap, first + (cell - 1) * N_WORDS, event, before + 1, other + 1)
        partitions[partition, N_NODES] = cells - 1 + FIRST
        active, width = partitions[partition, N_BACK], partitions[partition, WIDTH]
        if active == 0:
            continue
        if active < 0 or active > states or width < 1 or width > states:
            return False
        if not has_room(partitions, partition, BACK, width + active * (1 + width)):
            return False
        for entry in range(active):
            at = partitions[partition, BACK] + width + entry * (1 + width)
            for p in range(width):
                heap[at + 1 + p] += 1
        low, pivot = partitions[partition, LOW], partitions[partition, PIVOT]
        if low < 0 or low > pivot or pivot > len(heap):
            return False
        if low < pivot and not has_room(partitions, partition, FRONT, pivot * width):
            return False
        for i in range(low * width, pivot * width):
            heap[partitions[partition, FRONT] + i] += 1
    return True
