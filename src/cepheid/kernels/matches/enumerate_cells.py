"""Enumeration: from the values of a partition to matches in flat output arrays, in time linear in what is written.

A match that ends at the current event is a string of the front, a string of the back, and the event itself. Walking a
value is a depth-first search whose every branch ends in a string, so the number of steps is linear in the output.
Front cells run from old to new, back cells from new to old.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import allocating, compiled, inlined
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.matches.cells import (
    CELL_ALTERNATIVE,
    CELL_CHILD,
    CELL_LABEL,
    CELL_ROW,
    CELL_WORDS,
    EMPTY,
    NOTHING,
    UNION,
)


@inlined
def next_string(heap, cells, stack, base, room, n_waiting):
    """Walks to the next string: (number of places still waiting, length, offset of its last cell or -1).

    From `base` on `stack` holds three stretches of `room` numbers: the values at which the walk continues, the depths
    they are at, and the offsets of the cells of the string. What follows the last cell as an alternative is not
    among the places waiting: see `next_last`.
    """
    depths, path = base + room, base + 2 * room
    n_waiting -= 1
    value, depth = stack[base + n_waiting], stack[depths + n_waiting]
    while value != NOTHING:
        at = cells + value * CELL_WORDS
        value = heap[at + CELL_CHILD]
        marks = heap[at + CELL_LABEL] != UNION
        if marks:
            stack[path + depth] = at
            if value == NOTHING:
                return n_waiting, depth + 1, at
        if heap[at + CELL_ALTERNATIVE] != EMPTY:
            stack[base + n_waiting] = heap[at + CELL_ALTERNATIVE]
            stack[depths + n_waiting] = depth
            n_waiting += 1
        if marks:
            depth += 1
    return n_waiting, depth, -1


@inlined
def next_last(heap, cells, stack, base, room, n_waiting, depth, last):
    """The next string where it differs in its last cell alone: (number of places waiting, offset of that cell or -1).

    Any other alternative to the last cell is put among the places waiting.
    """
    alternative = heap[last + CELL_ALTERNATIVE]
    if alternative == EMPTY:
        return n_waiting, -1
    at = cells + alternative * CELL_WORDS
    if alternative != NOTHING and heap[at + CELL_CHILD] == NOTHING and heap[at + CELL_LABEL] != UNION:
        return n_waiting, at
    stack[base + n_waiting] = alternative
    stack[base + room + n_waiting] = depth - 1
    return n_waiting + 1, -1


@compiled
def emit(heap, cells, front, back, row, label, stack, limit, guard, made, out_offsets, out_rows, out_labels):
    """Writes every match front·back·(row, label) until `limit` matches are made in all.

    Matches that differ in one event, the last of the front or else the first of the back, are made by copying the one
    before. `stack` is scratch, more than six times as long as there are cells. Gives the number of matches made, or -1
    where there is no room for all, `guard` events being the most: the caller enlarges the arrays, outside of any loop,
    and calls again.
    """
    events_room, matches_room = min(len(out_rows), guard), len(out_offsets) - 1
    room = len(stack) // 6
    of_front = 3 * room
    path_front, path_back = of_front + 2 * room, 2 * room
    stack[0] = back
    stack[room] = 0
    n_back = 1
    at = out_offsets[made]
    seen = ticks()
    while n_back > 0 and made < limit:
        n_back, length_back, last_back = next_string(heap, cells, stack, 0, room, n_back)
        stack[of_front] = front
        stack[of_front + room] = 0
        n_front = 1
        while n_front > 0 and made < limit:
            seen = poll(seen)
            if seen < 0:
                return -1
            n_front, length_front, last = next_string(heap, cells, stack, of_front, room, n_front)
            length = length_front + length_back + 1
            if at + length > events_room or made == matches_room:
                return -1
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
            in_front = front != NOTHING
            changed = length_front - 1 if in_front else 0
            if not in_front:
                last = last_back
            while last >= 0:
                if in_front:
                    n_front, last = next_last(heap, cells, stack, of_front, room, n_front, length_front, last)
                else:
                    n_back, last = next_last(heap, cells, stack, 0, room, n_back, length_back, last)
                    last_back = -1
                if last < 0 or made == limit:
                    break
                if at + length > events_room or made == matches_room:
                    return -1
                for i in range(at, at + length):
                    out_rows[i] = out_rows[i - length]
                    out_labels[i] = out_labels[i - length]
                out_rows[at + changed] = heap[last + CELL_ROW]
                out_labels[at + changed] = heap[last + CELL_LABEL]
                at += length
                made += 1
                out_offsets[made] = at
        if last_back >= 0 and heap[last_back + CELL_ALTERNATIVE] != EMPTY:
            stack[n_back] = heap[last_back + CELL_ALTERNATIVE]
            stack[room + n_back] = length_back - 1
            n_back += 1
    return made


@allocating
def enlarged(array):
    """Twice as long, with the same beginning."""
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger
