"""Rounding a double to decimals as `semantics.numbers.round_half_away` does: of its shortest decimal, halves away.

Let D be the shortest decimal that reads as the double a, and a·10^d the *scaled* number. Where that is below 2^48, no
two decimals of d + 1 digits read as one double. So a half h = (2n + 1) / (2·10^d) that reads as a is D itself; and
one that does not lies on the same side of D as of a. Hence D ≥ h exactly when a ≥ h read as a double, which one
division gives. From 2^54 on, decimals of d digits lie closer than doubles, so that D is one and stays. Between the
two, D has at most two digits more than d, and is looked for.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import compiled

MOST_DIGITS = 15
_POWERS = np.array([10.0**digits for digits in range(MOST_DIGITS + 4)])
_DISTINCT = 2.0**48
_DENSE = 2.0**54
_SPLIT = 2.0**27 + 1.0


@compiled
def _product(one, other):
    """The product as a double and what it is off by, exactly (Dekker)."""
    big = _SPLIT * one
    one_high = big - (big - one)
    one_low = one - one_high
    big = _SPLIT * other
    other_high = big - (big - other)
    other_low = other - other_high
    product = one * other
    off = one_high * other_high - product + one_high * other_low + one_low * other_high
    return product, off + one_low * other_low


@compiled
def _shortest_rounded(real, digits):
    """For scaled numbers from 2^48 to 2^54: finds D, the nearest decimal of as few digits as read as `real`."""
    half_gap = (np.nextafter(real, np.inf) - real) / 2.0
    for more in range(4):
        product, off = _product(real, _POWERS[digits + more])
        whole = np.rint(product)
        rest = product - whole + off
        distance = abs(rest - np.rint(rest))
        reach = half_gap * _POWERS[digits + more]
        # Never half-way: where that is a decimal of so many digits, `real` is one itself.
        if distance < reach:
            if more == 0:
                return real
            nearest = np.int64(whole) + np.int64(np.rint(rest))  # doubles may have no place for it
            unit = np.int64(_POWERS[more])
            return np.float64((nearest + unit // 2) // unit) / _POWERS[digits]
    return real


@compiled
def rounded(real, digits):
    """A double to 0 … `MOST_DIGITS` decimals."""
    size = abs(real)
    power = _POWERS[digits]
    scaled = size * power
    if not scaled < _DENSE:
        return real
    if scaled >= _DISTINCT:
        return np.copysign(_shortest_rounded(size, digits), real)
    whole = np.floor(scaled + 0.5)
    while whole > 0.0 and size < (2.0 * whole - 1.0) / (2.0 * power):
        whole -= 1.0
    while size >= (2.0 * whole + 1.0) / (2.0 * power):
        whole += 1.0
    return np.copysign(whole / power, real)
