"""Arithmetic of 128 bits, as (high, low) pairs of unsigned words: what sums of products of words are made in."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.core.types import int64, uint64
from numba.core.types.containers import UniTuple
from numba.extending import intrinsic

from cepheid.kernels.compiled import inlined


@intrinsic
def multiply_add(context, high, low, one, other):
    """(high, low) + one · other, for factors that are not negative."""

    def generate(context, builder, signature, arguments):
        wide = ir.IntType(128)
        high, low, one, other = (builder.zext(argument, wide) for argument in arguments)
        shift = ir.Constant(wide, 64)
        total = builder.add(builder.or_(builder.shl(high, shift), low), builder.mul(one, other))
        word = ir.IntType(64)
        parts = [builder.trunc(builder.lshr(total, shift), word), builder.trunc(total, word)]
        return cgutils.pack_array(builder, parts)

    pair = UniTuple(uint64, 2)
    return pair(uint64, uint64, int64, int64), generate


@inlined
def drop_bits(high, low, bits):
    """(high, low) shifted right by less than 64 bits."""
    return high >> np.uint64(bits), (low >> np.uint64(bits)) | (high << np.uint64(64 - bits))
