"""Answers to questions that kernels cannot work out, each asked of Python once per distinct combination of values.

In: the address of a *control*, and of the values that a question is about, a tag and a word each. Out: the answer, a
tag and a word. Answers lie in cells, found by a hash of the values; where one is missing, the Python object whose
address the control has is asked, which puts it there, and may move the cells or empty them first.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.conditions.values import NULL
from cepheid.kernels.interrupts import ask
from cepheid.kernels.memory.bits import word_from
from cepheid.kernels.memory.hashing import SEED_LOW, step

# words of a control: the addresses of the Python object and of the cells, the number of cells, words of a key
A_SELF, A_CELLS, A_COUNT, A_KEY, A_FIELDS = range(5)

# words of a cell: whether it is taken, tag and word of the answer, the key
USED, TAG, WORD, KEY = range(4)


@inlined
def _hash(address, first, words):
    found = SEED_LOW
    for k in range(words):
        found = step(found, np.uint64(word_from(address, first + k)))
    return np.int64(found >> np.uint64(1))


@inlined
def _place(control, address, first):
    """The cell of a key, or the free one where it belongs; there always is one."""
    words, cells, count = word_from(control, A_KEY), word_from(control, A_CELLS), word_from(control, A_COUNT)
    size = KEY + words
    place = _hash(address, first, words) & (count - 1)
    while word_from(cells, place * size + USED) != 0:
        same = 0
        while same < words and (
            word_from(cells, place * size + KEY + same) == word_from(address, first + same)
        ):
            same += 1
        if same == words:
            break
        place = (place + 1) & (count - 1)
    return place * size


@compiled
def answer(control, address, first):
    """The answer for the key that is `first` words after an address; NULL where Python failed to give one, and then the
    kernel is to return."""
    at = _place(control, address, first)
    if word_from(word_from(control, A_CELLS), at + USED) == 0:
        if ask(word_from(control, A_SELF), address + 8 * first) != 0:
            return NULL, 0
        at = _place(control, address, first)
    cells = word_from(control, A_CELLS)
    return word_from(cells, at + TAG), word_from(cells, at + WORD)


@compiled
def put_answers(control, keys, given, cells):
    """Puts answers (tag and word) to keys, a row each, into their cells; how many of them were new."""
    new = 0
    for i in range(len(keys)):
        at = _place(control.ctypes.data, keys.ctypes.data, i * keys.shape[1])
        if cells[at + USED] == 0:
            new += 1
            cells[at + USED] = 1
            cells[at + TAG], cells[at + WORD] = given[i, 0], given[i, 1]
            for k in range(keys.shape[1]):
                cells[at + KEY + k] = keys[i, k]
    return new
