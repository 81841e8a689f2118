"""Copying what lives: slots inside the window, the rings, and the nodes that their lists reach.

Used where the arrays have grown full, where states or words of numbers were added, and where partitions are forgotten.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled
from cepheid.kernels.loops.registers.layout import (
    B_AT,
    B_CAP,
    B_COUNT,
    B_WORDS,
    L_BLOCKS,
    L_EDGE,
    L_HI,
    L_LO,
    L_RING,
    L_RING_CAP,
    L_ROOT,
    L_SLOTS,
    R_SLOT,
    R_START,
    R_WORDS,
    S_ORDINAL,
    S_START,
)
from cepheid.kernels.matches.collect import drop_unreached
from cepheid.kernels.matches.nodes import FIRST_AT
from cepheid.kernels.memory.big_integers import widen


@compiled
def room_for(count):
    """The capacity of a block for so many slots: a power of two, none for none."""
    cap = 0 if count == 0 else 2
    while cap < count:
        cap *= 2
    return cap


@compiled
def _first_alive(heap, partitions, partition, edge):
    ring, cap = partitions[partition, L_RING], partitions[partition, L_RING_CAP]
    lo = partitions[partition, L_LO]
    while lo < partitions[partition, L_HI] and heap[ring + (lo & (cap - 1)) * R_WORDS + R_START] < edge:
        lo += 1
    return lo


@compiled
def _alive(heap, partitions, partition, block, size, edge):
    count = 0
    for k in range(partitions[partition, block + B_COUNT]):
        count += heap[partitions[partition, block + B_AT] + k * size + S_START] >= edge
    return count


@compiled
def measure(heap, partitions, kept, layout, new, edge):
    """The words that `copy` needs for these partitions."""
    words = 0
    for partition in kept:
        border = max(edge, partitions[partition, L_EDGE])
        words += (
            room_for(partitions[partition, L_HI] - _first_alive(heap, partitions, partition, border))
            * R_WORDS
        )
        for region in range(len(layout.size)):
            block = L_BLOCKS + region * B_WORDS
            alive = _alive(heap, partitions, partition, block, layout.size[region], border)
            words += room_for(alive) * new.size[region]
    return words


@compiled
def copy(heap, partitions, kept, layout, new, edge, out_heap, out_partitions):
    """Copies the living part of these partitions, in this order, in the new layout: the words used. States keep their
    places in their regions and new ones come after them."""
    top = 0
    for number in range(len(kept)):
        partition = kept[number]
        border = max(edge, partitions[partition, L_EDGE])
        out_partitions[number, L_ROOT] = partitions[partition, L_ROOT]
        out_partitions[number, L_EDGE] = partitions[partition, L_EDGE]
        lo, hi = _first_alive(heap, partitions, partition, border), partitions[partition, L_HI]
        ring, cap = partitions[partition, L_RING], partitions[partition, L_RING_CAP]
        new_cap = room_for(hi - lo)
        out_partitions[number, L_RING] = top
        out_partitions[number, L_RING_CAP] = new_cap
        out_partitions[number, L_LO] = lo
        out_partitions[number, L_HI] = hi
        for ordinal in range(lo, hi):
            for w in range(R_WORDS):
                out_heap[top + (ordinal & (new_cap - 1)) * R_WORDS + w] = heap[
                    ring + (ordinal & (cap - 1)) * R_WORDS + w
                ]
        top += new_cap * R_WORDS
        out_partitions[number, L_SLOTS] = 0
        for region in range(len(layout.size)):
            block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
            new_size, numbers = new.size[region], layout.numbers[region]
            count = 0
            for k in range(partitions[partition, block + B_COUNT]):
                source = partitions[partition, block + B_AT] + k * size
                if heap[source + S_START] < border:
                    continue
                target = top + count * new_size
                for w in range(numbers):
                    out_heap[target + w] = heap[source + w]
                for w in range(numbers, new_size):
                    out_heap[target + w] = 0
                for state in range(layout.states[region]):
                    one = source + numbers + state * layout.words
                    other = target + numbers + state * new.words
                    if layout.words == new.words:
                        for w in range(new.words):
                            out_heap[other + w] = heap[one + w]
                    else:
                        widen(heap, one, layout.words, out_heap, other, new.words)
                if region == 0:
                    entry = (heap[source + S_ORDINAL] & (new_cap - 1)) * R_WORDS
                    out_heap[out_partitions[number, L_RING] + entry + R_SLOT] = count
                count += 1
            out_partitions[number, block + B_AT] = top
            out_partitions[number, block + B_CAP] = room_for(count)
            out_partitions[number, block + B_COUNT] = count
            out_partitions[number, L_SLOTS] += count
            top += room_for(count) * new_size
    return top


@compiled
def renumber_lists(heap, partitions, layout, numbers):
    """Gives the lists of all slots the numbers that stand in `numbers` at theirs."""
    for partition in range(len(partitions)):
        for region in range(len(layout.size)):
            block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
            for k in range(partitions[partition, block + B_COUNT]):
                slot = partitions[partition, block + B_AT] + k * size
                for w in range(layout.numbers[region], size):
                    heap[slot + w] = numbers[heap[slot + w]]


@compiled
def drop_nodes(heap, partitions, layout, nodes, numbers):
    """Keeps the nodes that lists of slots reach: how many there are then. `numbers` is scratch, a zero per node."""
    for partition in range(len(partitions)):
        for region in range(len(layout.size)):
            block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
            for k in range(partitions[partition, block + B_COUNT]):
                slot = partitions[partition, block + B_AT] + k * size
                for w in range(layout.numbers[region], size):
                    numbers[heap[slot + w]] = 1
    kept = drop_unreached(nodes, -FIRST_AT, len(numbers), numbers)
    renumber_lists(heap, partitions, layout, numbers)
    return kept
