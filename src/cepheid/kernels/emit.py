"""Enumeration: from the values of a lane to matches in flat output arrays, in time linear in what is written.

A match that ends at the current event is a string of the front, a string of the back, and the event itself. Walking a
value is a depth-first search whose every branch ends in a string, so the number of steps is linear in the output.
Front cells run from old to new, back cells from new to old.
"""

from __future__ import annotations

import numba
import numpy as np

from cepheid.kernels.lane import (
    CELL_ALTERNATIVE,
    CELL_CHILD,
    CELL_LABEL,
    CELL_ROW,
    CELL_WORDS,
    EMPTY,
    NOTHING,
    UNION,
)


@numba.njit(cache=True)
def next_string(heap, cells, values, depths, n_waiting, path):
    """Walks to the next string: (number of places still waiting, length). The string's cells' offsets are in `path`.

    `values` and `depths` are a stack of where the walk continues.
    """
    n_waiting -= 1
    value, depth = values[n_waiting], depths[n_waiting]
    while value != NOTHING:
        at = cells + value * CELL_WORDS
        alternative = heap[at + CELL_ALTERNATIVE]
        if alternative != EMPTY:
            values[n_waiting] = alternative
            depths[n_waiting] = depth
            n_waiting += 1
        if heap[at + CELL_LABEL] != UNION:
            path[depth] = at
            depth += 1
        value = heap[at + CELL_CHILD]
    return n_waiting, depth


@numba.njit(cache=True)
def emit(heap, cells, front, back, row, label, stacks, limit, guard, made, out_offsets, out_rows, out_labels):
    """Writes every match front·back·(row, label) until `limit` matches are made in all.

    `stacks` is six rows of scratch, each longer than the number of cells. Gives (matches made, or -1 where they would
    fill more than `guard` events; offsets; rows; labels), the arrays perhaps moved to larger ones.
    """
    stacks[0, 0] = back
    stacks[1, 0] = 0
    n_back = 1
    at = out_offsets[made]
    while n_back > 0 and made < limit:
        n_back, length_back = next_string(heap, cells, stacks[0], stacks[1], n_back, stacks[2])
        stacks[3, 0] = front
        stacks[4, 0] = 0
        n_front = 1
        while n_front > 0 and made < limit:
            n_front, length_front = next_string(heap, cells, stacks[3], stacks[4], n_front, stacks[5])
            end = at + length_front + length_back + 1
            if end > guard:
                return -1, out_offsets, out_rows, out_labels
            if end > len(out_rows):
                out_rows = enlarged(out_rows, end)
                out_labels = enlarged(out_labels, end)
            if made + 2 > len(out_offsets):
                out_offsets = enlarged(out_offsets, made + 2)
            for i in range(length_front):
                out_rows[at] = heap[stacks[5, i] + CELL_ROW]
                out_labels[at] = heap[stacks[5, i] + CELL_LABEL]
                at += 1
            for i in range(length_back - 1, -1, -1):
                out_rows[at] = heap[stacks[2, i] + CELL_ROW]
                out_labels[at] = heap[stacks[2, i] + CELL_LABEL]
                at += 1
            out_rows[at] = row
            out_labels[at] = label
            at += 1
            made += 1
            out_offsets[made] = at
    return made, out_offsets, out_rows, out_labels


@numba.njit(cache=True)
def enlarged(array, needed):
    larger = np.empty(max(needed, 2 * len(array)), np.int64)
    larger[: len(array)] = array
    return larger
