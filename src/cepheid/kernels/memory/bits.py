"""Words of 64 bits read as other numbers: doubles by their bits, sums and products that need more, and addresses.

An array that goes from function to function is counted at each; an address is a number. Whoever hands one on keeps its
array alive, and nothing checks its bounds.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils
from numba.core.types import boolean, float64, int64, none
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


@intrinsic
def stay_apart(context):
    """Keeps the function it is called in a function of its own, so that its callers stay short."""

    def generate(context, builder, signature, arguments):
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return none(), generate


def _from_memory(bits, result):
    """Reads what is at an address, a number of places on."""

    @intrinsic
    def read(context, address, place):
        def generate(context, builder, signature, arguments):
            pointer = builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer())
            found = builder.load(builder.gep(pointer, [arguments[1]]))
            return found if bits == 64 else builder.zext(found, ir.IntType(64))

        return result(int64, int64), generate

    return read


word_from = _from_memory(64, int64)
byte_from = _from_memory(8, int64)


@intrinsic
def put_word(context, address, place, word):
    """Writes a word at an address, a number of places on."""

    def generate(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        builder.store(arguments[2], builder.gep(pointer, [arguments[1]]))
        return context.get_dummy_value()

    return none(int64, int64, int64), generate


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
