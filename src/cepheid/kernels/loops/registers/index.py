"""Walks over slots: in the order of a block, or by the index of one of their words, newest first (see `layout`)."""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import inlined, inner
from cepheid.kernels.loops.registers.layout import I_BLOCK, I_SLOT, I_WORD, I_WORDS, NOWHERE, S_NEXT, S_START
from cepheid.kernels.memory.bits import stay_apart
from cepheid.kernels.memory.hashing import mix


@inlined
def cell_of(index, block, word):
    """Where the cell of a block and word is, or the free one where it would be."""
    mask = len(index) // I_WORDS - 1
    place = np.int64(mix(np.uint64(word) + mix(np.uint64(block))) & np.uint64(mask))
    while index[place * I_WORDS + I_BLOCK] != 0 and (
        index[place * I_WORDS + I_BLOCK] != block or index[place * I_WORDS + I_WORD] != word
    ):
        place = (place + 1) & mask
    return place * I_WORDS


@inlined
def newest(index, block, word):
    """The newest slot with a word, or NOWHERE."""
    cell = cell_of(index, block, word)
    return index[cell + I_SLOT] if index[cell + I_BLOCK] != 0 else NOWHERE


@inlined
def alive_from(heap, at, size, k, count, edge):
    """The first of a block's slots from number k on that began no earlier than the edge, or `count`."""
    if k < count and heap[at + k * size + S_START] < edge:
        return after_dead(heap, at, size, k + 1, count, edge)
    return k


@inner
def after_dead(heap, at, size, k, count, edge):
    """The same where many in a row have left the window, as is common: a loop of its own, all in registers."""
    stay_apart()
    while k < count and heap[at + k * size + S_START] < edge:
        k += 1
    return k


@inlined
def next_listed(heap, at, size, k, edge, is_ordered):
    """The first of a list's slots from number k on that began no earlier than the edge, or NOWHERE, and how many that
    had left the window were met. `is_ordered`: those after one that began earlier did so, too."""
    gone = 0
    while k >= 0 and heap[at + k * size + S_START] < edge:
        gone += 1
        k = NOWHERE if is_ordered else heap[at + k * size + S_NEXT]
    return k, gone


@inner
def enter(index, heap, block, word_at, slot, number):
    """Enters a slot under its word: how many cells were taken for it."""
    cell = cell_of(index, block, heap[slot + word_at])
    taken = 0
    if index[cell + I_BLOCK] == 0:
        index[cell + I_BLOCK] = block
        index[cell + I_WORD] = heap[slot + word_at]
        index[cell + I_SLOT] = NOWHERE
        taken = 1
    heap[slot + S_NEXT] = index[cell + I_SLOT]
    index[cell + I_SLOT] = number
    return taken


@inner
def leave_all(index, heap, block, word_at, at, count, size):
    """None of the slots of a block is found any more."""
    for k in range(count):
        index[cell_of(index, block, heap[at + k * size + word_at]) + I_SLOT] = NOWHERE


@inner
def enter_all(index, heap, block, word_at, at, count, size):
    """Enters the slots of a block: how many cells were taken."""
    taken = 0
    for k in range(count):
        taken += enter(index, heap, block, word_at, at + k * size, k)
    return taken
