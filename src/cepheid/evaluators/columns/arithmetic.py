"""Arithmetic on numbers for all rows at once.

In: two numbers and one of + - * / %. Out: a number; NULL where an operand is, where an integer leaves 64 bits
and where something is divided by zero: as `semantics.values` has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cepheid.algebra.precision import DecimalType
from cepheid.evaluators.columns.compare import same_unit
from cepheid.evaluators.columns.decimals import decimal_arithmetic, doubles_of
from cepheid.evaluators.columns.kinds import (
    Decimals,
    Nothing,
    Nulls,
    Numbers,
    RowByRowError,
    Times,
    Value,
    WideDecimals,
    either,
    largest,
)

Ints = npt.NDArray[np.int64]


def arithmetic(op: str, left: Value, right: Value, result: DecimalType | None = None) -> Value:
    """`left op right` for each row; `result` as `conditions.Arithmetic` has it.

    >>> arithmetic("+", Numbers(np.array([1, 2**63 - 1])), Numbers(np.asarray(1))).null
    array([False,  True])
    """
    if isinstance(left, Nothing) or isinstance(right, Nothing):
        return Nothing()
    if isinstance(left, Times) and isinstance(right, Times):
        return _of_times(op, left, right)
    if isinstance(left, Decimals | WideDecimals) or isinstance(right, Decimals | WideDecimals):
        return _with_decimals(op, left, right, result)
    if not isinstance(left, Numbers) or not isinstance(right, Numbers):
        raise RowByRowError
    null = either(left.null, right.null)
    with np.errstate(all="ignore"):
        if op == "/":
            return nulled(doubles(left) / doubles(right), null, right.values == 0)
        # Doubles that stand for integers may overflow as those do.
        if left.mixed or right.mixed or np.uint64 in (left.values.dtype, right.values.dtype):
            raise RowByRowError
        if left.real or right.real:
            return _reals(op, doubles(left), doubles(right), null)
        return _integers(op, left.values, right.values, null)


def _of_times(op: str, left: Times, right: Times) -> Times:
    """Sums and differences in the finer unit, where no row could leave 64 bits; the rest by the definition."""
    one, two = same_unit(left, right)
    if op not in "+-" or largest(one.values) + largest(two.values) >= 2**63:
        raise RowByRowError
    null = either(one.null, two.null)
    if op == "+":
        return Times(np.asarray(one.values + two.values), one.unit, null, one.zone or two.zone)
    zone = one.zone if two.zone is None else None
    return Times(np.asarray(one.values - two.values), one.unit, null, zone)


def _with_decimals(op: str, left: Value, right: Value, result: DecimalType | None) -> Value:
    """In doubles where one side is a double; else exact."""
    if any(isinstance(side, Numbers) and (side.real or side.mixed) for side in (left, right)):
        one, other = (
            doubles_of(side) if isinstance(side, Decimals | WideDecimals) else side for side in (left, right)
        )
        return arithmetic(op, one, other)
    if result is None:
        raise RowByRowError
    return decimal_arithmetic(op, left, right, result)


def doubles(numbers: Numbers) -> npt.NDArray[np.float64]:
    values: npt.NDArray[np.float64] = numbers.values.astype(np.float64, copy=False)
    return values


def nulled(values: Any, null: Nulls, more: Any) -> Numbers:
    """Numbers with `more` NULLs."""
    return Numbers(np.asarray(values), either(null, np.asarray(more, np.bool_) if np.any(more) else None))


def _reals(op: str, left: npt.NDArray[np.float64], right: npt.NDArray[np.float64], null: Nulls) -> Numbers:
    match op:
        case "+":
            return Numbers(np.asarray(left + right), null)
        case "-":
            return Numbers(np.asarray(left - right), null)
        case "*":
            return Numbers(np.asarray(left * right), null)
        case "%":
            return nulled(np.fmod(left, right), null, right == 0)
        case _:
            raise AssertionError(op)


def _integers(op: str, left: Ints, right: Ints, null: Nulls) -> Numbers:
    """NULL where an integer wraps around; rows are checked only if the largest values could wrap."""
    one, two = largest(left), largest(right)
    match op:
        case "+":
            total = left + right
            wrapped = (left ^ total) & (right ^ total) < 0 if one + two >= 2**63 else np.False_
            return nulled(total, null, wrapped)
        case "-":
            difference = left - right
            wrapped = (left ^ right) & (left ^ difference) < 0 if one + two >= 2**63 else np.False_
            return nulled(difference, null, wrapped)
        case "*":
            product = left * right
            return nulled(product, null, _wrapped(left, right, product) if one * two >= 2**63 else np.False_)
        case "%":
            return nulled(np.fmod(left, right), null, right == 0)
        case _:
            raise AssertionError(op)


def _wrapped(left: Ints, right: Ints, product: Any) -> Any:
    """A wrapped product is off by at least 2^64, so dividing it does not give the other factor back."""
    divisor = np.where(left == 0, 1, left)
    wrong = (product // divisor != right) & (left != 0)
    return wrong | ((left == -1) & (right == -(2**63)))
