"""Partitions of `dense` in another layout: dense for an automaton with more states, or sparse, for `slide`."""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import allocating, compiled
from cepheid.kernels.loops.sliding.move_pivot import move_pivot
from cepheid.kernels.loops.sliding.partition_state import (
    BACK,
    BACK_K,
    FRONT,
    FRONT_K,
    LOW,
    N_BACK,
    N_EVENTS,
    PIVOT,
    WIDTH,
    enter,
    leave,
    reset,
)
from cepheid.kernels.memory.big_integers import BITS as NUMBER_BITS
from cepheid.kernels.memory.carry_save import BITS, LIMIT, carry, length_of
from cepheid.kernels.memory.heap import allocate, release, size_class
from cepheid.kernels.memory.status import DONE


@allocating
def regrow_partitions(heap, meta, partitions, states, words, new_states, new_words, new_rows):
    """Rewrites partitions for an automaton with more states or rows, which no run has reached yet, and for numbers of
    more words. Gives the heap."""
    for partition in range(len(partitions)):
        if partitions[partition, N_BACK] == 0:
            continue
        ranges = (
            (BACK, BACK_K, 0, states),
            (FRONT, FRONT_K, partitions[partition, LOW], partitions[partition, PIVOT]),
        )
        for block, block_k, begin, end in ranges:
            old, old_k = partitions[partition, block], partitions[partition, block_k]
            if old == 0:
                continue
            total = max(end, new_rows if block == BACK else 1)
            k = size_class(total * new_words * new_states)
            heap, new = allocate(heap, meta, k)
            for i in range(total * new_words * new_states):
                heap[new + i] = 0
            for row in range(begin, end):
                for word in range(words):
                    for p in range(states):
                        at = old + (row * words + word) * states + p
                        heap[new + (row * new_words + word) * new_states + p] = heap[at]
            release(heap, meta, old, old_k)
            partitions[partition, block], partitions[partition, block_k] = new, k
        if new_words > words:
            carry(heap, partitions[partition, BACK], new_states, new_words, words)
        partitions[partition, WIDTH] = new_states
        partitions[partition, N_BACK] = new_states
    return heap


@allocating
def to_sparse_partitions(table, begin, options, heap, meta, partitions, states, dense_words):
    """Makes dense partitions, from number `begin` on, sparse ones for `slide`.

    Gives (status, the partition it stopped at, heap); it stops where numbers need more words.
    """
    slot = np.full(table.skip.shape[0], -1, np.int64)
    for partition in range(begin, len(partitions)):
        if partitions[partition, N_BACK] == 0 and partitions[partition, N_EVENTS] == 0:
            continue
        if not options.windowed:
            heap = to_sparse_back(options.words, heap, meta, partitions, partition, states, dense_words)
            continue
        low, end = partitions[partition, LOW], partitions[partition, N_EVENTS]
        heap = reset(heap, meta, partitions, partition, options.words)
        partitions[partition, LOW], partitions[partition, N_EVENTS] = low, end
        if low == end:
            partitions[partition, LOW], partitions[partition, N_EVENTS] = 0, 0
            continue
        enter(heap, partitions, partition, slot, options.words)
        status, _, _, heap = move_pivot(table, low, options, heap, meta, partitions, partition, slot)
        leave(heap, partitions, partition, slot, options.words)
        if status != DONE:
            return status, partition, heap
    return DONE, len(partitions), heap


@allocating
def to_sparse_back(words, heap, meta, partitions, partition, states, dense_words):
    """The same for a partition without a window, which has runs from the start state only."""
    old, old_k = partitions[partition, BACK], partitions[partition, BACK_K]
    k = size_class(1 + states * (1 + words))
    heap, new = allocate(heap, meta, k)
    heap[new] = 0
    entries = 0
    for state in range(states):
        number = old + state * dense_words * states
        if length_of(heap, number, states, dense_words) > 0:
            carry_all(heap, number, states, dense_words)
            at = new + 1 + entries * (1 + words)
            heap[at] = state
            for i in range(words):
                heap[at + 1 + i] = bits_of(heap, number, states, dense_words, i * NUMBER_BITS)
            entries += 1
    release(heap, meta, old, old_k)
    partitions[partition, BACK], partitions[partition, BACK_K] = new, k
    partitions[partition, WIDTH] = 1
    partitions[partition, N_BACK] = entries
    return heap


@compiled
def carry_all(heap, at, states, words):
    """Makes the carries of one number: every word but the highest keeps `BITS` bits."""
    for k in range(words - 1):
        heap[at + (k + 1) * states] += heap[at + k * states] >> BITS
        heap[at + k * states] &= LIMIT - 1


@compiled
def bits_of(heap, at, states, words, begin):
    """The 32 bits from number `begin` on of a number in words of 48 bits, the highest of them perhaps longer."""
    result = 0
    for i in range(NUMBER_BITS):
        word = min((begin + i) // BITS, words - 1)
        shift = begin + i - word * BITS
        if shift < 62:
            result |= ((heap[at + word * states] >> shift) & 1) << i
    return result
