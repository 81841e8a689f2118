"""Copying what lives of counts (see `layout`): starts inside the window, slots that have any, their vectors.

Used where the heap is full, where states were added, and where partitions are forgotten.
"""

from __future__ import annotations

from cepheid.kernels.compiled import compiled, inner
from cepheid.kernels.loops.registers.index import enter, enter_all
from cepheid.kernels.loops.registers.layout import S_ORDINAL, S_START
from cepheid.kernels.loops.registers.merge import make_known
from cepheid.kernels.loops.vectors.arithmetic import used_bits
from cepheid.kernels.loops.vectors.layout import (
    B_AT,
    B_COUNT,
    B_K,
    B_WORDS,
    C_BASE,
    C_BLOCKS,
    C_EDGE,
    C_HELD,
    C_HI,
    C_LO,
    C_ROOM,
    C_ROOT,
    C_SLOTS,
    C_STARTS,
    C_STARTS_K,
    STATE_WORDS,
    V_AT,
    V_BITS,
    V_K,
    V_LENGTH,
    WIDEST,
)
from cepheid.kernels.loops.vectors.slots import FEWEST_PLACES, number_of_block, record_at
from cepheid.kernels.memory.heap import room_for, size_class, take


@inner
def _first_alive(heap, partitions, partition, layout, edge):
    """The ordinal of the first start inside the window."""
    border, ordinal = max(edge, partitions[partition, C_EDGE]), partitions[partition, C_LO]
    while (
        ordinal < partitions[partition, C_HI]
        and heap[record_at(heap, partitions, partition, layout, ordinal) + S_START] < border
    ):
        ordinal += 1
    return ordinal


@inner
def _places(count):
    """Room for so many starts."""
    room = FEWEST_PLACES
    while room < count:
        room *= 2
    return room


@compiled
def measure(heap, partitions, kept, layout, new, edge):
    """No fewer words than `copy` needs for these partitions."""
    words = 1
    for partition in kept:
        count = partitions[partition, C_HI] - _first_alive(heap, partitions, partition, layout, edge)
        if count == 0:
            continue
        room = _places(count)
        words += room_for(room * layout.numbers[0])
        for region in range(len(layout.size)):
            block = C_BLOCKS + region * B_WORDS
            words += room_for(partitions[partition, block + B_COUNT] * new.size[region])
            for k in range(partitions[partition, block + B_COUNT]):
                vector = (
                    partitions[partition, block + B_AT] + k * layout.size[region] + layout.numbers[region]
                )
                for _ in range(layout.states[region]):
                    words += room_for(heap[vector + V_LENGTH] * room) if heap[vector + V_AT] != 0 else 0
                    vector += STATE_WORDS
    return words


@inner
def _copy_vector(heap, vector, first, count, old, out_heap, out_meta, target, room):
    """Copies a vector from place `first` on, without top words that are 0: the words of its block."""
    at, length = heap[vector + V_AT], heap[vector + V_LENGTH]
    while length > 0 and used_bits(heap, at + (length - 1) * old + first, count) == 0:
        length -= 1
    if length == 0:
        return 0
    k = size_class(length * room)
    to = take(out_heap, out_meta, k)
    for w in range(length):
        for p in range(count):
            out_heap[to + w * room + p] = heap[at + w * old + first + p]
        for p in range(count, room):
            out_heap[to + w * room + p] = 0
    out_heap[target + V_AT] = to
    out_heap[target + V_K] = k
    out_heap[target + V_LENGTH] = length
    out_heap[target + V_BITS] = heap[vector + V_BITS]
    out_meta[WIDEST] = max(out_meta[WIDEST], length)
    return 1 << k


@compiled
def copy(heap, partitions, kept, layout, new, edge, out_heap, out_meta, out_partitions):
    """Copies the living part of these partitions, in this order, in the new layout. States keep their places in their
    regions and new ones come after them."""
    for number in range(len(kept)):
        partition = kept[number]
        low, high = _first_alive(heap, partitions, partition, layout, edge), partitions[partition, C_HI]
        for word in (C_ROOT, C_EDGE, C_HI):
            out_partitions[number, word] = partitions[partition, word]
        out_partitions[number, C_BASE] = low
        out_partitions[number, C_LO] = low
        count, record, old = high - low, layout.numbers[0], partitions[partition, C_ROOM]
        if count == 0:
            continue
        room, first = _places(count), low - partitions[partition, C_BASE]
        out_partitions[number, C_ROOM] = room
        out_partitions[number, C_STARTS_K] = size_class(room * record)
        out_partitions[number, C_STARTS] = take(out_heap, out_meta, out_partitions[number, C_STARTS_K])
        for w in range(count * record):
            out_heap[out_partitions[number, C_STARTS] + w] = heap[
                partitions[partition, C_STARTS] + first * record + w
            ]
        for region in range(len(layout.size)):
            block, size, new_size = C_BLOCKS + region * B_WORDS, layout.size[region], new.size[region]
            slots = 0
            for k in range(partitions[partition, block + B_COUNT]):
                slots += (
                    region == 0 or heap[partitions[partition, block + B_AT] + k * size + S_ORDINAL] >= low
                )
            if slots == 0:
                continue
            out_partitions[number, block + B_K] = size_class(slots * new_size)
            out_partitions[number, block + B_AT] = take(
                out_heap, out_meta, out_partitions[number, block + B_K]
            )
            out_partitions[number, block + B_COUNT] = slots
            out_partitions[number, C_SLOTS] += slots if region > 0 else 0
            target = out_partitions[number, block + B_AT]
            for k in range(partitions[partition, block + B_COUNT]):
                source = partitions[partition, block + B_AT] + k * size
                if region > 0 and heap[source + S_ORDINAL] < low:
                    continue
                for w in range(new_size):
                    out_heap[target + w] = heap[source + w] if w < layout.numbers[region] else 0
                for state in range(layout.states[region]):
                    at = layout.numbers[region] + state * STATE_WORDS
                    if heap[source + at + V_AT] != 0:
                        out_partitions[number, C_HELD] += _copy_vector(
                            heap, source + at, first, count, old, out_heap, out_meta, target + at, room
                        )
                target += new_size


@compiled
def enter_everything(index, heap, partitions, layout):
    """Fills an empty index: how many cells were taken."""
    taken = 0
    for partition in range(len(partitions)):
        if layout.indexed[0] >= 0:
            for ordinal in range(partitions[partition, C_LO], partitions[partition, C_HI]):
                record = record_at(heap, partitions, partition, layout, ordinal)
                taken += enter(
                    index, heap, number_of_block(layout, partition, 0), layout.indexed[0], record, ordinal
                )
        for region in range(1, len(layout.size)):
            block, number = C_BLOCKS + region * B_WORDS, number_of_block(layout, partition, region)
            at, count, size = (
                partitions[partition, block + B_AT],
                partitions[partition, block + B_COUNT],
                layout.size[region],
            )
            for k in range(count):
                taken += make_known(index, heap, layout, number, at + k * size, k, False)
            if layout.indexed[region] >= 0:
                taken += enter_all(index, heap, number, layout.indexed[region], at, count, size)
    return taken
