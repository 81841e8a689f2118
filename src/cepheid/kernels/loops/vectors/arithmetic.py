"""Arithmetic of vectors (see `layout`): a vector is given by the address of its four words.

Loops run over slices: an index into a slice is seen not to be negative, and only then are several words added at once.
"""

from __future__ import annotations

from cepheid.kernels.compiled import inlined, inner
from cepheid.kernels.loops.vectors.layout import (
    C_BASE,
    C_HELD,
    C_HI,
    C_LO,
    C_ROOM,
    V_AT,
    V_BITS,
    V_K,
    V_LENGTH,
    V_WORDS,
    WIDEST,
)
from cepheid.kernels.memory.big_integers import BITS, MASK
from cepheid.kernels.memory.heap import release, size_class, take

LOOSE_BITS = 62
_ROOMY_BITS = 48  # a top word that is shorter is left as it is


@inlined
def first_place(partitions, partition):
    """The place of the first start inside the window."""
    return partitions[partition, C_LO] - partitions[partition, C_BASE]


@inlined
def alive(partitions, partition):
    """How many starts are inside the window."""
    return partitions[partition, C_HI] - partitions[partition, C_LO]


@inlined
def bit_length(word):
    bits = 0
    while word >> bits != 0:
        bits += 1
    return bits


@inner
def copy_row(heap, target, source, count):
    ours, theirs = heap[target : target + count], heap[source : source + count]
    for p in range(count):
        ours[p] = theirs[p]


@inner
def clear_row(heap, at, count):
    row = heap[at : at + count]
    for p in range(count):
        row[p] = 0


@inner
def used_bits(heap, at, count):
    """The bits that any of these words has."""
    row = heap[at : at + count]
    bits = 0
    for p in range(count):
        bits |= row[p]
    return bits


@inner
def give_back(heap, meta, partitions, partition, vector):
    """All its numbers are 0 from now on."""
    if heap[vector + V_AT] != 0:
        release(heap, meta, heap[vector + V_AT], heap[vector + V_K])
        partitions[partition, C_HELD] -= 1 << heap[vector + V_K]
    for w in range(V_WORDS):
        heap[vector + w] = 0


@inner
def lengthen(heap, meta, partitions, partition, vector, length):
    """Gives numbers at least so many words."""
    room, old = partitions[partition, C_ROOM], heap[vector + V_LENGTH]
    if length <= old:
        return
    k = size_class(length * room)
    if heap[vector + V_AT] == 0 or k > heap[vector + V_K]:
        at = take(heap, meta, k)
        if heap[vector + V_AT] != 0:
            copy_row(heap, at, heap[vector + V_AT], old * room)
            release(heap, meta, heap[vector + V_AT], heap[vector + V_K])
            partitions[partition, C_HELD] -= 1 << heap[vector + V_K]
        partitions[partition, C_HELD] += 1 << k
        heap[vector + V_AT] = at
        heap[vector + V_K] = k
    clear_row(heap, heap[vector + V_AT] + old * room, (length - old) * room)
    heap[vector + V_LENGTH] = length
    meta[WIDEST] = max(meta[WIDEST], length)


@inner
def make_exact(heap, meta, partitions, partition, vector):
    """Carries what exceeds 32 bits into the next words; a top word that is large, too."""
    room, count = partitions[partition, C_ROOM], alive(partitions, partition)
    length = heap[vector + V_LENGTH]
    w = 0
    while w < length:
        at = heap[vector + V_AT] + w * room + first_place(partitions, partition)
        if w == length - 1:
            top = bit_length(used_bits(heap, at, count))
            if top <= _ROOMY_BITS:
                heap[vector + V_BITS] = max(top, BITS) if length > 1 else top
                return
            length += 1
            lengthen(heap, meta, partitions, partition, vector, length)
            at = heap[vector + V_AT] + w * room + first_place(partitions, partition)
        low, high = heap[at : at + count], heap[at + room : at + room + count]
        for p in range(count):
            high[p] += low[p] >> BITS
            low[p] &= MASK
        w += 1


@inner
def add_row(heap, target, source, count):
    ours, theirs = heap[target : target + count], heap[source : source + count]
    if target == source:
        for p in range(count):
            ours[p] += ours[p]
    else:
        for p in range(count):
            ours[p] += theirs[p]


@inner
def add_masked_row(heap, target, source, count, mask):
    ours, theirs = heap[target : target + count], heap[source : source + count]
    if target == source:
        for p in range(count):
            ours[p] += ours[p] & mask[p]
    else:
        for p in range(count):
            ours[p] += theirs[p] & mask[p]


@inlined
def make_alike(heap, meta, partitions, partition, target, source):
    """So that one vector, or a number of it, can be added to another: how many words per number there are to add."""
    if heap[source + V_BITS] >= LOOSE_BITS:
        make_exact(heap, meta, partitions, partition, source)
    if heap[target + V_BITS] >= LOOSE_BITS:
        make_exact(heap, meta, partitions, partition, target)
    if heap[target + V_LENGTH] < heap[source + V_LENGTH]:
        lengthen(heap, meta, partitions, partition, target, heap[source + V_LENGTH])
    return heap[source + V_LENGTH]


