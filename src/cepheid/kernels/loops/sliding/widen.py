"""Gives every number of a counting lane more words."""

from __future__ import annotations

from cepheid.kernels.compiled import allocating
from cepheid.kernels.loops.sliding.partition_state import (
    BACK,
    BACK_K,
    FRONT,
    FRONT_K,
    LOW,
    N_BACK,
    PIVOT,
    WIDTH,
)
from cepheid.kernels.memory.big_integers import widen
from cepheid.kernels.memory.heap import allocate, release, size_class


@allocating
def widen_lanes(heap, meta, lanes, words, new_words):
    """Rewrites BACK and the living part of FRONT of all lanes: the heap."""
    for lane in range(len(lanes)):
        if lanes[lane, N_BACK] == 0:
            continue
        width = lanes[lane, WIDTH]
        active = lanes[lane, N_BACK]
        old, old_k = lanes[lane, BACK], lanes[lane, BACK_K]
        k = size_class(width + active * (1 + width * new_words))
        heap, new = allocate(heap, meta, k)
        heap[new : new + width] = heap[old : old + width]
        for entry in range(active):
            source = old + width + entry * (1 + width * words)
            target = new + width + entry * (1 + width * new_words)
            heap[target] = heap[source]
            for p in range(width):
                widen(heap, source + 1 + p * words, words, heap, target + 1 + p * new_words, new_words)
        release(heap, meta, old, old_k)
        lanes[lane, BACK], lanes[lane, BACK_K] = new, k
        if lanes[lane, LOW] < lanes[lane, PIVOT]:
            old, old_k = lanes[lane, FRONT], lanes[lane, FRONT_K]
            k = size_class(lanes[lane, PIVOT] * width * new_words)
            heap, new = allocate(heap, meta, k)
            for i in range(lanes[lane, LOW] * width, lanes[lane, PIVOT] * width):
                widen(heap, old + i * words, words, heap, new + i * new_words, new_words)
            release(heap, meta, old, old_k)
            lanes[lane, FRONT], lanes[lane, FRONT_K] = new, k
    return heap
