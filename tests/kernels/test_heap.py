"""Blocks of the heap: what grows keeps its words, the last one where it is, and what is outgrown is used again."""

from __future__ import annotations

import numpy as np

from cepheid.kernels.heap import META, allocate, release, resize, size_class


def test_an_outgrown_block_is_used_again() -> None:
    heap, meta = np.zeros(64, np.int64), np.zeros(META, np.int64)
    heap, first = allocate(heap, meta, 3)
    heap, second = allocate(heap, meta, 3)
    heap[first : first + 8] = range(8)
    heap, moved, k = resize(heap, meta, first, 3, 8, 9)
    assert moved not in (first, second)
    assert k == size_class(9) == 4
    assert heap[moved : moved + 8].tolist() == list(range(8))
    heap, third = allocate(heap, meta, 3)
    assert third == first
    release(heap, meta, second, 3)
    assert allocate(heap, meta, 3)[1] == second


def test_the_last_block_grows_where_it_is() -> None:
    heap, meta = np.zeros(4, np.int64), np.zeros(META, np.int64)
    heap, block = allocate(heap, meta, 3)
    heap[block : block + 8] = range(8)
    k = 3
    for words in (9, 100, 5_000):
        heap, grown, k = resize(heap, meta, block, k, 8, words)
        assert grown == block
        assert 1 << k >= words
        assert meta[0] == block + (1 << k) <= len(heap)
        assert heap[block : block + 8].tolist() == list(range(8))
    heap, other = allocate(heap, meta, 3)
    assert other == block + (1 << k)
