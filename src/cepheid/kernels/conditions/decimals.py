"""Decimals as words: a whole number of 64 bits times 10^-scale, compared and computed exactly.

The tag of a decimal says its scale, `DECIMAL + scale`. What needs more than 64 bits is no word here: the result is then
`BEYOND`, and whoever asked takes another way. Wide decimals (`WIDE + scale`) are texts of 32 bytes, most significant
first, that are ordered as the numbers are; two of one scale are compared as texts.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import compiled
from cepheid.kernels.memory.bits import fits, wide_add, wide_multiply, wide_subtract

BEYOND = 9  # the tag of what has no word here
DECIMAL = 16  # the tag of decimals of scale 0; those of other scales follow
MOST_SCALE = 76
WIDE = 128  # the tag of wide decimals of scale 0; those of other scales follow

_MOST_POWER = 18
POWERS = np.array([10**digits for digits in range(_MOST_POWER + 1)], np.int64)
_REAL_POWERS = np.array([10.0**digits for digits in range(23)])  # all exact
_MOST_REAL_POWER = 22
_SPLIT = 2.0**27 + 1.0
_EXACT = 2**53
_HALF = 5 * 10**_MOST_POWER
_LESS, _EQUAL, _GREATER, _UNORDERED = 1, 2, 4, 8


@compiled
def _order(one, other):
    return _LESS if one < other else _GREATER if one > other else _EQUAL


@compiled
def _order_of_wide(high, low, other_high, other_low):
    """Of numbers of 128 bits."""
    if high != other_high:
        return _LESS if high < other_high else _GREATER
    return _order(np.uint64(low), np.uint64(other_low))


@compiled
def order_of_scaled(word, unsigned, scale, other, other_unsigned, other_scale):
    """How word * 10^-scale compares with the other; a word whose flag is set has no sign."""
    if scale <= other_scale:
        power = other_scale - scale
        if power > _MOST_POWER:
            if word == 0:
                return _order(0, other)
            return _GREATER if word > 0 or unsigned else _LESS  # 10^19 is more than every word with a sign
        high, low = wide_multiply(word, unsigned, POWERS[power], False)
        other_high = 0 if other_unsigned else other >> 63
        return _order_of_wide(high, low, other_high, other)
    power = scale - other_scale
    if power > _MOST_POWER:
        if other == 0:
            return _order(word, 0)
        return _LESS if other > 0 or other_unsigned else _GREATER
    high, low = wide_multiply(other, other_unsigned, POWERS[power], False)
    return _order_of_wide(word >> 63, word, high, low)


@compiled
def order_with_real(word, scale, real):
    """How word * 10^-scale compares with a double, exactly; 0 where it takes more than two doubles to say.

    real * 10^scale is a product and what it is off by, exactly (Dekker), and so is the word a sum of two doubles.
    """
    if real != real:
        return _UNORDERED
    if word == 0:
        return _order(0.0, real)
    if scale > _MOST_REAL_POWER:
        return 0
    power = _REAL_POWERS[scale]
    product = real * power
    if product >= 2.0**64:
        return _LESS
    if product <= -(2.0**64):
        return _GREATER
    if abs(product) < 0.5:
        return _GREATER if word > 0 else _LESS
    big = _SPLIT * real
    real_high = big - (big - real)
    real_low = real - real_high
    big = _SPLIT * power
    power_high = big - (big - power)
    power_low = power - power_high
    off = real_high * power_high - product + real_high * power_low + real_low * power_high
    off = off + real_low * power_low
    near = np.float64(word)
    if near - product > 4096.0:
        return _GREATER
    if near - product < -4096.0:
        return _LESS
    # Both are close, so that their difference is exact; `near` is below 2^63 in size, or 2^63 itself.
    rest = (
        np.float64(np.int64(word - np.int64(near)))
        if near < 2.0**63
        else np.float64(word - (2**63 - 1)) - 1.0
    )
    return _order(near - product + rest, off)


@compiled
def order_with_reals(words, scale, reals, out_orders):
    """`order_with_real` for each pair."""
    for i in range(len(words)):
        out_orders[i] = order_with_real(words[i], scale, reals[i])


@compiled
def has_real(word, scale):
    """Whether one division gives the nearest double."""
    return scale <= _MOST_REAL_POWER and -_EXACT <= word <= _EXACT


@compiled
def nearest_real(word, scale):
    """The nearest double, where `has_real`: both the digits and the power of ten are doubles."""
    return np.float64(word) / _REAL_POWERS[scale]


@compiled
def scaled_up(word, power):
    """(whether it has 64 bits, word * 10^power)."""
    if word == 0 or power == 0:
        return True, word
    if power > _MOST_POWER:
        return False, word
    high, low = wide_multiply(word, False, POWERS[power], False)
    return fits(high, low), low


ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER = range(20, 25)  # as in `tagged`


@compiled
def arithmetic_of_scaled(op, word, scale, other, other_scale):
    """(tag, word) of + - * % of two decimals: the exact result, BEYOND, or NULL (0) for a remainder by zero."""
    if op == MULTIPLY:
        high, low = wide_multiply(word, False, other, False)
        total = scale + other_scale
        return (DECIMAL + total, low) if fits(high, low) and total <= MOST_SCALE else (BEYOND, 0)
    if op == DIVIDE:
        return (0, 0) if other == 0 else (BEYOND, 0)
    common = max(scale, other_scale)
    one_fits, one = scaled_up(word, common - scale)
    two_fits, two = scaled_up(other, common - other_scale)
    if op == REMAINDER and other == 0:
        return 0, 0
    if not one_fits or not two_fits:
        return BEYOND, 0
    if op == REMAINDER:
        # Sizes have no sign, so that the smallest word has one, too.
        size = np.uint64(0) - np.uint64(one) if one < 0 else np.uint64(one)
        left = np.int64(size % (np.uint64(0) - np.uint64(two) if two < 0 else np.uint64(two)))
        return DECIMAL + common, -left if one < 0 else left
    high, low = wide_add(one, False, two, False) if op == ADD else wide_subtract(one, False, two, False)
    return (DECIMAL + common, low) if fits(high, low) else (BEYOND, 0)


@compiled
def rounded_scaled(word, scale, digits):
    """The word of the decimal rounded to `digits` decimals, fewer than its scale, halves away from zero."""
    power = scale - digits
    if (
        power > _MOST_POWER
    ):  # words are below 10^19 in size, so that halves of 10^19 are words, too, and no others
        if power > _MOST_POWER + 1 or -_HALF < word < _HALF:
            return 0
        return 1 if word > 0 else -1
    unit = POWERS[power]
    whole, rest = word // unit, word % unit
    if word >= 0:
        return whole + np.int64(rest >= unit - rest)
    return whole + np.int64(rest > unit - rest)


@compiled
def floor_scaled(word, scale):
    if scale > _MOST_POWER:
        return -1 if word < 0 else 0
    return word // POWERS[scale]


@compiled
def ceil_scaled(word, scale):
    if scale > _MOST_POWER:
        return 1 if word > 0 else 0
    return word // POWERS[scale] + np.int64(word % POWERS[scale] > 0)
