"""Moving the pivot of a partition to now: its back becomes its front (the second stack of `slide`).

In: a partition whose window's edge has passed the pivot. Out: the same partition with a vector for each event of the
window, the runs from the start state just before that event to each state at the pivot, and no event after the pivot.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import allocating
from cepheid.kernels.interrupts import poll, ticks
from cepheid.kernels.loops.sliding.partition_state import (
    BACK,
    BACK_K,
    EVENT_WORDS,
    EVENTS,
    FRONT,
    FRONT_K,
    LOW,
    N_BACK,
    N_EVENTS,
    N_NODES,
    PIVOT,
    ROW,
    WIDTH,
    class_at,
    enter,
    follows,
    leave,
    new_node,
    reserve_nodes,
)
from cepheid.kernels.loops.sliding.tables import DEAD, UNKNOWN
from cepheid.kernels.matches.nodes import BEGIN, FIRST, LABEL_BITS, NONE
from cepheid.kernels.memory.big_integers import add
from cepheid.kernels.memory.heap import resize
from cepheid.kernels.memory.status import DONE, MORE_TRANSITIONS, MORE_WORDS


@allocating
def move_pivot(table, begin, options, heap, meta, partitions, partition, slot):
    """Makes the events from `begin` on the front and moves the pivot to now: (status, state, class, heap)."""
    count = partitions[partition, N_EVENTS] - begin
    events = partitions[partition, EVENTS]
    step_class = np.empty(2 * count, np.int64)
    step_event = np.empty(2 * count, np.int64)
    steps = 0
    for t in range(count):
        at = events + (begin + t) * EVENT_WORDS
        if t > 0 and options.gaps and not follows(heap, at):
            step_class[steps] = 0
            step_event[steps] = -1
            steps += 1
        step_class[steps] = class_at(heap, at)
        step_event[steps] = t
        steps += 1
    status, state, klass, offsets, active = reach(table, step_class[:steps])
    if status != DONE:
        return status, state, klass, heap
    pivots = active[offsets[steps] : offsets[steps + 1]]
    width = len(pivots)
    words = options.words
    if not options.counting:
        leave(heap, partitions, partition, slot, words)
        partitions[partition, N_NODES] = FIRST
    heap, partitions[partition, FRONT], partitions[partition, FRONT_K] = resize(
        heap, meta, partitions[partition, FRONT], partitions[partition, FRONT_K], 0, count * width * words
    )
    heap, large = fold(
        table,
        begin,
        step_class,
        step_event,
        steps,
        offsets,
        active,
        options,
        heap,
        meta,
        partitions,
        partition,
    )
    if large:
        return MORE_WORDS, 0, 0, heap
    if options.counting:
        leave(heap, partitions, partition, slot, words)
    for i in range(count * EVENT_WORDS):
        heap[events + i] = heap[events + begin * EVENT_WORDS + i]
    partitions[partition, N_EVENTS] = count
    partitions[partition, LOW] = 0
    partitions[partition, PIVOT] = count
    heap, partitions[partition, BACK], partitions[partition, BACK_K] = resize(
        heap,
        meta,
        partitions[partition, BACK],
        partitions[partition, BACK_K],
        0,
        width + width * (1 + width * words),
    )
    partitions[partition, WIDTH] = width
    partitions[partition, N_BACK] = width
    base = partitions[partition, BACK]
    for p in range(width):
        heap[base + p] = pivots[p]
        at = base + width + p * (1 + width * words)
        heap[at] = pivots[p]
        for i in range(width * words):
            heap[at + 1 + i] = NONE
        heap[at + 1 + p * words] = BEGIN
    enter(heap, partitions, partition, slot, words)
    return DONE, 0, 0, heap


@allocating
def reach(table, step_class):
    """Which states a run that starts at any of the steps can be in before each step and after the last.

    Gives (status, state, class, offsets, states): those before step s are states[offsets[s]:offsets[s+1]], 0 first.
    """
    steps = len(step_class)
    seen = np.full(table.skip.shape[0], -1, np.int64)
    offsets = np.empty(steps + 2, np.int64)
    active = np.empty(max(64, 4 * steps), np.int64)
    active[0] = 0
    offsets[0] = 0
    offsets[1] = 1
    for s in range(steps):
        klass = step_class[s]
        n = offsets[s + 1]
        if n + table.skip.shape[0] + 1 > len(active):
            larger = np.empty(2 * len(active) + table.skip.shape[0] + 1, np.int64)
            for i in range(n):
                larger[i] = active[i]
            active = larger
        active[n] = 0
        seen[0] = s
        n += 1
        for k in range(offsets[s], offsets[s + 1]):
            state = active[k]
            skip = table.skip[state, klass]
            if skip == UNKNOWN:
                return MORE_TRANSITIONS, state, klass, offsets, active
            if skip != DEAD and seen[skip] != s:
                seen[skip] = s
                active[n] = skip
                n += 1
            first = table.first[state, klass]
            for mark in range(first, first + table.marks[state, klass]):
                target = table.target[mark]
                if target != DEAD and seen[target] != s:
                    seen[target] = s
                    active[n] = target
                    n += 1
        offsets[s + 2] = n
    return DONE, 0, 0, offsets, active


@allocating
def fold(
    table, begin, step_class, step_event, steps, offsets, active, options, heap, meta, partitions, partition
):
    """Multiplies the steps together from the last to the first and keeps the start state's row before each event.

    The partition's event `begin` is event 0 of the steps. Gives (heap, whether a number became too large).
    """
    words = options.words
    width = offsets[steps + 1] - offsets[steps]
    size = width * words
    rows = np.zeros((table.skip.shape[0], size), np.int64)
    for p in range(width):
        rows[active[offsets[steps] + p], p * words] = BEGIN
    changed = np.empty((8, size), np.int64)
    changed_state = np.empty(8, np.int64)
    seen = ticks()
    for s in range(steps - 1, -1, -1):
        seen = poll(seen)
        if seen < 0:
            return heap, True
        klass = step_class[s]
        first_active, end_active = offsets[s], offsets[s + 1]
        if end_active - first_active > len(changed_state):
            changed = np.empty((2 * (end_active - first_active), size), np.int64)
            changed_state = np.empty(2 * (end_active - first_active), np.int64)
        row = 0
        if step_event[s] >= 0:
            row = heap[partitions[partition, EVENTS] + (begin + step_event[s]) * EVENT_WORDS + ROW]
        if not options.counting:
            marks = 0
            for k in range(first_active, end_active):
                marks += table.marks[active[k], klass]
            heap = reserve_nodes(heap, meta, partitions, partition, marks * width)
        n = 0
        large = False
        for k in range(first_active, end_active):
            state = active[k]
            skip = table.skip[state, klass]
            if skip == state and table.marks[state, klass] == 0:
                continue
            changed_state[n] = state
            for i in range(size):
                changed[n, i] = NONE if skip == DEAD else rows[skip, i]
            first = table.first[state, klass]
            for mark in range(first, first + table.marks[state, klass]):
                target = table.target[mark]
                if target == DEAD:
                    continue
                for p in range(width):
                    if options.counting:
                        large |= add(changed[n], p * words, rows[target], p * words, words)
                    elif rows[target, p] != NONE:
                        event = row << LABEL_BITS | table.label[mark]
                        changed[n, p] = new_node(
                            heap, partitions, partition, event, rows[target, p], changed[n, p]
                        )
            n += 1
        if large:
            return heap, True
        for k in range(n):
            for i in range(size):
                rows[changed_state[k], i] = changed[k, i]
        if step_event[s] >= 0:
            at = partitions[partition, FRONT] + step_event[s] * size
            for i in range(size):
                heap[at + i] = rows[0, i]
    return heap, False
