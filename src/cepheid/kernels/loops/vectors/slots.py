"""Starts and slots of counts (see `layout`): found or made, moved, dropped."""

from __future__ import annotations

from cepheid.kernels.compiled import inlined, inner
from cepheid.kernels.loops.registers.index import cell_of, enter, enter_all, leave_all
from cepheid.kernels.loops.registers.layout import (
    I_BLOCK,
    I_SLOT,
    NEVER,
    NOWHERE,
    S_CELL,
    S_COLUMNS,
    S_KIND,
    S_ORDINAL,
    S_START,
)
from cepheid.kernels.loops.registers.merge import agree, hash_of, make_known, now_at
from cepheid.kernels.loops.registers.slots import remember
from cepheid.kernels.loops.vectors.arithmetic import alive, first_place, give_back, move_vector
from cepheid.kernels.loops.vectors.layout import (
    B_AT,
    B_COUNT,
    B_GONE,
    B_K,
    B_WORDS,
    C_BASE,
    C_BLOCKS,
    C_HI,
    C_LO,
    C_ROOM,
    C_SLOTS,
    C_STARTS,
    C_STARTS_K,
    CELLS,
    STATE_WORDS,
    V_AT,
    V_WORDS,
)
from cepheid.kernels.memory.heap import release, size_class, take

FEWEST_PLACES = 4


@inlined
def record_at(heap, partitions, partition, layout, ordinal):
    """The address of a start's record."""
    return partitions[partition, C_STARTS] + (ordinal - partitions[partition, C_BASE]) * layout.numbers[0]


@inlined
def number_of_block(layout, partition, region):
    """By which the index knows it."""
    return partition * len(layout.size) + region + 1


@inner
def more_slots(heap, meta, partitions, partition, block, size):
    """Room for one more slot in a block."""
    count, at, k = (
        partitions[partition, block + B_COUNT],
        partitions[partition, block + B_AT],
        partitions[partition, block + B_K],
    )
    if at != 0 and (count + 1) * size <= 1 << k:
        return
    new_k = size_class(max(2 * count, 1) * size)
    new = take(heap, meta, new_k)
    for w in range(count * size):
        heap[new + w] = heap[at + w]
    if at != 0:
        release(heap, meta, at, k)
    partitions[partition, block + B_AT] = new
    partitions[partition, block + B_K] = new_k


@inner
def move_places(heap, meta, partitions, partition, layout):
    """Places begin with the first start inside the window, and there is room for one more."""
    count, record = alive(partitions, partition), layout.numbers[0]
    room = FEWEST_PLACES
    while room < 2 * count:
        room *= 2
    starts, first = partitions[partition, C_STARTS], first_place(partitions, partition) * record
    target = starts
    if room != partitions[partition, C_ROOM]:
        k = size_class(room * record)
        target = take(heap, meta, k)
    for w in range(count * record):
        heap[target + w] = heap[starts + first + w]
    if target != starts:
        if starts != 0:
            release(heap, meta, starts, partitions[partition, C_STARTS_K])
        partitions[partition, C_STARTS] = target
        partitions[partition, C_STARTS_K] = k
    for region in range(len(layout.size)):
        block = C_BLOCKS + region * B_WORDS
        for number in range(partitions[partition, block + B_COUNT]):
            slot = partitions[partition, block + B_AT] + number * layout.size[region]
            for state in range(layout.states[region]):
                vector = slot + layout.numbers[region] + state * STATE_WORDS
                if heap[vector + V_AT] != 0:
                    move_vector(heap, meta, partitions, partition, vector, room)
    partitions[partition, C_ROOM] = room
    partitions[partition, C_BASE] = partitions[partition, C_LO]


