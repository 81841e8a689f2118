"""Exact numbers of any size in flat arrays, for counting matches.

A number is `width` words, lowest first: every word but the top holds 32 bits, the top holds up to 62, so that one word
alone counts to 2⁶² and an addition never loses a carry. `SAFE` is the bound the top word must stay under between two
events: what one event can add to a number below it still fits, and the caller widens before the next.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.interrupts import poll, ticks

BITS = 32
MASK = (1 << BITS) - 1
SAFE = 1 << 46


@inlined
def add(target, at, source, start, width):
    """target[at:] += source[start:]; true when the top word has become large."""
    carry = 0
    for i in range(width - 1):
        word = target[at + i] + source[start + i] + carry
        target[at + i] = word & MASK
        carry = word >> BITS
    top = target[at + width - 1] + source[start + width - 1] + carry
    target[at + width - 1] = top
    return top >= SAFE


@inlined
def is_zero(source, start, width):
    for i in range(width):
        if source[start + i] != 0:
            return False
    return True


@inlined
def _word(source, start, width, i):
    """Word i of a number whose top word is split in two, so that all words hold 32 bits."""
    if i < width - 1:
        return source[start + i]
    if i == width - 1:
        return source[start + i] & MASK
    return source[start + width - 1] >> BITS


@inlined
def add_product(total, a, a_start, b, b_start, width):
    """total += a · b, total being 32-bit words and long enough. Of long numbers this takes long, so that it may be
    interrupted; the sum is of no use then."""
    seen = ticks()
    for i in range(width + 1):
        seen = poll(seen)
        if seen < 0:
            break
        x = _word(a, a_start, width, i)
        if x == 0:
            continue
        carry = np.uint64(0)
        for j in range(width + 1):
            y = _word(b, b_start, width, j)
            word = np.uint64(x) * np.uint64(y) + np.uint64(total[i + j]) + carry
            total[i + j] = np.int64(word & np.uint64(MASK))
            carry = word >> np.uint64(BITS)
        k = i + width + 1
        while carry != np.uint64(0):
            word = np.uint64(total[k]) + carry
            total[k] = np.int64(word & np.uint64(MASK))
            carry = word >> np.uint64(BITS)
            k += 1


@inlined
def add_to(total, source, start, width):
    """total += a number, any of whose words may hold up to 62 bits, total being 32-bit words and long enough."""
    carry = 0
    k = 0
    while k < width or carry != 0:
        word = total[k] + carry
        if k < width:
            word += source[start + k]
        total[k] = word & MASK
        carry = word >> BITS
        k += 1


@compiled
def widen(source, start, width, target, at, new_width):
    """The same number in as many words or more."""
    for i in range(new_width):
        target[at + i] = source[start + i] if i < width else 0
    if new_width > width:
        target[at + width] = target[at + width - 1] >> BITS
        target[at + width - 1] &= MASK


def wider(width: int) -> int:
    """How many words numbers get that have outgrown theirs.

    >>> wider(1), wider(9)
    (3, 18)
    """
    return width + 2 if width < 8 else 2 * width


def to_int(words: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
    """32-bit words, lowest first, as a Python integer."""
    return int.from_bytes(np.asarray(words).astype("<u4").tobytes(), "little")


def from_int(value: int, length: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The 32-bit words of a Python integer."""
    return np.frombuffer(value.to_bytes(4 * length, "little"), "<u4").astype(np.int64)
