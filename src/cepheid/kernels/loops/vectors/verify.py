"""Whether the starts, slots and vectors of a saved `Counts` lead only to what is there (see `layout`).

In: the arrays of a state, of which anything may be wrong. Out: true where every number that is used as an index is in
its range, and every word of a vector has no more bits than the vector says. What is counted beside them, such as the
words of all blocks, `collect.copy` works out anew.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.loops.registers.layout import S_KIND
from cepheid.kernels.loops.vectors.arithmetic import LOOSE_BITS, used_bits
from cepheid.kernels.loops.vectors.layout import (
    B_AT,
    B_COUNT,
    B_WORDS,
    C_BASE,
    C_BLOCKS,
    C_HI,
    C_LO,
    C_ROOM,
    C_ROOT,
    C_STARTS,
    STATE_WORDS,
    V_AT,
    V_BITS,
    V_LENGTH,
)


@inlined
def _vector_fits(heap, vector, room, first, count):
    """The words that a vector holds, or -1."""
    at, length, bits = heap[vector + V_AT], heap[vector + V_LENGTH], heap[vector + V_BITS]
    if at == 0:
        return 0
    if at < 0 or length < 1 or length > len(heap) or bits < 0 or bits > LOOSE_BITS:
        return -1
    if room < 1 or length > len(heap) // room or at > len(heap) - length * room:
        return -1
    for w in range(length):
        if used_bits(heap, at + w * room + first, count) >> bits != 0:
            return -1
    return length * room


@compiled
def counts_fit(heap, partitions, layout, key_ends):
    """`key_ends[kind]` is the word after those that tell slots of a kind apart."""
    held = 0
    for partition in range(len(partitions)):
        root, room = partitions[partition, C_ROOT], partitions[partition, C_ROOM]
        base, lo, hi = partitions[partition, C_BASE], partitions[partition, C_LO], partitions[partition, C_HI]
        if root < 0 or root >= len(layout.region) or layout.region[root] >= 0:
            return False
        if lo < 0 or hi < lo or hi > 1 << 46:
            return False
        if hi == lo:
            continue  # nothing of it is read
        if base < 0 or base > lo or room < 1 or room > len(heap) or hi - base > room:
            return False
        record = layout.numbers[0]
        if partitions[partition, C_STARTS] < 0 or partitions[partition, C_STARTS] > len(heap) - room * record:
            return False
        held += room * record
        if partitions[partition, C_BLOCKS + B_COUNT] != 1:
            return False
        for region in range(len(layout.size)):
            block, size = C_BLOCKS + region * B_WORDS, layout.size[region]
            at, count = partitions[partition, block + B_AT], partitions[partition, block + B_COUNT]
            if count < 0 or count > len(heap) or (count > 0 and (at < 0 or at > len(heap) - count * size)):
                return False
            held += count * size
            if held > len(heap):
                return False
            for k in range(count):
                slot = at + k * size
                kind = heap[slot + S_KIND]
                if region > 0 and (
                    kind < 0 or kind >= len(key_ends) or key_ends[kind] > layout.numbers[region]
                ):
                    return False
                for state in range(layout.states[region]):
                    vector = slot + layout.numbers[region] + state * STATE_WORDS
                    words = _vector_fits(heap, vector, room, lo - base, hi - lo)
                    held += words
                    if words < 0 or held > len(heap):
                        return False
    return True
