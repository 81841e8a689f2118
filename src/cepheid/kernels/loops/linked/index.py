"""The ED-indices in one table: from (index, partition, values) to the newest vertex of that list.

Open addressing over pairs of words: a tag, which is a hash with the index in its lowest bits, and a vertex
(0: free). Keys are not stored: a vertex has its own. Invariant: at most half of the slots are used.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import inlined
from cepheid.kernels.loops.linked.difference_pointers import point
from cepheid.kernels.loops.linked.layout import (
    C_MAX,
    C_MORE,
    C_PREV,
    C_SKIP,
    I_CELL,
    I_EQUAL,
    I_POINTERS,
    INDEX_MASK,
    META_BITS,
    NEVER,
    V_CODES,
    V_LATEST,
    V_META,
    V_PARTITION,
    VIA_BITS,
)

FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_INDEX_BITS = np.uint64(VIA_BITS)


@inlined
def hash_key(heap, shape, index, columns, partition, at):
    """A hash of a partition and of the values of the vertex at `at` in these columns."""
    key = (np.uint64(partition) ^ (np.uint64(index) << np.uint64(48))) * FACTOR
    for i in range(shape.indices[index, I_EQUAL]):
        key = (key ^ (key >> _SHIFT) ^ np.uint64(heap[at + V_CODES + columns[index, i]])) * FACTOR
    return (key ^ (key >> _SHIFT)) * FACTOR


@inlined
def find_slot(heap, slots, shape, index, columns, partition, at):
    """The slot of a list, or the free one where it belongs: (slot, tag).

    Its key are the partition and the values of the vertex at `at` in `columns`: the left columns for a vertex that
    enters the list, the right ones for an event that looks it up.
    """
    key = hash_key(heap, shape, index, columns, partition, at)
    tag = (np.int64(key) & ~np.int64(INDEX_MASK)) | index
    mask = len(slots) // 2 - 1
    slot = np.int64(key >> _INDEX_BITS) & mask
    while True:
        vertex = slots[2 * slot + 1]
        if vertex == 0:
            return slot, tag
        if slots[2 * slot] == tag and heap[vertex + V_PARTITION] == partition:
            same = True
            for i in range(shape.indices[index, I_EQUAL]):
                one = heap[vertex + V_CODES + shape.equal_left[index, i]]
                same = same and one == heap[at + V_CODES + columns[index, i]]
            if same:
                return slot, tag
        slot = (slot + 1) & mask


@inlined
def newest(heap, slots, born, shape, index, partition, at):
    """The newest vertex of the list that the event staged at `at` asks for, or 0."""
    slot, _ = find_slot(heap, slots, shape, index, shape.equal_right, partition, at)
    vertex = slots[2 * slot + 1]
    return vertex if vertex >= born[partition] else 0


@inlined
def enter_lists(heap, slots, born, shape, vertex, values):
    """Enters a vertex into its list of each index of its state: how many slots that took."""
    state, partition = heap[vertex + V_META] >> META_BITS, heap[vertex + V_PARTITION]
    taken = 0
    for i in range(shape.n_indices[state]):
        index = shape.of_state[state, i]
        slot, tag = find_slot(heap, slots, shape, index, shape.equal_left, partition, vertex)
        before = slots[2 * slot + 1]
        taken += before == 0
        slots[2 * slot] = tag
        slots[2 * slot + 1] = vertex
        put(heap, shape, index, vertex, before if before >= born[partition] else 0, values)
    return taken


@inlined
def put(heap, shape, index, vertex, before, values):
    """Makes the cell of a vertex in a list whose newest vertex is `before`.

    Each vertex is jumped over by the skip pointer of one later vertex only: constant time on average.
    """
    cell = shape.indices[index, I_CELL]
    latest = heap[vertex + V_LATEST]
    skip = before
    while skip != 0 and heap[skip + V_LATEST] <= latest:
        skip = heap[skip + cell + C_SKIP]
    heap[vertex + cell + C_PREV] = before
    heap[vertex + cell + C_SKIP] = skip
    heap[vertex + cell + C_MAX] = max(latest, heap[before + cell + C_MAX]) if before != 0 else latest
    if shape.memo > 0:
        heap[vertex + cell + C_MORE] = NEVER
    if shape.indices[index, I_POINTERS] > 0:
        point(heap, shape, index, vertex, values)
