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

SLOTS = 4096
MOST_TEXTS = 1024  # distinct ones: few enough for lookups to stay in the nearest cache
_LITTLE = sys.byteorder == "little"
_SHIFT = np.uint64(64 - 12)  # the highest bits of a hash are the number of a slot
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)


@intrinsic
def _load(context, data, place):
    """Eight bytes of a byte array from `place` on, as one number, at any address."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        at = builder.gep(array.data, [arguments[1]])
        return builder.load(builder.bitcast(at, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(data, types.int64), generate


@inlined
def word_at(data, begin, length):
    """Up to eight bytes from `begin` on as one number."""
    if _LITTLE and begin + 8 <= len(data):
        return _load(data, begin) & _MASKS[length]
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


@compiled
def encode_texts(offsets, data, slots, words, out_codes, out_first):
    """A number for the text of each row, and the row where each was met first: how many, or -1 where they are many.

    `slots` and `words` are scratch of the same length, `slots` all -1; `out_first` has room for the most there may be.
    """
    count = 0
    end = np.int64(offsets[0])
    for i in range(len(offsets) - 1):
        begin = end
        end = np.int64(offsets[i + 1])
        length = end - begin
        short = length if length <= 8 else 9
        word = word_at(data, begin, min(length, 8))
        key = (word ^ np.uint64(length)) * _FACTOR
        if length > 8:
            key = hash_rest(data, begin + 8, end, key)
        at = key >> _SHIFT
        while True:
            code = slots[at]
            if code < 0:
                if count == len(out_first):
                    return -1
                code = (count << 4) | short
                slots[at] = code
                words[at] = word
                out_first[count] = i
                count += 1
                break
            if words[at] == word and (code & 15) == short:
                first = out_first[code >> 4]
                if length <= 8 or (
                    offsets[first + 1] - offsets[first] == length
                    and same_bytes(data, begin + 8, data, offsets[first] + 8, length - 8)
                ):
                    break
            at = (at + np.uint64(1)) & np.uint64(SLOTS - 1)
        out_codes[i] = code >> 4
    return count
