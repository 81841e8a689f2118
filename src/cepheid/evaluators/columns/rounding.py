"""Rounding to decimals for all rows at once, of the number as it is printed.

In: numbers and how many digits to keep after the point (before it where negative). Out: the rounded numbers,
halves away from zero, as `semantics.numbers.round_half_away` has it. A double scaled by a power of ten lies
within an ulp or two of what its shortest decimal gives; unless that leaves open on which side of a half it
is, the column is rounded as a whole, and only the rest is asked of the definition, once per distinct value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cepheid.evaluators.columns.kinds import Nulls, Numbers, either
from cepheid.semantics.numbers import round_half_away

_CERTAIN = 2.0**40  # below it an ulp is less than 2^-12, the margin kept from a half
_MARGIN = 2.0**-10
_EXACT_POWER = 22  # 10^22 is a double, 10^23 is not


def rounded(number: Numbers, digits: int) -> Numbers:
    """Each number rounded to `digits` decimals.

    >>> rounded(Numbers(np.array([2.675, -0.5, 1e300])), 2).values.tolist()
    [2.68, -0.5, 1e+300]
    """
    if not number.real and digits >= 0:
        return number
    if not number.real or abs(digits) > _EXACT_POWER:
        return _by_definition(number.values, number.null, digits)
    with np.errstate(all="ignore"):
        values, uncertain = _halves_away(number.values, digits)
    if uncertain.any():
        values[uncertain] = _by_definition(number.values[uncertain], None, digits).values
    return Numbers(values, number.null)


def _halves_away(
    values: npt.NDArray[np.float64], digits: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The rounded values, and where they are not certain. Whole numbers below 2^53 and powers of ten up to
    10^22 are doubles, so the last step rounds once, as reading the decimal would."""
    power = 10.0 ** abs(digits)
    scaled = np.abs(values * power if digits >= 0 else values / power)
    whole = np.floor(scaled + 0.5)
    sized = whole / power if digits >= 0 else whole * power
    near_half = np.abs(scaled - np.floor(scaled) - 0.5) < _MARGIN
    special = ~np.isfinite(values)
    result = np.where(special, values, np.copysign(sized, values))
    return result, np.asarray(~special & (near_half | (scaled >= _CERTAIN)))


def _by_definition(values: npt.NDArray[Any], null: Nulls, digits: int) -> Numbers:
    distinct, codes = np.unique(values.reshape(-1), return_inverse=True)
    exact = [round_half_away(value, digits) for value in distinct.tolist()]
    none = np.array([value is None for value in exact], np.bool_)
    found = np.array([0 if value is None else value for value in exact], values.dtype)
    also = none[codes].reshape(values.shape) if none.any() else None
    return Numbers(found[codes].reshape(values.shape), either(null, also))
