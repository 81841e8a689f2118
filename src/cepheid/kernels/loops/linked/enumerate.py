"""Enumeration of a run DAG: from a vertex to the matches of all paths below it, in flat output arrays.

The walk is depth first and enters no vertex without a match below it. From one vertex of a list to the next it jumps
over vertices that do not differ by difference pointers, and over vertices before the window's edge by skip pointers,
which lead to ever later starts. Where a list's starts ascend with its events, as they do unless a link keeps the newest
partial matches out, there is nothing to jump over and the delay is linear in the match; else it is longer by the
vertices on that way.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import inlined
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.loops.linked.difference_pointers import latest_different, newest_different
from cepheid.kernels.loops.linked.layout import (
    C_MAX,
    C_PREV,
    C_SKIP,
    I_CELL,
    I_DIFFER,
    I_POINTERS,
    INDEX_MASK,
    LABEL_MASK,
    NEVER,
    V_CODES,
    V_FROM,
    V_LATEST,
    V_META,
    V_ROW,
    V_VIA,
    VIA_BITS,
)
from cepheid.kernels.matches.output import why_full
from cepheid.kernels.memory.status import DONE, INTERRUPTED, MORE_STACK

# Unsigned numbers are never taken as counted from an array's end.
_ONE = np.uint64(1)
_ROW, _META, _LATEST, _FROM = np.uint64(V_ROW), np.uint64(V_META), np.uint64(V_LATEST), np.uint64(V_FROM)
_PREV, _SKIP, _MAX = np.uint64(C_PREV), np.uint64(C_SKIP), np.uint64(C_MAX)


@inlined
def read_values(heap, shape, index, at, out_values):
    """The values of the vertex at `at` that the vertices before it must differ from."""
    for link in range(shape.indices[index, I_DIFFER]):
        out_values[link] = heap[at + V_CODES + shape.differ_right[index, link]]


@inlined
def newest_in_window(heap, shape, index, vertex, edge, windowed, mask, values):
    """The newest vertex of a list, at or before this one, that differs where it must and has a start inside the window;
    or 0."""
    cell = shape.indices[index, I_CELL]
    while vertex != 0:
        if windowed:
            if heap[vertex + cell + C_MAX] < edge:
                return 0
            if heap[vertex + V_LATEST] < edge:
                vertex = heap[vertex + cell + C_SKIP]
                continue
        if mask == 0:
            return vertex
        if windowed and shape.indices[index, I_POINTERS] > 0:
            latest = latest_different(heap, shape, index, vertex, values, mask)
            if latest == 0 or heap[latest + V_LATEST] < edge:
                return 0
        found = newest_different(heap, shape, index, vertex, values, mask)
        if found == vertex:
            return vertex
        vertex = found
    return 0


@inlined
def _older(heap, vertex, cell, edge):
    """The newest vertex of a list before this one that has a start from the edge on, or 0."""
    older = np.uint64(heap[vertex + cell + _PREV])
    while older != 0:
        if heap[older + _LATEST] >= edge:
            return older
        if heap[older + cell + _MAX] < edge:
            break
        older = np.uint64(heap[older + cell + _SKIP])
    return np.uint64(0)


@inlined
def emit_chain(heap, shape, root, edge, options, values, stack, made, out):
    """Writes the match of every path from `root`, unless these are more than the limit and its spare allow in all: a
    status and the matches made.

    Matches that differ in their first event alone are made by copying the one before.
    """
    out_offsets, out_rows, out_labels = out.offsets, out.rows, out.labels
    most, windowed = options.limit + options.spare, options.windowed
    events_room, matches_room = min(len(out_rows), options.guard), min(len(out_offsets) - 1, most)
    since = edge if windowed else NEVER
    at = out_offsets[made]
    depth = 0
    stack[0] = root
    seen = ticks()
    while True:
        seen = poll(seen)
        if seen < 0:
            return INTERRUPTED, made
        vertex = stack[depth]
        while heap[vertex + V_FROM] != 0:
            index, mask = heap[vertex + V_VIA] & INDEX_MASK, heap[vertex + V_VIA] >> VIA_BITS
            if mask != 0:
                read_values(heap, shape, index, vertex, values)
            vertex = newest_in_window(heap, shape, index, heap[vertex + V_FROM], edge, windowed, mask, values)
            depth += 1
            if depth == len(stack):
                return MORE_STACK, made
            stack[depth] = vertex
        length = depth + 1
        if at + length > events_room or made == matches_room:
            return why_full(out_rows, options.guard, made, most), made
        to = np.uint64(at)
        for i in range(depth, -1, -1):
            out_rows[to] = heap[stack[i] + V_ROW]
            out_labels[to] = heap[stack[i] + V_META] & LABEL_MASK
            to += _ONE
        at += length
        made += 1
        out_offsets[made] = at
        while depth > 0:
            above = stack[depth - 1]
            index, mask = heap[above + V_VIA] & INDEX_MASK, heap[above + V_VIA] >> VIA_BITS
            cell = np.uint64(shape.indices[index, I_CELL])
            if mask != 0:
                read_values(heap, shape, index, above, values)
                before = heap[np.uint64(stack[depth]) + cell + _PREV]
                vertex = newest_in_window(heap, shape, index, before, edge, windowed, mask, values)
                if vertex == 0:
                    depth -= 1
                    continue
                stack[depth] = vertex
                break
            older = _older(heap, np.uint64(stack[depth]), cell, since)
            while older != 0 and depth + 1 == length and heap[older + _FROM] == 0:
                if at + length > events_room or made == matches_room:
                    return why_full(out_rows, options.guard, made, most), made
                to = np.uint64(at)
                out_rows[to] = heap[older + _ROW]
                out_labels[to] = heap[older + _META] & LABEL_MASK
                for _ in range(depth):
                    to += _ONE
                    out_rows[to] = out_rows[to - np.uint64(length)]
                    out_labels[to] = out_labels[to - np.uint64(length)]
                at += length
                made += 1
                out_offsets[made] = at
                older = _older(heap, older, cell, since)
            if older == 0:
                depth -= 1
                continue
            stack[depth] = np.int64(older)
            break
        if depth == 0:
            return DONE, made
