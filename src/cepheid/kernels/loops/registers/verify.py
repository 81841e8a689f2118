"""Whether the slots and rings of a saved `Store` lead only to what is there (see `layout`).

In: the arrays of a state, of which anything may be wrong but that each ring and block lies inside the heap and overlaps
no other. Out: true where every number that is used as an index is in its range. Rings are made anew from the slots they
lead to, and no slot has a cell of the index, which is not saved.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.loops.registers.layout import (
    B_AT,
    B_COUNT,
    B_WORDS,
    L_BLOCKS,
    L_HI,
    L_LO,
    L_RING,
    L_RING_CAP,
    L_ROOT,
    NOWHERE,
    R_SLOT,
    R_START,
    R_WORDS,
    S_CELL,
    S_KIND,
    S_ORDINAL,
    S_START,
)
from cepheid.kernels.memory.big_integers import MASK, SAFE


@inlined
def _partition_fits(partitions, partition, layout):
    """Its root, and the ordinals of its ring."""
    root, lo, hi, cap = (
        partitions[partition, L_ROOT],
        partitions[partition, L_LO],
        partitions[partition, L_HI],
        partitions[partition, L_RING_CAP],
    )
    if root < 0 or root >= len(layout.region) or layout.region[root] >= 0:
        return False
    return 0 <= lo <= hi <= 1 << 46 and hi - lo <= cap and cap & (cap - 1) == 0


@inlined
def _numbers_fit(heap, slot, layout, region, counting, nodes):
    for state in range(layout.states[region]):
        at = slot + layout.numbers[region] + state * layout.words
        if not counting:
            if heap[at] < 0 or heap[at] >= nodes:
                return False
            continue
        for w in range(layout.words - 1):
            if heap[at + w] < 0 or heap[at + w] > MASK:
                return False
        if heap[at + layout.words - 1] < 0 or heap[at + layout.words - 1] >= SAFE:
            return False
    return True


@compiled
def slots_fit(heap, partitions, layout, key_ends, windowed, counting, nodes):
    """For so many nodes; `key_ends[kind]` is the word after those that tell slots of a kind apart."""
    for partition in range(len(partitions)):
        if not _partition_fits(partitions, partition, layout):
            return False
        ring, mask = partitions[partition, L_RING], partitions[partition, L_RING_CAP] - 1
        lo, hi = partitions[partition, L_LO], partitions[partition, L_HI]
        if not windowed and hi > 1:
            return False
        for ordinal in range(lo, hi):
            entry = ring + (ordinal & mask) * R_WORDS
            heap[entry + R_SLOT] = NOWHERE
            if (
                ordinal > lo
                and heap[entry + R_START] < heap[ring + ((ordinal - 1) & mask) * R_WORDS + R_START]
            ):
                return False
        for region in range(len(layout.size)):
            block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
            for k in range(partitions[partition, block + B_COUNT]):
                slot = partitions[partition, block + B_AT] + k * size
                ordinal, kind = heap[slot + S_ORDINAL], heap[slot + S_KIND]
                if kind < 0 or kind >= len(key_ends) or key_ends[kind] > layout.numbers[region]:
                    return False
                if ordinal < lo or ordinal >= hi:
                    return False
                entry = ring + (ordinal & mask) * R_WORDS
                if windowed and heap[entry + R_START] != heap[slot + S_START]:
                    return False
                if region == 0:
                    if heap[entry + R_SLOT] != NOWHERE:
                        return False
                    heap[entry + R_SLOT] = k
                heap[slot + S_CELL] = NOWHERE
                if not _numbers_fit(heap, slot, layout, region, counting, nodes):
                    return False
    return True
