"""Slots made, found and dropped (see `layout`): in blocks that grow, by start, by what they remember."""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import inlined, inner
from cepheid.kernels.loops.registers.index import enter, enter_all, leave_all
from cepheid.kernels.loops.registers.layout import (
    B_AT,
    B_CAP,
    B_COUNT,
    B_GONE,
    B_WORDS,
    CELLS,
    L_BLOCKS,
    L_HI,
    L_LO,
    L_RING,
    L_RING_CAP,
    L_SLOTS,
    NOWHERE,
    R_SLOT,
    R_START,
    R_WORDS,
    S_CELL,
    S_COLUMNS,
    S_KIND,
    S_ORDINAL,
    S_START,
    STAMP,
    TOP,
)
from cepheid.kernels.loops.registers.merge import now_at
from cepheid.kernels.memory.hashing import mix


@inner
def block_for_one_more(heap, meta, partition, partitions, block, size):
    """The address of a new slot at the end of a block, which is moved to twice the room where it is full."""
    count, cap = partitions[partition, block + B_COUNT], partitions[partition, block + B_CAP]
    if count == cap:
        at = meta[TOP]
        more = max(2 * cap, 2)
        meta[TOP] = at + more * size
        old = partitions[partition, block + B_AT]
        for k in range(count * size):
            heap[at + k] = heap[old + k]
        partitions[partition, block + B_AT] = at
        partitions[partition, block + B_CAP] = more
    partitions[partition, block + B_COUNT] = count + 1
    partitions[partition, L_SLOTS] += 1
    return partitions[partition, block + B_AT] + count * size


@inner
def ring_entry(heap, meta, partition, partitions, start):
    """A new entry at the end of the ring: its ordinal."""
    lo, hi, cap = partitions[partition, L_LO], partitions[partition, L_HI], partitions[partition, L_RING_CAP]
    if hi - lo == cap:
        at = meta[TOP]
        more = max(2 * cap, 2)
        meta[TOP] = at + more * R_WORDS
        old = partitions[partition, L_RING]
        for ordinal in range(lo, hi):
            for w in range(R_WORDS):
                heap[at + (ordinal & (more - 1)) * R_WORDS + w] = heap[
                    old + (ordinal & (cap - 1)) * R_WORDS + w
                ]
        partitions[partition, L_RING] = at
        partitions[partition, L_RING_CAP] = more
        cap = more
    entry = partitions[partition, L_RING] + (hi & (cap - 1)) * R_WORDS
    heap[entry + R_START] = start
    heap[entry + R_SLOT] = NOWHERE
    partitions[partition, L_HI] = hi + 1
    return hi


@inlined
def remember(batch, options, i, heap, at, column):
    """Writes the event at hand as a column."""
    for w in range(options.record):
        heap[at + w] = batch.words[i, w]
    heap[at + options.record] = batch.row[i]
    if column > options.record + 1:
        heap[at + options.record + 1] = batch.position[i]


@inlined
def base_slot(layout, batch, event, options, space, ordinal, like):
    """The address of the slot that remembers only how matches began, made where there is none. `like` is a slot of the
    same start, to take the first column from; -1 where it begins with the event at hand."""
    heap, meta, partitions, partition = space.heap, space.meta, space.partitions, event.partition
    entry = partitions[partition, L_RING] + (ordinal & (partitions[partition, L_RING_CAP] - 1)) * R_WORDS
    size = layout.size[0]
    if heap[entry + R_SLOT] == NOWHERE:
        heap[entry + R_SLOT] = partitions[partition, L_BLOCKS + B_COUNT]
        slot = block_for_one_more(heap, meta, partition, partitions, L_BLOCKS, size)
        heap[slot + S_ORDINAL] = ordinal
        heap[slot + S_START] = heap[entry + R_START]
        heap[slot + S_KIND] = 0
        heap[slot + S_CELL] = NOWHERE
        if like >= 0:
            for w in range(layout.home):
                heap[slot + S_COLUMNS + w] = heap[like + S_COLUMNS + w]
        elif layout.home > 0:
            remember(batch, options, event.i, heap, slot + S_COLUMNS, layout.column)
        for w in range(layout.numbers[0], size):
            heap[slot + w] = 0
        if layout.indexed[0] >= 0:
            block = partition * len(layout.size) + 1
            meta[CELLS] += enter(space.cells, heap, block, layout.indexed[0], slot, heap[entry + R_SLOT])
        return slot
    return partitions[partition, L_BLOCKS + B_AT] + heap[entry + R_SLOT] * size


@inlined
def is_for_goal(heap, layout, goals, goal, slot, like):
    """Whether a slot of a goal's kind and start remembers what the goal takes along from the slot `like`."""
    kind = heap[slot + S_KIND]
    for j in range(goals.origin.shape[1]):
        origin = goals.origin[goal, j]
        if origin >= 0 and heap[slot + layout.keys[kind, j]] != heap[like + origin]:
            return False
    return True


