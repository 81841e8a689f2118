"""Numbering distinct keys: open addressing over flat arrays, carried from batch to batch.

`slots` holds 1 + the number of a key, 0 where free; its length is a power of two, and the caller keeps it at least
twice the number of keys. Both loops stop where that would be broken and can be called again from there.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.columns.texts import hash_rest, same_bytes
from cepheid.kernels.compiled import allocating, compiled
from cepheid.kernels.memory.hashing import SEED_HIGH, SEED_LOW, hash_bytes, mix, step

_AHEAD = 32  # rows


@compiled
def hash_row(words, i):
    state = SEED_LOW
    for k in range(words.shape[1]):
        state = step(state, np.uint64(words[i, k]))
    return state


@allocating
def intern_words(words, begin, slots, keys, count, out_numbers, out_first):
    """Numbers the rows of `words` from `begin`; new ones are added to `keys`: (where it stopped, count).

    `out_first` gets the rows at which new ones were met, from its beginning. Slots and keys of some rows ahead are
    looked at before they are needed, so that waiting for them overlaps.
    """
    before = count
    mask = np.uint64(len(slots) - 1)
    place = np.empty(_AHEAD, np.uint64)
    seen = 0
    for base in range(begin, len(words), _AHEAD):
        end = min(base + _AHEAD, len(words))
        for i in range(base, end):
            at = hash_row(words, i) & mask
            place[i - base] = at
            seen ^= slots[at]
        for i in range(base, end):
            seen ^= keys[max(slots[place[i - base]] - 1, 0), 0]
        for i in range(base, end):
            at = place[i - base]
            while True:
                number = slots[at] - 1
                if number < 0:
                    if count >= len(keys) or 2 * (count + 1) > len(slots):
                        return i, count, seen
                    for word in range(words.shape[1]):
                        keys[count, word] = words[i, word]
                    slots[at] = count + 1
                    out_numbers[i] = count
                    out_first[count - before] = i
                    count += 1
                    break
                same = True
                for k in range(words.shape[1]):
                    same = same and keys[number, k] == words[i, k]
                if same:
                    out_numbers[i] = number
                    break
                at = (at + np.uint64(1)) & mask
    return len(words), count, seen


@compiled
def rehash_words(keys, count, slots):
    mask = np.uint64(len(slots) - 1)
    for number in range(count):
        at = hash_row(keys, number) & mask
        while slots[at] != 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = number + 1


@compiled
def intern_texts(offsets, data, begin, slots, ends, store, count, out_numbers):
    """The same for byte strings; string n of the store is store[ends[n]:ends[n+1]]: (where it stopped, count)."""
    mask = np.uint64(len(slots) - 1)
    for i in range(begin, len(offsets) - 1):
        length = offsets[i + 1] - offsets[i]
        at = slot_of(data, offsets[i], offsets[i + 1]) & mask
        while True:
            number = slots[at] - 1
            if number < 0:
                full = count + 1 >= len(ends) or 2 * (count + 1) > len(slots)
                if full or ends[count] + length > len(store):
                    return i, count
                for k in range(length):
                    store[ends[count] + k] = data[offsets[i] + k]
                ends[count + 1] = ends[count] + length
                slots[at] = count + 1
                out_numbers[i] = count
                count += 1
                break
            if ends[number + 1] - ends[number] == length and same_bytes(
                store, ends[number], data, offsets[i], length
            ):
                out_numbers[i] = number
                break
            at = (at + np.uint64(1)) & mask
    return len(offsets) - 1, count


@compiled
def slot_of(data, begin, end):
    return mix(hash_rest(data, begin, end, np.uint64(end - begin)))


@compiled
def rehash_texts(ends, store, count, slots):
    mask = np.uint64(len(slots) - 1)
    for number in range(count):
        at = slot_of(store, ends[number], ends[number + 1]) & mask
        while slots[at] != 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = number + 1


@compiled
def hash_texts(ends, store, begin, end, out_low, out_high):
    """Content hashes of strings `begin` to `end` of a store."""
    for number in range(begin, end):
        out_low[number] = np.int64(hash_bytes(store, ends[number], ends[number + 1], SEED_LOW))
        out_high[number] = np.int64(hash_bytes(store, ends[number], ends[number + 1], SEED_HIGH))