@inlined
def add_vector(heap, meta, partitions, partition, target, source, mask, is_masked):
    """Adds one vector to another, or to itself, where the mask is set."""
    length = make_alike(heap, meta, partitions, partition, target, source)
    room, count, first = (
        partitions[partition, C_ROOM],
        alive(partitions, partition),
        first_place(partitions, partition),
    )
    to, of = heap[target + V_AT] + first, heap[source + V_AT] + first
    for w in range(length):
        if is_masked:
            add_masked_row(heap, to + w * room, of + w * room, count, mask)
        else:
            add_row(heap, to + w * room, of + w * room, count)
    heap[target + V_BITS] = 1 + max(heap[target + V_BITS], heap[source + V_BITS])


@inner
def take_away(heap, partitions, partition, vector, mask, is_masked):
    """Numbers become 0 where the mask is set."""
    room, count, first = (
        partitions[partition, C_ROOM],
        alive(partitions, partition),
        first_place(partitions, partition),
    )
    for w in range(heap[vector + V_LENGTH]):
        at = heap[vector + V_AT] + w * room + first
        row = heap[at : at + count]
        if is_masked:
            some = mask[:count]
            for p in range(count):
                row[p] &= ~some[p]
        else:
            for p in range(count):
                row[p] = 0


@inner
def add_number(heap, meta, partitions, partition, target, source, place):
    """Adds one number of a vector to the same of another, or to itself."""
    length, room = (
        make_alike(heap, meta, partitions, partition, target, source),
        partitions[partition, C_ROOM],
    )
    bits = heap[target + V_BITS]
    for w in range(length):
        at = heap[target + V_AT] + w * room + place
        heap[at] += heap[heap[source + V_AT] + w * room + place]
        while heap[at] >> bits != 0:
            bits += 1
    heap[target + V_BITS] = bits


@inlined
def add_one(heap, meta, partitions, partition, target, place):
    """Adds 1 to a number."""
    if heap[target + V_BITS] >= LOOSE_BITS:
        make_exact(heap, meta, partitions, partition, target)
    if heap[target + V_AT] == 0:
        lengthen(heap, meta, partitions, partition, target, 1)
    at = heap[target + V_AT] + place
    heap[at] += 1
    while heap[at] >> heap[target + V_BITS] != 0:
        heap[target + V_BITS] += 1


@inlined
def is_zero_at(heap, partitions, partition, vector, place):
    for w in range(heap[vector + V_LENGTH]):
        if heap[heap[vector + V_AT] + w * partitions[partition, C_ROOM] + place] != 0:
            return False
    return True


@inner
def is_all_zero(heap, partitions, partition, vector):
    """Of the starts inside the window."""
    room, count = partitions[partition, C_ROOM], alive(partitions, partition)
    at = heap[vector + V_AT] + first_place(partitions, partition)
    for w in range(heap[vector + V_LENGTH]):
        if used_bits(heap, at + w * room, count) != 0:
            return False
    return True


@inner
def sum_of_row(heap, at, count, mask, is_masked):
    """What the lower 32 bits of words come to, and the others."""
    row = heap[at : at + count]
    low, high = 0, 0
    if is_masked:
        for p in range(count):
            low += row[p] & mask[p] & MASK
            high += (row[p] & mask[p]) >> BITS
    else:
        for p in range(count):
            low += row[p] & MASK
            high += row[p] >> BITS
    return low, high


@inlined
def add_sum(heap, partitions, partition, vector, mask, is_masked, out_sums):
    """The sum of all numbers, or of those where the mask is set, word by word."""
    room, count = partitions[partition, C_ROOM], alive(partitions, partition)
    at = heap[vector + V_AT] + first_place(partitions, partition)
    for w in range(heap[vector + V_LENGTH]):
        low, high = sum_of_row(heap, at + w * room, count, mask, is_masked)
        out_sums[w] += low
        out_sums[w + 1] += high


@inner
def add_number_to_sum(heap, partitions, partition, vector, place, out_sums):
    for w in range(heap[vector + V_LENGTH]):
        word = heap[heap[vector + V_AT] + w * partitions[partition, C_ROOM] + place]
        out_sums[w] += word & MASK
        out_sums[w + 1] += word >> BITS


@inner
def move_vector(heap, meta, partitions, partition, vector, room):
    """Its numbers inside the window at places from 0 on, with room for so many; in place where the room is the same.
    What is zero everywhere is given back, and so are top words that are."""
    old, count, first = (
        partitions[partition, C_ROOM],
        alive(partitions, partition),
        first_place(partitions, partition),
    )
    at, length = heap[vector + V_AT], heap[vector + V_LENGTH]
    while length > 0 and used_bits(heap, at + (length - 1) * old + first, count) == 0:
        length -= 1
    if length == 0:
        give_back(heap, meta, partitions, partition, vector)
        return
    target, k = at, size_class(length * room)
    if room != old or k != heap[vector + V_K]:
        target = take(heap, meta, k)
    for w in range(length):
        copy_row(heap, target + w * room, at + w * old + first, count)
        clear_row(heap, target + w * room + count, room - count)
    if target != at:
        release(heap, meta, at, heap[vector + V_K])
        partitions[partition, C_HELD] += (1 << k) - (1 << heap[vector + V_K])
        heap[vector + V_AT] = target
        heap[vector + V_K] = k
    heap[vector + V_LENGTH] = length
