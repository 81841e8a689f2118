"""Columns gathered by row number: values of eight bytes, and texts eight bytes at a time.

In: Arrow's buffers, and row numbers without a sign, which need no check for negative ones. Out: the buffers of the
values in those rows. Arrow's `take` is half as fast for numbers, and copies each text by a call, which for short ones
costs more than the text.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from cepheid.kernels.columns.texts import load_word
from cepheid.kernels.compiled import compiled, inner

SPARE = 8  # bytes that `gather_texts` may write behind the last text


@intrinsic
def _store_word(context, data, place, word):
    """Writes eight bytes of a byte array from `place` on, at any address."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        at = builder.gep(array.data, [arguments[1]])
        builder.store(arguments[2], builder.bitcast(at, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, types.uint64), generate


@compiled
def gather_values(values, rows, out_values):
    for i in range(len(rows)):
        out_values[i] = values[rows[i]]


@compiled
def gather_offsets(offsets, rows, out_offsets):
    """`out_offsets`: where the texts of these rows begin when they follow one another. Gives the length of all, which
    may be more than `out_offsets` can tell."""
    at = 0
    out_offsets[0] = 0
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        at += offsets[row + np.uint64(1)] - offsets[row]
        out_offsets[i + 1] = at
    return at


@compiled
def gather_texts(offsets, data, rows, out_offsets, out_data):
    """`out_data`: the texts of these rows, and room for `SPARE` bytes. `out_offsets` is what `gather_offsets` gave."""
    last = len(data) - 8  # where the last word begins
    longest = 0
    for i in range(len(rows)):
        longest = max(longest, out_offsets[i + 1] - out_offsets[i])
    for i in range(len(rows)):
        begin, at = offsets[rows[i]], out_offsets[i]
        if longest <= 8 and begin <= last:
            _store_word(out_data, at, load_word(data, begin))
        else:
            _copy(data, begin, out_data, at, out_offsets[i + 1] - at)


@inner
def _copy(data, begin, out_data, at, length):
    words = length - length % 8
    for k in range(0, words, 8):
        _store_word(out_data, at + k, load_word(data, begin + k))
    for k in range(words, length):
        out_data[at + k] = data[begin + k]
