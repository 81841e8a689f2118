"""The index of slots by one of their words: newest first (see `layout`)."""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import inner, inner_inlined
from cepheid.kernels.loops.registers.layout import I_BLOCK, I_SLOT, I_WORD, I_WORDS, NOWHERE, S_NEXT
from cepheid.kernels.memory.hashing import mix


@inner_inlined
def cell_of(index, block, word):
    """Where the cell of a block and word is, or the free one where it would be."""
    mask = len(index) // I_WORDS - 1
    place = np.int64(mix(np.uint64(word) + mix(np.uint64(block))) & np.uint64(mask))
    while index[place * I_WORDS + I_BLOCK] != 0 and (
        index[place * I_WORDS + I_BLOCK] != block or index[place * I_WORDS + I_WORD] != word
    ):
        place = (place + 1) & mask
    return place * I_WORDS


@inner_inlined
def newest(index, block, word):
    """The newest slot with a word, or NOWHERE."""
    cell = cell_of(index, block, word)
    return index[cell + I_SLOT] if index[cell + I_BLOCK] != 0 else NOWHERE


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
