"""A heap of blocks in one flat array: what every lane's state lives in.

A block is 2ᵏ words at an offset; freed blocks of a size wait in a list of their own. `meta[0]` is the first word never
used, `meta[1 + k]` the head of the free list of size k (0: empty; word 0 is never handed out). Functions that may
move the heap to a larger array return it.
"""

from __future__ import annotations

import numba
import numpy as np

from cepheid.kernels.compiled import compiled

META = 64  # words of allocator state
SMALLEST = 3  # 2³ words
_LARGE = 1 << 24  # words


@compiled
def size_class(words):
    """The smallest k with 2ᵏ ≥ words."""
    k = SMALLEST
    while (1 << k) < words:
        k += 1
    return k


@numba.njit(cache=True)
def allocate(heap, meta, k):
    """A block of 2ᵏ words with undefined content: (heap, offset)."""
    offset = meta[1 + k]
    if offset > 0:
        meta[1 + k] = heap[offset]
        return heap, offset
    offset = max(meta[0], 1)
    needed = offset + (1 << k)
    heap = with_room(heap, offset, needed)
    meta[0] = needed
    return heap, offset


@numba.njit(cache=True)
def with_room(heap, used, needed):
    """The heap, at least `needed` words long. It grows by much at once: what is not used yet costs nothing, but first
    use of memory is dear, and so is copying."""
    if needed <= len(heap):
        return heap
    factor = 4 if len(heap) < _LARGE else 2
    larger = np.empty(max(needed, factor * len(heap)), np.int64)
    larger[:used] = heap[:used]
    return larger


@compiled
def release(heap, meta, offset, k):
    heap[offset] = meta[1 + k]
    meta[1 + k] = offset


@numba.njit(cache=True)
def resize(heap, meta, offset, k, used, words):
    """A block of at least `words` words that keeps the first `used`: (heap, offset, k). Offset 0 is no block yet."""
    if offset > 0 and (1 << k) >= words:
        return heap, offset, k
    new_k = size_class(words)
    if offset > 0 and offset + (1 << k) == meta[0]:  # the last block grows where it is
        heap = with_room(heap, meta[0], offset + (1 << new_k))
        meta[0] = offset + (1 << new_k)
        return heap, offset, new_k
    heap, new_offset = allocate(heap, meta, new_k)
    if offset > 0:
        heap[new_offset : new_offset + used] = heap[offset : offset + used]
        release(heap, meta, offset, k)
    return heap, new_offset, new_k