@inner
def other_slot(goals, layout, batch, event, options, space, goal, like):
    """The address of the slot, made by this event, that remembers what a goal takes along from the slot `like` (-1:
    from none). Partial matches that agree share one; with older ones they meet later (`merge`)."""
    heap, meta, partitions, made = space.heap, space.meta, space.partitions, space.made
    partition, state = event.partition, goals.state[goal]
    region, kind = layout.region[state], layout.kind[state]
    ordinal = heap[like + S_ORDINAL] if like >= 0 else 0
    start = heap[like + S_START] if like >= 0 else 0
    key = mix(np.uint64(ordinal) * np.uint64(1 << 20) + np.uint64(kind))
    for j in range(goals.origin.shape[1]):
        if goals.origin[goal, j] >= 0:
            key = mix(key ^ np.uint64(heap[like + goals.origin[goal, j]]))
    mask = len(made) // 3 - 1
    place = np.int64(key & np.uint64(mask))
    block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
    while made[3 * place] == meta[STAMP]:
        if made[3 * place + 1] == kind:
            slot = partitions[partition, block + B_AT] + made[3 * place + 2] * size
            if heap[slot + S_ORDINAL] == ordinal and is_for_goal(heap, layout, goals, goal, slot, like):
                return slot
        place = (place + 1) & mask
    made[3 * place] = meta[STAMP]
    made[3 * place + 1] = kind
    made[3 * place + 2] = partitions[partition, block + B_COUNT]
    slot = block_for_one_more(heap, meta, partition, partitions, block, size)
    heap[slot + S_ORDINAL] = ordinal
    heap[slot + S_START] = start
    heap[slot + S_KIND] = kind
    heap[slot + S_CELL] = NOWHERE
    for w in range(layout.home):
        heap[slot + S_COLUMNS + w] = heap[like + S_COLUMNS + w] if like >= 0 else 0
    for j in range(goals.carry.shape[1]):
        at = slot + S_COLUMNS + layout.home + j * layout.column
        if goals.carry[goal, j] >= 0:
            for w in range(layout.column):
                heap[at + w] = heap[like + goals.carry[goal, j] + w]
        elif goals.carry[goal, j] == -1:
            remember(batch, options, event.i, heap, at, layout.column)
    for w in range(layout.numbers[region], size):
        heap[slot + w] = 0
    return slot


@inlined
def now_in_ring(heap, partitions, partition, slot, number):
    """The ring leads to a slot of region 0 by this number, or with NOWHERE no more."""
    entry = (heap[slot + S_ORDINAL] & (partitions[partition, L_RING_CAP] - 1)) * R_WORDS
    heap[partitions[partition, L_RING] + entry + R_SLOT] = number


@inlined
def drop_slot(layout, space, partition, region, k):
    """Fills the place of slot number k with the last of those that are left of a region; a gap opens behind them, which
    `settle_blocks` closes."""
    heap, partitions, kept = space.heap, space.partitions, space.work.kept
    at, size = partitions[partition, L_BLOCKS + region * B_WORDS + B_AT], layout.size[region]
    slot = at + k * size
    now_at(space.cells, heap, slot, NOWHERE)
    if region == 0 and heap[slot + S_ORDINAL] >= partitions[partition, L_LO]:
        now_in_ring(heap, partitions, partition, slot, NOWHERE)
    kept[region] -= 1
    source = at + kept[region] * size
    if source != slot:
        for w in range(size):
            heap[slot + w] = heap[source + w]
        now_at(space.cells, heap, slot, k)
        if region == 0:
            now_in_ring(heap, partitions, partition, slot, k)


@inner
def settle_blocks(heap, partition, partitions, layout, index, kept, before):
    """Closes the gaps that removed slots have left: a region's slots are `kept` old ones, a gap, then new ones."""
    for region in range(len(kept)):
        if kept[region] == before[region]:
            continue
        block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
        at, count = partitions[partition, block + B_AT], partitions[partition, block + B_COUNT]
        gap = before[region] - kept[region]
        moved = min(gap, count - before[region])
        for k in range(moved):
            source, target = at + (count - 1 - k) * size, at + (kept[region] + k) * size
            for w in range(size):
                heap[target + w] = heap[source + w]
            now_at(index, heap, target, kept[region] + k)
            if region == 0:
                now_in_ring(heap, partitions, partition, target, kept[region] + k)
        partitions[partition, block + B_COUNT] = count - gap
        partitions[partition, L_SLOTS] -= gap


@inner
def purge(heap, partition, partitions, layout, index, region, edge):
    """Drops the slots of a region that began before the edge."""
    block, size = L_BLOCKS + region * B_WORDS, layout.size[region]
    at, count = partitions[partition, block + B_AT], partitions[partition, block + B_COUNT]
    number, word = partition * len(layout.size) + region + 1, layout.indexed[region]
    if word >= 0:
        leave_all(index, heap, number, word, at, count, size)
    kept = 0
    for k in range(count):
        source = at + k * size
        if heap[source + S_START] < edge:
            now_at(index, heap, source, NOWHERE)
            continue
        if k != kept:
            target = at + kept * size
            for w in range(size):
                heap[target + w] = heap[source + w]
            now_at(index, heap, target, kept)
            if region == 0:
                now_in_ring(heap, partitions, partition, target, kept)
        kept += 1
    partitions[partition, block + B_COUNT] = kept
    partitions[partition, block + B_GONE] = 0
    partitions[partition, L_SLOTS] -= count - kept
    if word >= 0:
        enter_all(index, heap, number, word, at, kept, size)
