"""Texts of a column gathered by row number, up to eight bytes at a time.

In: Arrow's offsets and bytes, and row numbers. Out: the offsets and bytes of the texts in those rows. Arrow's `take`
copies each text by a call, which for short ones costs more than the text.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from cepheid.kernels.columns.texts import load_word
from cepheid.kernels.compiled import compiled

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
def gather_offsets(offsets, rows, out_offsets):
    """`out_offsets`: where the texts of these rows begin when they follow one another. Gives the length of all, which
    may be more than `out_offsets` can tell."""
    at = 0
    out_offsets[0] = 0
    for i in range(len(rows)):
        row = rows[i]
        at += offsets[row + 1] - offsets[row]
        out_offsets[i + 1] = at
    return at


@compiled
def gather_texts(offsets, data, rows, out_offsets, out_data):
    """`out_data`: the texts of these rows, and room for `SPARE` bytes. `out_offsets` is what `gather_offsets` gave."""
    last = len(data) - 8
    for i in range(len(rows)):
        begin, at = offsets[rows[i]], out_offsets[i]
        length = out_offsets[i + 1] - at
        if length <= 8 and begin <= last:
            _store_word(out_data, at, load_word(data, begin))
        else:
            for k in range(length):
                out_data[at + k] = data[begin + k]
