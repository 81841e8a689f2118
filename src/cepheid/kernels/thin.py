"""Lanes of `dense` in another layout: for an automaton of more states, or for `slide`."""

from __future__ import annotations

import numba
import numpy as np

from cepheid.kernels.heap import allocate, release, size_class
from cepheid.kernels.lane import BACK, BACK_K, FRONT, FRONT_K, LOW, N_BACK, N_EVENTS, PIVOT, WIDTH, reset
from cepheid.kernels.numbers import widen
from cepheid.kernels.slide import DONE, enter, leave, turn


@numba.njit(cache=True)
def regrow_lanes(heap, meta, lanes, states, new_states, new_rows):
    """The same lanes for an automaton with more states, or rows, which nothing has reached yet: the heap."""
    for lane in range(len(lanes)):
        if lanes[lane, N_BACK] == 0:
            continue
        for block, block_k, rows in ((BACK, BACK_K, states), (FRONT, FRONT_K, lanes[lane, PIVOT])):
            old, old_k = lanes[lane, block], lanes[lane, block_k]
            if old == 0:
                continue
            total = max(rows, new_rows if block == BACK else 1)
            k = size_class(total * new_states)
            heap, new = allocate(heap, meta, k)
            for i in range(total * new_states):
                heap[new + i] = 0
            for row in range(rows):
                for p in range(states):
                    heap[new + row * new_states + p] = heap[old + row * states + p]
            release(heap, meta, old, old_k)
            lanes[lane, block], lanes[lane, block_k] = new, k
        lanes[lane, WIDTH] = new_states
        lanes[lane, N_BACK] = new_states
    return heap


@numba.njit(cache=True)
def thin_lanes(table, begin, options, heap, meta, lanes, states):
    """Turns dense lanes from number `begin` on into lanes of `slide`.

    Gives (status, the lane it stopped at, heap); it stops where numbers need more words.
    """
    slot = np.full(table.skip.shape[0], -1, np.int64)
    for lane in range(begin, len(lanes)):
        if lanes[lane, N_BACK] == 0:
            continue
        if not options.windowed:
            heap = thin_back(options.words, heap, meta, lanes, lane, states)
            continue
        low, end = lanes[lane, LOW], lanes[lane, N_EVENTS]
        heap = reset(heap, meta, lanes, lane, options.words, True)
        lanes[lane, LOW], lanes[lane, N_EVENTS] = low, end
        if low == end:
            lanes[lane, LOW], lanes[lane, N_EVENTS] = 0, 0
            continue
        enter(heap, lanes, lane, slot, options.words)
        status, _, _, heap = turn(table, low, options, heap, meta, lanes, lane, slot)
        leave(heap, lanes, lane, slot, options.words)
        if status != DONE:
            return status, lane, heap
    return DONE, len(lanes), heap


@numba.njit(cache=True)
def thin_back(words, heap, meta, lanes, lane, states):
    """Without a window only the runs from the start state count."""
    old, old_k = lanes[lane, BACK], lanes[lane, BACK_K]
    k = size_class(1 + states * (1 + words))
    heap, new = allocate(heap, meta, k)
    heap[new] = 0
    entries = 0
    for state in range(states):
        if heap[old + state * states] != 0:
            at = new + 1 + entries * (1 + words)
            heap[at] = state
            widen(heap, old + state * states, 1, heap, at + 1, words)
            entries += 1
    release(heap, meta, old, old_k)
    lanes[lane, BACK], lanes[lane, BACK_K] = new, k
    lanes[lane, WIDTH] = 1
    lanes[lane, N_BACK] = entries
    return heap
