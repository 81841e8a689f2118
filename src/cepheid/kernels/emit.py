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


@numba.njit(cache=True, forceinline=True)
def next_string(heap, cells, stack, base, room, n_waiting):
    """Walks to the next string: (number of places still waiting, length).

    From `base` on `stack` holds three stretches of `room` numbers: the values at which the walk continues, the depths
    they are at, and the offsets of the cells of the string.
    """
    depths, path = base + room, base + 2 * room
    n_waiting -= 1
    value, depth = stack[base + n_waiting], stack[depths + n_waiting]
    while value != NOTHING:
        at = cells + value * CELL_WORDS
        alternative = heap[at + CELL_ALTERNATIVE]
        if alternative != EMPTY:
            stack[base + n_waiting] = alternative
            stack[depths + n_waiting] = depth
            n_waiting += 1
        if heap[at + CELL_LABEL] != UNION:
            stack[path + depth] = at
            depth += 1
        value = heap[at + CELL_CHILD]
    return n_waiting, depth


@numba.njit(cache=True)
def emit(heap, cells, front, back, row, label, stack, limit, guard, made, out_offsets, out_rows, out_labels):
    """Writes every match front·back·(row, label) until `limit` matches are made in all.

    `stack` is scratch, more than six times as long as there are cells. Gives (matches made, or -1 where they would
    fill more than `guard` events; offsets; rows; labels), the arrays perhaps moved to larger ones.
    """
    room = len(stack) // 6
    of_front = 3 * room
    path_front, path_back = of_front + 2 * room, 2 * room
    stack[0] = back
    stack[room] = 0
    n_back = 1
    at = out_offsets[made]
    while n_back > 0 and made < limit:
        n_back, length_back = next_string(heap, cells, stack, 0, room, n_back)
        stack[of_front] = front
        stack[of_front + room] = 0
        n_front = 1
        while n_front > 0 and made < limit:
            n_front, length_front = next_string(heap, cells, stack, of_front, room, n_front)
            end = at + length_front + length_back + 1
            if end > guard:
                return -1, out_offsets, out_rows, out_labels
            if end > len(out_rows):
                out_rows = enlarged(out_rows, end)
                out_labels = enlarged(out_labels, end)
            if made + 2 > len(out_offsets):
                out_offsets = enlarged(out_offsets, made + 2)
            for i in range(length_front):
                out_rows[at] = heap[stack[path_front + i] + CELL_ROW]
                out_labels[at] = heap[stack[path_front + i] + CELL_LABEL]
                at += 1
            for i in range(length_back - 1, -1, -1):
                out_rows[at] = heap[stack[path_back + i] + CELL_ROW]
                out_labels[at] = heap[stack[path_back + i] + CELL_LABEL]
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
