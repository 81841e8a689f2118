"""Ids of matches: 32 hexadecimal digits each, of the hashes of its events and labels in stream order.

In: for each event the place of its two hashes. Out: eight digits in each number of `out_digits`, the first in its least
significant byte. Hashes are made for a block of matches and then written as digits by loops without branches, which the
compiler turns into vector instructions. Where all matches have the same labels so are the hashes themselves: 5 ns
instead of 20 for a match of three events.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.memory.hashing import SEED_HIGH, SEED_LOW, step

BLOCK = 256  # matches whose hashes stay in the nearest cache; `room` has four rows of so many
_BYTES, _NIBBLES = np.uint64(0x000000FF000000FF), np.uint64(0x000F000F000F000F)
_ONES, _SIXES, _ZEROS = (np.uint64(digit * 0x0101010101010101) for digit in (1, 6, ord("0")))


@compiled
def match_ids(offsets, places, event_low, event_high, labels, label_low, label_high, room, out_digits):
    """Of matches of any kind; event i is at `places[i]`."""
    low, high = room[0], room[1]
    for begin in range(0, len(offsets) - 1, BLOCK):
        end = min(begin + BLOCK, len(offsets) - 1)
        for m in range(begin, end):
            lower, higher = SEED_LOW, SEED_HIGH
            for i in range(offsets[m], offsets[m + 1]):
                place, label = places[i], labels[i]
                lower = step(lower, np.uint64(event_low[place]) + np.uint64(label_low[label]))
                higher = step(higher, np.uint64(event_high[place]) + np.uint64(label_high[label]))
            low[m - begin], high[m - begin] = lower, higher
        _write(low, high, out_digits[4 * begin : 4 * end])


@compiled
def sequence_ids(places, event_low, event_high, labels, label_low, label_high, room, out_digits):
    """Of matches whose k-th events are at `places[k]` and have the label `labels[k]`."""
    low, high, low_of_event, high_of_event = room[0], room[1], room[2], room[3]
    for begin in range(0, places.shape[1], BLOCK):
        end = min(begin + BLOCK, places.shape[1])
        low[:] = SEED_LOW
        high[:] = SEED_HIGH
        for k in range(len(places)):
            block = places[k, begin:end]
            for i in range(len(block)):
                low_of_event[i] = np.uint64(event_low[block[i]])
                high_of_event[i] = np.uint64(event_high[block[i]])
            low_of_label, high_of_label = np.uint64(label_low[labels[k]]), np.uint64(label_high[labels[k]])
            # Always for a whole block: behind the last match lies what is hashed and not written.
            for i in range(BLOCK):
                low[i] = step(low[i], low_of_event[i] + low_of_label)
            for i in range(BLOCK):
                high[i] = step(high[i], high_of_event[i] + high_of_label)
        _write(low, high, out_digits[4 * begin : 4 * end])


@inlined
def _write(low, high, out_digits):
    for i in range(len(out_digits) // 4):
        out_digits[4 * i] = high[i] >> np.uint64(32)
        out_digits[4 * i + 1] = high[i] & np.uint64(0xFFFFFFFF)
        out_digits[4 * i + 2] = low[i] >> np.uint64(32)
        out_digits[4 * i + 3] = low[i] & np.uint64(0xFFFFFFFF)
    for i in range(len(out_digits)):
        out_digits[i] = _digits(out_digits[i])


@inlined
def _digits(number):
    """Eight hexadecimal digits of a number of 32 bits, as bytes from the least significant on."""
    # Each step swaps the halves of every group of bits and moves them apart; at last a byte holds four bits.
    spread = number >> np.uint64(16) | (number & np.uint64(0xFFFF)) << np.uint64(32)
    spread = spread >> np.uint64(8) & _BYTES | (spread & _BYTES) << np.uint64(16)
    spread = spread >> np.uint64(4) & _NIBBLES | (spread & _NIBBLES) << np.uint64(8)
    is_letter = (spread + _SIXES) >> np.uint64(4) & _ONES
    return spread + _ZEROS + (is_letter << np.uint64(5)) + (is_letter << np.uint64(3)) - is_letter
