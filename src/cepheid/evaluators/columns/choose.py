"""The functions that choose one of their arguments, and take NULL: coalesce, nullif, least, greatest.

In: arguments of one kind. Out: for each row one of them, as `semantics.functions` chooses. Arguments that are whole
numbers and reals give a `mixed` result, or go row by row where a double is not exact.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.evaluators.columns.compare import are_exact_reals, compare, same_unit
from cepheid.evaluators.columns.decimals import Pick, chosen, chosen_decimals
from cepheid.evaluators.columns.kinds import (
    SEVERAL_ZONES,
    Decimals,
    Mask,
    Nothing,
    Numbers,
    RowByRowError,
    Texts,
    Times,
    Truth,
    Value,
    WideDecimals,
    nulls_of,
)


def coalesce(arguments: Sequence[Value]) -> Value:
    """The first argument that is not NULL.

    >>> coalesce([Numbers(np.array([1, 0]), np.array([False, True])), Numbers(np.asarray(7))]).values
    array([1, 7])
    """
    return _fold(arguments, lambda left, right: left, pc.coalesce)


def least(arguments: Sequence[Value]) -> Value:
    """The smallest argument that is not NULL, or NaN if one is."""
    return _fold(arguments, np.minimum, pc.min_element_wise)


def greatest(arguments: Sequence[Value]) -> Value:
    """The greatest argument that is not NULL, or NaN if one is."""
    return _fold(arguments, np.maximum, pc.max_element_wise)


def nullif(arguments: Sequence[Value]) -> Value:
    """The first argument, NULL where it equals the second.

    >>> nullif([Numbers(np.array([1, 2])), Numbers(np.asarray(2))]).null
    array([False,  True])
    """
    left, right = arguments
    return _without(left, compare("=", left, right).true)


def switched(true: Mask, left: Value, right: Value) -> Value:
    """`left` where the mask is true, `right` elsewhere.

    >>> switched(np.array([True, False]), Numbers(np.asarray(1)), Numbers(np.array([2, 3]))).values
    array([1, 3])
    """
    return coalesce([_without(left, ~true), _without(right, true)])


def _without(value: Value, rows: Mask) -> Value:
    """The value, NULL in these rows."""
    null: Mask = nulls_of(value) | rows
    match value:
        case Truth(true):
            return Truth(true & ~null, null)
        case Numbers(values) | Decimals(values) | Times(values):
            return replace(value, values=np.broadcast_to(values, null.shape), null=null)
        case Texts(values) | WideDecimals(values):
            if isinstance(values, pa.Scalar) and null.ndim == 0:
                return Nothing() if null else value
            return type(value)(pc.if_else(pa.array(null), pa.scalar(None, values.type), values))
        case _:
            return value


def _fold(arguments: Sequence[Value], pick: Pick, of_texts: Pick) -> Value:
    values: list[Value] = [argument for argument in arguments if not isinstance(argument, Nothing)]
    if not values:
        return Nothing()
    return functools.reduce(lambda left, right: _one_of(left, right, pick, of_texts), values)


def _one_of(left: Value, right: Value, pick: Pick, of_texts: Pick) -> Value:
    match left, right:
        case Texts(), Texts():
            return Texts(of_texts(left.values, right.values))
        case Truth(), Truth():
            values, null = chosen(left.true, left.null, right.true, right.null, pick)
            return Truth(values.astype(np.bool_), null)
        case Times(), Times():
            one, two = same_unit(left, right)
            values, null = chosen(one.values, one.null, two.values, two.null, pick)
            return Times(values, one.unit, null, one.zone if one.zone == two.zone else SEVERAL_ZONES)
        case (Decimals() | WideDecimals(), _) | (_, Decimals() | WideDecimals()):
            return chosen_decimals(left, right, pick)
        case Numbers(), Numbers():
            return _one_number(left, right, pick)
        case _:
            raise RowByRowError


def _one_number(left: Numbers, right: Numbers, pick: Pick) -> Numbers:
    mixed = left.mixed or right.mixed or left.real != right.real
    one, two = (_real(left), _real(right)) if mixed else (left, right)
    if np.uint64 in (one.values.dtype, two.values.dtype):
        raise RowByRowError
    values, null = chosen(one.values, one.null, two.values, two.null, pick)
    return Numbers(values, null, mixed)


def _real(numbers: Numbers) -> Numbers:
    if numbers.real:
        return numbers
    if not are_exact_reals(numbers.values):
        raise RowByRowError
    return Numbers(numbers.values.astype(np.float64), numbers.null, numbers.mixed)


CHOOSERS: dict[str, Callable[[Sequence[Value]], Value]] = {
    "coalesce": coalesce,
    "nullif": nullif,
    "least": least,
    "greatest": greatest,
}
