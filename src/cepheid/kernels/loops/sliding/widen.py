"""Gives every number of a counting partition more words."""

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
def widen_partitions(heap, meta, partitions, words, new_words):
    """Rewrites BACK and the living part of FRONT of all partitions: the heap."""
    for partition in range(len(partitions)):
        if partitions[partition, N_BACK] == 0:
            continue
        width = partitions[partition, WIDTH]
        active = partitions[partition, N_BACK]
        old, old_k = partitions[partition, BACK], partitions[partition, BACK_K]
        k = size_class(width + active * (1 + width * new_words))
        heap, new = allocate(heap, meta, k)
        for p in range(width):
            heap[new + p] = heap[old + p]
        for entry in range(active):
            source = old + width + entry * (1 + width * words)
            target = new + width + entry * (1 + width * new_words)
            heap[target] = heap[source]
            for p in range(width):
                widen(heap, source + 1 + p * words, words, heap, target + 1 + p * new_words, new_words)
        release(heap, meta, old, old_k)
        partitions[partition, BACK], partitions[partition, BACK_K] = new, k
        if partitions[partition, LOW] < partitions[partition, PIVOT]:
            old, old_k = partitions[partition, FRONT], partitions[partition, FRONT_K]
            k = size_class(partitions[partition, PIVOT] * width * new_words)
            heap, new = allocate(heap, meta, k)
            for i in range(partitions[partition, LOW] * width, partitions[partition, PIVOT] * width):
                widen(heap, old + i * words, words, heap, new + i * new_words, new_words)
            release(heap, meta, old, old_k)
            partitions[partition, FRONT], partitions[partition, FRONT_K] = new, k
    return heap
