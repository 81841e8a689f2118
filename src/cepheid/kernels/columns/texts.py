"""Texts as numbers: which rows of a text column have the same value, eight bytes at a time.

In: Arrow's offsets and bytes. Out: per row the number of its value, numbered as met. Texts of up to eight bytes, as
names of types mostly are, are compared as one word.
"""

from __future__ import annotations

import sys

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from cepheid.kernels.compiled import compiled, inlined
from cepheid.kernels.memory.bits import stay_apart

SLOTS = 4096
_STRIDE = 256  # rows after a long text that are looked at as if there were more of them
MOST_TEXTS = 1024  # distinct ones: few enough for lookups to stay in the nearest cache
_LITTLE = sys.byteorder == "little"
_SHIFT = np.uint64(64 - 12)  # the highest bits of a hash are the number of a slot
_FACTOR = np.uint64(0x9E3779B97F4A7C15)

# A text of up to eight bytes is told apart by its *tag*: its bytes, and in the highest one, where there are fewer than
# eight, what no text in UTF-8 ends with, and the length.
_LONG, EMPTY = np.uint64(0xFF << 56), np.uint64(0xFE << 56)
_LENGTHS = np.array([(0xF0 + n) << 56 if n < 8 else 0 for n in range(9)], np.uint64)
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)


@intrinsic
def load_word(context, data, place):
    """Eight bytes of a byte array from `place` on, as one number, at any address."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        at = builder.gep(array.data, [arguments[1]])
        return builder.load(builder.bitcast(at, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(data, types.int64), generate


@intrinsic
def _load_from(context, address, place):
    """Eight bytes in memory, so many after an address."""

    def generate(context, builder, signature, arguments):
        at = builder.inttoptr(builder.add(*arguments), ir.IntType(64).as_pointer())
        return builder.load(at, align=1)

    return types.uint64(types.int64, types.int64), generate


@inlined
def word_at(data, begin, length):
    """Up to eight bytes from `begin` on as one number."""
    if _LITTLE and begin + 8 <= len(data):
        return load_word(data, begin) & _MASKS[length]
    word = np.uint64(0)
    for i in range(length):
        word |= np.uint64(data[begin + i]) << np.uint64(8 * i)
    return word


@compiled
def same_bytes(data, begin, other, other_begin, length):
    for i in range(0, length, 8):
        n = min(8, length - i)
        if word_at(data, begin + i, n) != word_at(other, other_begin + i, n):
            return False
    return True


@compiled
def hash_rest(data, begin, end, key):
    """A hash of these bytes and of a number, good enough for a table in memory."""
    for k in range(begin, end, 8):
        key = (key ^ word_at(data, k, min(end - k, 8)) ^ (key >> np.uint64(29))) * _FACTOR
    return key


@inlined
def _long_tag(data, begin, length):
    """A hash of a text of more than eight bytes, which others may share."""
    key = np.uint64(length)
    for k in range(begin, begin + length - 8, 8):
        key = (key ^ load_word(data, k) ^ (key >> np.uint64(29))) * _FACTOR
    key = (key ^ load_word(data, begin + length - 8) ^ (key >> np.uint64(29))) * _FACTOR
    return _LONG | key >> np.uint64(8)


@inlined
def _is_at(home, data, begin, length):
    """Whether such a text is the one at an address, of the same length."""
    for k in range(0, length - 8, 8):
        if _load_from(home, k) != load_word(data, begin + k):
            return False
    return _load_from(home, length - 8) == load_word(data, begin + length - 8)


@compiled
def _encode_short(offsets, data, first, slots, tags, out_codes):
    """Numbers texts from a row on as long as they are short and known: the row it stopped at. It is a function of its
    own so that all that the loop needs stays in registers."""
    stay_apart()
    last = len(data) - 8 if _LITTLE else -1
    ends, codes = offsets[first + 1 :], out_codes[first:]
    begin = np.int64(offsets[first])
    for i in range(len(codes)):
        end = np.int64(ends[i])
        length = np.uint64(end - begin)  # a place in a table that is not counted from its end
        if length > 8 or begin > last:
            return first + i
        tag = (load_word(data, begin) & _MASKS[length]) | _LENGTHS[length]
        at = (tag * _FACTOR) >> _SHIFT
        while tags[at] != tag:
            if tags[at] == EMPTY:
                return first + i
            at = (at + np.uint64(1)) & np.uint64(SLOTS - 1)
        codes[i] = slots[at]
        begin = end
    return len(out_codes)


@compiled
def encode_texts(offsets, data, known, slots, tags, homes, lengths, out_codes, out_first):
    """A number for the text of each row: how many are known now, or -1 where they are many.

    So many are `known` already. `tags` and `slots` are the table that finds their numbers; an empty slot has the tag
    EMPTY. `homes` and `lengths` say by number where a text lies. `out_first` gets, of every new number, the row where
    it was met first.
    """
    address = data.ctypes.data
    begin = 0
    while begin < len(out_codes):
        begin = _encode_short(offsets, data, begin, slots, tags, out_codes)
        end = min(begin + _STRIDE, len(out_codes))
        for i in range(begin, end):
            place = np.int64(offsets[i])
            length = np.int64(offsets[i + 1]) - place
            if length > 8:
                tag = _long_tag(data, place, length)
            else:
                tag = word_at(data, place, length) | _LENGTHS[length]
            at = (tag * _FACTOR) >> _SHIFT
            while True:
                code = slots[at]
                if tags[at] == EMPTY:
                    if known == len(out_first):
                        return -1
                    code = known
                    slots[at], tags[at] = code, tag
                    homes[code], lengths[code] = address + place, length
                    out_first[code] = i
                    known += 1
                    break
                if tags[at] == tag and (
                    length <= 8 or (lengths[code] == length and _is_at(homes[code], data, place, length))
                ):
                    break
                at = (at + np.uint64(1)) & np.uint64(SLOTS - 1)
            out_codes[i] = code
        begin = end
    return known
