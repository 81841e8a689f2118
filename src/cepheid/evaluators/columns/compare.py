"""Comparisons of two values for all rows at once.

In: two values of the same kind. Out: a `Truth`, NULL where an operand is. Numbers compare exactly, whole ones
with reals included, and times as instants whatever their units: as `semantics.values.compare` does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cepheid.algebra.conditions import MIRRORED
from cepheid.algebra.moments import PER_SECOND
from cepheid.evaluators.columns.decimals import compare_decimals
from cepheid.evaluators.columns.kinds import (
    EXACT_REAL,
    Decimals,
    Nothing,
    Numbers,
    RowByRowError,
    Texts,
    Times,
    Truth,
    Value,
    WideDecimals,
    either,
    in_unit,
    known,
    nulls_of,
)
from cepheid.evaluators.columns.orders import ARRAYS, ARROW, truth_of_arrow


def compare(op: str, left: Value, right: Value) -> Truth:
    """`left op right` for each row.

    >>> compare("<", Numbers(np.array([1, 2, 3])), Numbers(np.asarray(2.5))).true
    array([ True,  True, False])
    """
    match left, right:
        case (Nothing(), _) | (_, Nothing()):
            return Truth(np.asarray(False), np.asarray(True))
        case (Decimals() | WideDecimals(), _) | (_, Decimals() | WideDecimals()):
            return compare_decimals(op, left, right)
        case Numbers(), Numbers():
            return known(_compare_numbers(op, left.values, right.values), either(left.null, right.null))
        case Times(), Times():
            return known(_compare_times(op, left, right), either(left.null, right.null))
        case Truth(), Truth():
            return known(ARRAYS[op](left.true, right.true), either(left.null, right.null))
        case Texts(), Texts():
            return truth_of_arrow(ARROW[op](left.values, right.values))
        case _:
            raise RowByRowError


def all_of(left: Truth, right: Truth) -> Truth:
    """AND: false if one is false, else NULL if one is NULL.

    >>> null = Truth(np.array([False]), np.array([True]))
    >>> all_of(null, Truth(np.array([False]))).null
    array([False])
    """
    true = left.true & right.true
    if left.null is None and right.null is None:
        return Truth(true)
    false = ~(left.true | nulls_of(left)) | ~(right.true | nulls_of(right))
    return Truth(true, ~(true | false))


def negated(value: Truth) -> Truth:
    """NOT: NULL stays NULL."""
    return known(~value.true, value.null)


def _compare_numbers(op: str, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> Any:
    real_left, real_right = left.dtype.kind == "f", right.dtype.kind == "f"
    if real_left == real_right:
        return ARRAYS[op](left, right)  # NumPy compares int64 with uint64 by value
    if real_left:
        return _compare_whole_with_real(MIRRORED[op], right, left)
    return _compare_whole_with_real(op, left, right)


def _compare_whole_with_real(op: str, whole: npt.NDArray[Any], real: npt.NDArray[np.float64]) -> Any:
    """Exactly, though a double cannot hold every int64: i < f is i < ⌈f⌉, i > f is i > ⌊f⌋."""
    if whole.dtype == np.uint64:
        raise RowByRowError
    if real.ndim and are_exact_reals(whole):
        return ARRAYS[op](whole.astype(np.float64), real)
    if op == "<>":
        return ~_compare_whole_with_real("=", whole, real)
    fits = (real >= -(2.0**63)) & (real < 2.0**63)
    bound = np.ceil(real) if op in ("<", ">=") else np.floor(real)
    inside = ARRAYS[op](whole, np.where(fits, bound, 0).astype(np.int64))
    if op == "=":
        return inside & fits & (bound == real)
    beyond = real > 0 if op in ("<", "<=") else real < 0
    if real.ndim == 0:
        return inside if fits else np.broadcast_to(beyond, whole.shape)
    return np.where(fits, inside, beyond)


def are_exact_reals(whole: npt.NDArray[Any]) -> bool:
    """Whether every one of these whole numbers is also a double.

    >>> are_exact_reals(np.array([2**53])), are_exact_reals(np.array([-(2**53) - 1]))
    (True, False)
    """
    return not whole.size or (int(whole.max()) <= EXACT_REAL and int(whole.min()) >= -EXACT_REAL)


def _compare_times(op: str, left: Times, right: Times) -> Any:
    fineness = PER_SECOND[left.unit], PER_SECOND[right.unit]
    if fineness[0] == fineness[1]:
        return ARRAYS[op](left.values, right.values)
    if fineness[0] > fineness[1]:
        return _compare_times(MIRRORED[op], right, left)
    # Only the finer one is divided, so nothing leaves 64 bits: c < q + r is c < q, or c = q and r > 0.
    whole, rest = np.divmod(right.values, fineness[1] // fineness[0])
    if op in ("=", "<>"):
        equal = (left.values == whole) & (rest == 0)
        return equal if op == "=" else ~equal
    bound = whole + (rest > 0) if op in ("<", ">=") else whole
    return ARRAYS[op](left.values, bound)


def same_unit(left: Times, right: Times) -> tuple[Times, Times]:
    """Both in the finer of their units."""
    unit = max(left.unit, right.unit, key=lambda unit: PER_SECOND[unit])
    one, two = in_unit(left, unit), in_unit(right, unit)
    if one is None or two is None:
        raise RowByRowError
    return one, two
