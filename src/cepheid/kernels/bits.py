"""Words of 64 bits read as other numbers: doubles by their bits, and sums and products that may need more bits."""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils
from numba.core.types import boolean, float64, int64
from numba.core.types.containers import UniTuple
from numba.extending import intrinsic

from cepheid.kernels.compiled import inlined


@intrinsic
def as_real(context, word):
    """The double that has these bits."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return float64(int64), generate


@intrinsic
def as_word(context, real):
    """The bits of a double."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return int64(float64), generate


def _wide(combine):
    """An operation of two words in 128 bits: its (high, low) words. A word whose flag is set has no sign."""

    @intrinsic
    def operation(context, one, one_unsigned, other, other_unsigned):
        def generate(context, builder, signature, arguments):
            wide = ir.IntType(128)

            def widened(word, unsigned):
                return builder.select(unsigned, builder.zext(word, wide), builder.sext(word, wide))

            flags = [builder.trunc(flag, ir.IntType(1)) for flag in (arguments[1], arguments[3])]
            result = combine(builder, widened(arguments[0], flags[0]), widened(arguments[2], flags[1]))
            high = builder.trunc(builder.lshr(result, ir.Constant(wide, 64)), ir.IntType(64))
            return cgutils.pack_array(builder, [high, builder.trunc(result, ir.IntType(64))])

        return UniTuple(int64, 2)(int64, boolean, int64, boolean), generate

    return operation


wide_add = _wide(lambda builder, one, other: builder.add(one, other))
wide_subtract = _wide(lambda builder, one, other: builder.sub(one, other))
wide_multiply = _wide(lambda builder, one, other: builder.mul(one, other))


@inlined
def fits(high, low):
    """Whether 128 bits are the same number as their low word with its sign."""
    return high == low >> 63