@inlined
def new_start(layout, batch, i, options, space):
    """A start for the event at hand, for which there is a place: which."""
    heap, meta, partitions, partition = space.heap, space.meta, space.partitions, batch.partition[i]
    if partitions[partition, C_BLOCKS + B_COUNT] == 0:
        more_slots(heap, meta, partitions, partition, C_BLOCKS, layout.size[0])
        for w in range(layout.size[0]):
            heap[partitions[partition, C_BLOCKS + B_AT] + w] = 0
        partitions[partition, C_BLOCKS + B_COUNT] = 1
    ordinal = partitions[partition, C_HI]
    partitions[partition, C_HI] = ordinal + 1
    record = record_at(heap, partitions, partition, layout, ordinal)
    heap[record + S_ORDINAL] = ordinal
    heap[record + S_START] = batch.start[i]
    if layout.home > 0:
        remember(batch, options, i, heap, record + S_COLUMNS, layout.column)
    if layout.indexed[0] >= 0:
        number = number_of_block(layout, partition, 0)
        meta[CELLS] += enter(space.cells, heap, number, layout.indexed[0], record, ordinal)
    return ordinal - partitions[partition, C_BASE]


@inner
def slot_for(goals, layout, batch, i, options, space, goal, region, like):
    """The number of the slot that remembers what a goal takes along from number `like` of a region, made where there is
    none."""
    heap, meta, index = space.heap, space.meta, space.cells
    partitions, partition, reached = space.partitions, batch.partition[i], goals.state[goal]
    other, kind = layout.region[reached], layout.kind[reached]
    block, size = C_BLOCKS + other * B_WORDS, layout.size[other]
    more_slots(heap, meta, partitions, partition, block, size)
    source = partitions[partition, C_BLOCKS + region * B_WORDS + B_AT] + like * layout.size[region]
    count = partitions[partition, block + B_COUNT]
    slot = partitions[partition, block + B_AT] + count * size
    heap[slot + S_ORDINAL] = NEVER
    heap[slot + S_START] = 0
    heap[slot + S_KIND] = kind
    heap[slot + S_CELL] = NOWHERE
    for w in range(layout.home):
        heap[slot + S_COLUMNS + w] = 0
    for j in range(goals.carry.shape[1]):
        at = slot + S_COLUMNS + layout.home + j * layout.column
        if goals.carry[goal, j] >= 0:
            for w in range(layout.column):
                heap[at + w] = heap[source + goals.carry[goal, j] + w]
        elif goals.carry[goal, j] == -1:
            remember(batch, options, i, heap, at, layout.column)
    number = number_of_block(layout, partition, other)
    cell = cell_of(index, -number, hash_of(heap, layout, slot, False))
    if index[cell + I_BLOCK] != 0 and index[cell + I_SLOT] != NOWHERE:
        known = index[cell + I_SLOT]
        if agree(heap, layout, partitions[partition, block + B_AT] + known * size, slot, False):
            return known
    for w in range(layout.numbers[other], size):
        heap[slot + w] = 0
    partitions[partition, block + B_COUNT] = count + 1
    partitions[partition, C_SLOTS] += 1
    meta[CELLS] += make_known(index, heap, layout, number, slot, count, False)
    if layout.indexed[other] >= 0:
        meta[CELLS] += enter(index, heap, number, layout.indexed[other], slot, count)
    return count


@inner
def drop_slots(heap, meta, partitions, partition, layout, index, region):
    """Drops the slots of a region whose starts have all left the window."""
    block, size = C_BLOCKS + region * B_WORDS, layout.size[region]
    at, count, kept = partitions[partition, block + B_AT], partitions[partition, block + B_COUNT], 0
    number, word = number_of_block(layout, partition, region), layout.indexed[region]
    if word >= 0:
        leave_all(index, heap, number, word, at, count, size)
    for k in range(count):
        source, target = at + k * size, at + kept * size
        if heap[source + S_ORDINAL] < partitions[partition, C_LO]:
            now_at(index, heap, source, NOWHERE)
            for vector in range(source + layout.numbers[region], source + size, V_WORDS):
                give_back(heap, meta, partitions, partition, vector)
            continue
        if k != kept:
            for w in range(size):
                heap[target + w] = heap[source + w]
            now_at(index, heap, target, kept)
        kept += 1
    partitions[partition, block + B_COUNT] = kept
    partitions[partition, block + B_GONE] = 0
    partitions[partition, C_SLOTS] -= count - kept
    if word >= 0:
        enter_all(index, heap, number, word, at, kept, size)
