"""A heap of blocks in one flat array: what every partition's state lives in.

A block is 2ᵏ words at an offset; freed blocks of a size wait in a list of their own. `meta[0]` is the first word never
used, `meta[1 + k]` the head of the free list of size k (0: empty; word 0 is never handed out). `take` and `grow` trust
that there is room (`room_for`); `allocate` and `resize` make it and return the heap, which may be a larger array then.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import allocating, compiled, inlined

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


@inlined
def room_for(words):
    """No block of so many words takes more than this."""
    return 2 * words + (1 << SMALLEST)


@inlined
def take(heap, meta, k):
    """A block of 2ᵏ words with undefined content: its offset."""
    offset = meta[1 + k]
    if offset > 0:
        meta[1 + k] = heap[offset]
        return offset
    offset = max(meta[0], 1)
    meta[0] = offset + (1 << k)
    return offset


@compiled
def grow(heap, meta, offset, k, used, words):
    """A block of at least `words` words that keeps the first `used`: (offset, k). Offset 0 is no block yet."""
    if offset > 0 and (1 << k) >= words:
        return offset, k
    new_k = size_class(words)
    if offset > 0 and offset + (1 << k) == meta[0]:  # the last block grows where it is
        meta[0] = offset + (1 << new_k)
        return offset, new_k
    new_offset = take(heap, meta, new_k)
    if offset > 0:
        for i in range(used):
            heap[new_offset + i] = heap[offset + i]
        release(heap, meta, offset, k)
    return new_offset, new_k


@allocating
def allocate(heap, meta, k):
    """A block of 2ᵏ words with undefined content: (heap, offset)."""
    if meta[1 + k] == 0:
        heap = with_room(heap, meta[0], max(meta[0], 1) + (1 << k))
    return heap, take(heap, meta, k)


@allocating
def with_room(heap, used, needed):
    """The heap, at least `needed` words long. It grows by much at once: what is not used yet costs nothing, but first
    use of memory is dear, and so is copying."""
    if needed <= len(heap):
        return heap
    factor = 4 if len(heap) < _LARGE else 2
    larger = np.empty(max(needed, factor * len(heap)), np.int64)
    for i in range(used):
        larger[i] = heap[i]
    return larger


@compiled
def release(heap, meta, offset, k):
    heap[offset] = meta[1 + k]
    meta[1 + k] = offset


@allocating
def resize(heap, meta, offset, k, used, words):
    """What `grow` gives, and room for it: (heap, offset, k)."""
    if offset == 0 or (1 << k) < words:
        heap = with_room(heap, meta[0], meta[0] + 1 + room_for(words))
        offset, k = grow(heap, meta, offset, k, used, words)
    return heap, offset, k
