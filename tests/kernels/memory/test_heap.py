"""Blocks of the heap: what grows keeps its words, the last one where it is, and what is outgrown is used again."""

from __future__ import annotations

import numpy as np

from cepheid.kernels.memory.heap import META, allocate, grow, release, resize, room_for, size_class, take


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


def test_room_for_a_block_is_enough_wherever_it_comes_from() -> None:
    """What grows is the last block, or is taken anew, or one given back: never beyond the room asked for."""
    meta = np.zeros(META, np.int64)
    heap = np.zeros(100_000, np.int64)
    blocks = [(0, 0), (0, 0)]
    for words in [*range(1, 40), 63, 64, 65, 1_000, 1_025]:
        for one, (offset, k) in enumerate(blocks):
            end = meta[0] + 1 + room_for(words)
            blocks[one] = grow(heap, meta, offset, k, 0, words)
            assert 1 << blocks[one][1] >= words
            assert meta[0] <= end


def test_a_block_keeps_its_words_where_the_heap_has_room() -> None:
    heap, meta = np.zeros(128, np.int64), np.zeros(META, np.int64)
    first, second = take(heap, meta, 3), take(heap, meta, 3)
    heap[first : first + 8] = range(8)
    moved, k = grow(heap, meta, first, 3, 8, 20)
    assert (moved > second, k) == (True, 5)
    assert heap[moved : moved + 8].tolist() == list(range(8))
    assert take(heap, meta, 3) == first
