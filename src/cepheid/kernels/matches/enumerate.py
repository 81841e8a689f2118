"""Enumeration: from sets of partial matches to matches in flat output arrays, in time linear in what is written.

A match that ends at the current event is a string of the front, a string of the back, and the event itself. Walking a
set is a depth-first search whose every branch ends in a string, so the number of steps is linear in the output. Nodes
of the back lead from new events to old ones, those of the front from old to new.

The stack has two halves, for the back and the front. Each has thirds: the sets at which a walk goes on, their depths,
and the events of the string so far.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import inlined
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.matches.nodes import (
    BEGIN,
    JOIN,
    LABEL_BITS,
    LABELS,
    N_BEFORE,
    N_EVENT,
    N_OTHER,
    N_WORDS,
    NONE,
)
from cepheid.kernels.matches.output import why_full
from cepheid.kernels.memory.status import DONE, INTERRUPTED, MORE_STACK

# Unsigned numbers are never taken as counted from an array's end.
_ONE, _BEFORE, _OTHER = np.uint64(1), np.uint64(N_BEFORE), np.uint64(N_OTHER)
_NO_NODE = -1


@inlined
def _next_string(nodes, base, stack, of, room, waiting):
    """Walks to the next string: (sets still waiting, its length or -1 where the stack is too short, the last node on
    the way with other strings beside it, its depth). Those are not among the sets that wait: see `_wait`."""
    depths, path = of + room, of + 2 * room
    waiting -= 1
    value, depth = stack[of + waiting], stack[depths + waiting]
    last, last_depth = _NO_NODE, 0
    while value != BEGIN:
        if waiting + 1 >= room or depth >= room:
            return waiting, -1, _NO_NODE, 0
        at = base + value * N_WORDS
        event = nodes[at + N_EVENT]
        value = nodes[at + N_BEFORE]
        if nodes[at + N_OTHER] != NONE:
            if last != _NO_NODE:
                waiting = _wait(nodes, stack, of, room, waiting, last, last_depth)
            last, last_depth = at, depth
            if event == JOIN:
                waiting = _wait(nodes, stack, of, room, waiting, last, last_depth)
                last = _NO_NODE
        if event != JOIN:
            stack[path + depth] = event
            depth += 1
    return waiting, depth, last, last_depth


@inlined
def _wait(nodes, stack, of, room, waiting, node, depth):
    """The strings beside those of a node wait: how many sets do."""
    if nodes[node + N_OTHER] != NONE:
        stack[of + waiting] = nodes[node + N_OTHER]
        stack[of + room + waiting] = depth
        waiting += 1
    return waiting


@inlined
def emit(nodes, base, front, back, event, most, guard, stack, made, out):
    """Writes every match front·back·event as long as there are at most `most` in all: a status and the matches made.

    Nodes beside each other with the same string before them give matches that differ in one event.
    """
    offsets, rows, labels = out.offsets, out.rows, out.labels
    matches_room, events_room = min(len(offsets) - 1, most), min(len(rows), guard)
    room = len(stack) // 6
    of_front, path_back, path_front = 3 * room, 2 * room, 5 * room
    stack[0] = back
    stack[room] = 0
    n_back = 1
    length_front, n_front = 0, 0
    at = offsets[made]
    seen = ticks()
    while n_back > 0:
        n_back, length_back, last_back, depth_back = _next_string(nodes, base, stack, 0, room, n_back)
        if front != BEGIN:
            stack[of_front] = front
            stack[of_front + room] = 0
            n_front = 1
        while True:
            seen = poll(seen)
            if seen < 0:
                return INTERRUPTED, made
            last, changed, on_path = (
                last_back,
                length_front + length_back - 1 - depth_back,
                path_back + depth_back,
            )
            if front != BEGIN:
                n_front, length_front, last, depth = _next_string(nodes, base, stack, of_front, room, n_front)
                changed, on_path = depth, path_front + depth
            if length_back < 0 or length_front < 0:
                return MORE_STACK, made
            length = length_front + length_back + 1
            if at + length > events_room or made == matches_room:
                return why_full(rows, guard, made, most), made
            to = np.uint64(at)
            for i in range(length_front):
                one = stack[path_front + i]
                rows[to] = one >> LABEL_BITS
                labels[to] = one & LABELS
                to += _ONE
            for i in range(length_back - 1, -1, -1):
                one = stack[path_back + i]
                rows[to] = one >> LABEL_BITS
                labels[to] = one & LABELS
                to += _ONE
            rows[to] = event >> LABEL_BITS
            labels[to] = event & LABELS
            at += length
            made += 1
            offsets[made] = at
            if last != _NO_NODE:
                before, other, of_node = nodes[last + N_BEFORE], nodes[last + N_OTHER], last
                while other > BEGIN:
                    of_other = np.uint64(base + other * N_WORDS)
                    one = nodes[of_other]
                    if one == JOIN or nodes[of_other + _BEFORE] != before:
                        break
                    if at + length > events_room or made == matches_room:
                        return why_full(rows, guard, made, most), made
                    to = np.uint64(at)
                    for _ in range(length):
                        rows[to] = rows[to - np.uint64(length)]
                        labels[to] = labels[to - np.uint64(length)]
                        to += _ONE
                    rows[np.uint64(at + changed)] = one >> LABEL_BITS
                    labels[np.uint64(at + changed)] = one & LABELS
                    at += length
                    made += 1
                    offsets[made] = at
                    of_node, other = np.int64(of_other), nodes[of_other + _OTHER]
                    stack[on_path] = one
                last = of_node
            if front == BEGIN:
                last_back = last
                break
            if last != _NO_NODE:
                n_front = _wait(nodes, stack, of_front, room, n_front, last, depth)
            if n_front == 0:
                break
        if last_back != _NO_NODE:
            n_back = _wait(nodes, stack, 0, room, n_back, last_back, depth_back)
    return DONE, made
