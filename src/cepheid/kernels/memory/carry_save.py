"""Exact numbers of any size for dense counting, in carry-save form.

A number is a list of words, lowest first, `states` words apart from each other (words of other numbers lie between).
Each word stands for 48 bits but may hold up to 62, so that numbers are added word by word without carries; after a few
additions `carry` makes all carries at once. Totals have words of 48 bits, next to each other. Sums of products are
computed in 128 bits, as (high, low) pairs of unsigned words.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.core.types import int64, uint64
from numba.core.types.containers import UniTuple
from numba.extending import intrinsic

from cepheid.kernels.compiled import inlined

BITS = 48  # that a word stands for
SPARE_BITS = 14  # that it may hold beyond these
LIMIT = 1 << BITS
MASK = LIMIT - 1


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


@inlined
def carry(matrix, base, states, words, used):
    """Makes all carries in a matrix of numbers with a row per state. Gives the number of words that are used now, or -1
    where more are needed."""
    size = words * states
    top = 0
    for row in range(states):
        at = base + row * size + (used - 1) * states
        for p in range(states):
            top |= matrix[at + p]
    if top > MASK:
        if used == words:
            return -1
        used += 1
    for row in range(states):
        at = base + row * size
        for i in range(at + used * states - 1, at + states - 1, -1):
            matrix[i] = (matrix[i] & MASK) + (matrix[i - states] >> BITS)
        for i in range(at, at + states):
            matrix[i] &= MASK
    return used


@inlined
def carry_on(total, k, high, low):
    """Adds the rest of a sum to the words of `total` from `k` on."""
    while (high | low) != 0:
        high, low = multiply_add(high, low, 1, total[k])
        total[k] = np.int64(low & np.uint64(MASK))
        high, low = drop_bits(high, low, BITS)
        k += 1


@inlined
def length_of(heap, at, states, words):
    """The number of words, up to the highest that is not 0, of the number whose lowest is at `at`."""
    while words > 0 and heap[at + (words - 1) * states] == 0:
        words -= 1
    return words


@inlined
def add_product(total, heap, one, n_one, other, n_other, states):
    """total += the product of two numbers. One has words below 2⁴⁹, the other below 2⁶²: many products fit."""
    high, low = np.uint64(0), np.uint64(0)
    for k in range(n_one + n_other - 1):
        high, low = multiply_add(high, low, 1, total[k])
        for i in range(max(0, k - n_other + 1), min(k + 1, n_one)):
            high, low = multiply_add(high, low, heap[one + i * states], heap[other + (k - i) * states])
        total[k] = np.int64(low & np.uint64(MASK))
        high, low = drop_bits(high, low, BITS)
    carry_on(total, n_one + n_other - 1, high, low)


@inlined
def add_number(total, heap, one, n_one, states):
    high, low = np.uint64(0), np.uint64(0)
    for k in range(n_one):
        high, low = multiply_add(high, low, 1, total[k])
        high, low = multiply_add(high, low, 1, heap[one + k * states])
        total[k] = np.int64(low & np.uint64(MASK))
        high, low = drop_bits(high, low, BITS)
    carry_on(total, n_one, high, low)


@inlined
def add_small_product(total, one, other):
    """total += the product of two numbers of one word."""
    high, low = multiply_add(np.uint64(0), np.uint64(total[0]), one, other)
    total[0] = np.int64(low & np.uint64(MASK))
    carry_on(total, 1, *drop_bits(high, low, BITS))
