"""Slots that agree become one, after all transitions of an event.

In: the slots that an event has made, at the end of their block. Out: those of them that agree with no older one, found
by the index from now on; what the others hold was added to the ones they agree with. Invariant: between two events
no two slots of a partition and kind agree in the words that later tests read (and, where it matters, in their start).
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import compiled, inlined, inner
from cepheid.kernels.loops.registers.index import cell_of, enter, enter_all, leave_all
from cepheid.kernels.loops.registers.layout import (
    B_AT,
    B_COUNT,
    B_WORDS,
    CELLS,
    I_BLOCK,
    I_SLOT,
    I_WORD,
    L_BLOCKS,
    L_SLOTS,
    NOWHERE,
    S_CELL,
    S_KIND,
    S_ORDINAL,
)
from cepheid.kernels.matches.nodes import JOIN, node
from cepheid.kernels.memory.big_integers import add
from cepheid.kernels.memory.hashing import mix


@inlined
def hash_of(heap, layout, slot, by_start):
    """Of all that tells a slot apart; `by_start`: also how its partial matches began."""
    kind = heap[slot + S_KIND]
    key = mix(np.uint64(kind + 1))
    if by_start:
        key = mix(key ^ np.uint64(heap[slot + S_ORDINAL]))
    for j in range(layout.keys.shape[1]):
        if layout.keys[kind, j] < 0:
            break
        key = mix(key ^ np.uint64(heap[slot + layout.keys[kind, j]]))
    return np.int64(key)


@inlined
def agree(heap, layout, one, two, by_start):
    """Whether nothing later can tell two slots apart."""
    kind = heap[one + S_KIND]
    if kind != heap[two + S_KIND]:
        return False
    if by_start and heap[one + S_ORDINAL] != heap[two + S_ORDINAL]:
        return False
    for j in range(layout.keys.shape[1]):
        at = layout.keys[kind, j]
        if at < 0:
            break
        if heap[one + at] != heap[two + at]:
            return False
    return True


@inlined
def now_at(index, heap, slot, number):
    """A slot has another number, or with NOWHERE none any more."""
    if heap[slot + S_CELL] != NOWHERE:
        index[heap[slot + S_CELL] + I_SLOT] = number


@inner
def make_known(index, heap, layout, block, slot, number, by_start):
    """Enters a slot that agrees with none, under all that tells it apart: how many cells were taken."""
    word = hash_of(heap, layout, slot, by_start)
    cell = cell_of(index, -block, word)
    taken = 0
    if index[cell + I_BLOCK] == 0:
        index[cell + I_BLOCK] = -block
        index[cell + I_WORD] = word
        index[cell + I_SLOT] = NOWHERE
        taken = 1
    heap[slot + S_CELL] = NOWHERE  # where another has the very same hash, this one is not found
    if index[cell + I_SLOT] == NOWHERE:
        index[cell + I_SLOT] = number
        heap[slot + S_CELL] = cell
    return taken


@inner
def unite(heap, nodes, meta, layout, counting, region, older, newer):
    """Adds what the newer slot holds to the older: whether a number has become large."""
    large = False
    for state in range(layout.states[region]):
        at = layout.numbers[region] + state * layout.words
        if counting:
            large |= add(heap, older + at, heap, newer + at, layout.words)
        elif heap[older + at] == 0:
            heap[older + at] = heap[newer + at]
        elif heap[newer + at] != 0:
            heap[older + at] = node(nodes, meta, JOIN, heap[newer + at], heap[older + at])
    return large


@inlined
def meet(layout, space, partition, counting, region):
    """Of a region's slots the first `before` are not of this event: whether a number has become large."""
    heap, meta, partitions, index = space.heap, space.meta, space.partitions, space.cells
    before = space.work.before[region]
    block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
    at, count = partitions[partition, block + B_AT], partitions[partition, block + B_COUNT]
    number = partition * len(layout.size) + region + 1
    kept, large = before, False
    for k in range(before, count):
        newer = at + k * size
        cell = cell_of(index, -number, hash_of(heap, layout, newer, True))
        if index[cell + I_BLOCK] != 0 and index[cell + I_SLOT] != NOWHERE:
            older = at + index[cell + I_SLOT] * size
            if agree(heap, layout, older, newer, True):
                large |= unite(heap, space.nodes, meta, layout, counting, region, older, newer)
                continue
        slot = at + kept * size
        if kept != k:
            for w in range(size):
                heap[slot + w] = heap[newer + w]
        meta[CELLS] += make_known(index, heap, layout, number, slot, kept, True)
        if layout.indexed[region] >= 0:
            meta[CELLS] += enter(index, heap, number, layout.indexed[region], slot, kept)
        kept += 1
    partitions[partition, block + B_COUNT] = kept
    partitions[partition, L_SLOTS] -= count - kept
    return large


@inlined
def forget_all(index, heap, partition, partitions, layout, region):
    """No slot of a region is found any more."""
    block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
    for k in range(partitions[partition, block + B_COUNT]):
        now_at(index, heap, partitions[partition, block + B_AT] + k * size, NOWHERE)
    if layout.indexed[region] >= 0:
        at, count = partitions[partition, block + B_AT], partitions[partition, block + B_COUNT]
        leave_all(
            index, heap, partition * len(layout.size) + region + 1, layout.indexed[region], at, count, size
        )


@compiled
def enter_everything(index, heap, partitions, layout):
    """Fills an empty index: how many cells were taken."""
    taken = 0
    for partition in range(len(partitions)):
        for region in range(len(layout.size)):
            block, number = L_BLOCKS + region * B_WORDS, partition * len(layout.size) + region + 1
            at, count, size = (
                partitions[partition, block + B_AT],
                partitions[partition, block + B_COUNT],
                layout.size[region],
            )
            if layout.indexed[region] >= 0:
                taken += enter_all(index, heap, number, layout.indexed[region], at, count, size)
            if region == 0:
                continue
            for k in range(count):
                slot = at + k * size
                taken += make_known(index, heap, layout, number, slot, k, True)
    return taken
