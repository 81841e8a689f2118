"""128-bit hashes of numbers and bytes: the same on every machine, run and cluster.

Two 64-bit streams with different constants; each step is the finaliser of splitmix64.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import compiled, inlined

SEED_LOW = np.uint64(0x9E3779B97F4A7C15)
SEED_HIGH = np.uint64(0xC2B2AE3D27D4EB4F)
_A = np.uint64(0xBF58476D1CE4E5B9)
_B = np.uint64(0x94D049BB133111EB)
_BLOCK = 256  # matches whose hashes stay in the nearest cache
_BYTES, _NIBBLES = np.uint64(0x000000FF000000FF), np.uint64(0x000F000F000F000F)
_ONES, _SIXES, _ZEROS = (np.uint64(digit * 0x0101010101010101) for digit in (1, 6, ord("0")))
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


@compiled
def mix(value):
    value = (value ^ (value >> _30)) * _A
    value = (value ^ (value >> _27)) * _B
    return value ^ (value >> _31)


@compiled
def step(state, value):
    """The hash of a sequence one value longer."""
    return mix(state * _A + (value + SEED_LOW))


@compiled
def hash_words(words, out_low, out_high):
    """A hash per row of a matrix of whole numbers."""
    for i in range(words.shape[0]):
        low, high = SEED_LOW, SEED_HIGH
        for k in range(words.shape[1]):
            low = step(low, np.uint64(words[i, k]))
            high = step(high, np.uint64(words[i, k]))
        out_low[i] = np.int64(low)
        out_high[i] = np.int64(high)


@compiled
def hash_bytes(data, begin, end, seed):
    state = seed
    for i in range(begin, end):
        state = (state ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    return mix(state + np.uint64(end - begin))


@compiled
def hash_events(key_low, key_high, ties, ranks, out_low, out_high):
    """What an event is known by: its partition's key, its time, its rank among that partition's events of the time."""
    for i in range(len(ties)):
        low = step(step(np.uint64(key_low[i]), np.uint64(ties[i])), np.uint64(ranks[i]))
        high = step(step(np.uint64(key_high[i]) + SEED_HIGH, np.uint64(ties[i])), np.uint64(ranks[i]))
        out_low[i] = np.int64(low)
        out_high[i] = np.int64(high)


@inlined
def _digits(number):
    """Eight hexadecimal digits of a number of 32 bits, as bytes from the least significant on."""
    # Each step swaps the halves of every group of bits and moves them apart; at last a byte holds four bits.
    spread = number >> np.uint64(16) | (number & np.uint64(0xFFFF)) << np.uint64(32)
    spread = spread >> np.uint64(8) & _BYTES | (spread & _BYTES) << np.uint64(16)
    spread = spread >> np.uint64(4) & _NIBBLES | (spread & _NIBBLES) << np.uint64(8)
    is_letter = (spread + _SIXES) >> np.uint64(4) & _ONES
    return spread + _ZEROS + (is_letter << np.uint64(5)) + (is_letter << np.uint64(3)) - is_letter


@compiled
def match_ids(offsets, places, event_low, event_high, labels, label_low, label_high, out_digits):
    """32 hexadecimal digits per match, of its events' hashes and labels in stream order.

    Eight digits are one number of `out_digits`, the first in its least significant byte. A block of hashes is made,
    then written as digits: a loop without branches, which the compiler turns into vector instructions.
    """
    for begin in range(0, len(offsets) - 1, _BLOCK):
        end = min(begin + _BLOCK, len(offsets) - 1)
        for m in range(begin, end):
            low, high = SEED_LOW, SEED_HIGH
            for i in range(offsets[m], offsets[m + 1]):
                place, label = places[i], labels[i]
                low = step(low, np.uint64(event_low[place]) + np.uint64(label_low[label]))
                high = step(high, np.uint64(event_high[place]) + np.uint64(label_high[label]))
            out_digits[4 * m] = high >> np.uint64(32)
            out_digits[4 * m + 1] = high & np.uint64(0xFFFFFFFF)
            out_digits[4 * m + 2] = low >> np.uint64(32)
            out_digits[4 * m + 3] = low & np.uint64(0xFFFFFFFF)
        block = out_digits[4 * begin : 4 * end]
        for i in range(len(block)):
            block[i] = _digits(block[i])
