"""Decimals for all rows at once: comparisons, arithmetic and functions, exact as in `semantics.decimals`.

In: a decimal, and a decimal or any number. Out: a value. Decimals of up to 18 digits are words of 64 bits as long as
results fit; Arrow computes with wider ones, up to 76 digits. Operations without an exact Arrow form, such as quotients
and rounded results, go row by row (`RowByRowError`).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.algebra.conditions import MIRRORED
from cepheid.algebra.precision import MOST_WIDE_DIGITS, DecimalType
from cepheid.evaluators.columns.kinds import (
    EXACT_REAL,
    NARROW,
    Decimals,
    Nulls,
    Numbers,
    RowByRowError,
    Truth,
    Value,
    WideDecimals,
    arrow_nulls,
    either,
    known,
    largest,
    low_words,
)
from cepheid.evaluators.columns.orders import ARRAYS, ARROW, OUTCOMES, truth_of_arrow
from cepheid.kernels.conditions.decimals import order_with_reals

Ints: TypeAlias = npt.NDArray[np.int64]
Pick: TypeAlias = Callable[[Any, Any], Any]
"""Takes two arrays of values and gives for each row one of the two."""

_MOST_POWER = 18
_MOST_REAL_POWER = 22


def compare_decimals(op: str, left: Value, right: Value) -> Truth:
    """`left op right` for each row, where one side is a decimal.

    >>> tenths = Decimals(np.array([1, 3]), 1)
    >>> compare_decimals("<", tenths, Numbers(np.asarray(0.3))).true  # the double is just below 0.3
    array([ True, False])
    """
    if isinstance(left, Numbers) and left.real:
        return compare_decimals(MIRRORED[op], right, left)
    if isinstance(right, Numbers) and right.real:
        return _compare_with_reals(op, left, right)
    one, other = _of_one_scale(left, right)
    if isinstance(one, Decimals) and isinstance(other, Decimals):
        return known(ARRAYS[op](one.values, other.values), either(one.null, other.null))
    return truth_of_arrow(ARROW[op](wide_values(one), wide_values(other)))


def _compare_with_reals(op: str, left: Value, right: Numbers) -> Truth:
    if not isinstance(left, Decimals) or left.scale > _MOST_REAL_POWER:
        raise RowByRowError
    words, reals = np.broadcast_arrays(left.values, right.values)
    orders = np.empty(words.size, np.int64)
    order_with_reals(np.array(words).reshape(-1), left.scale, np.array(reals).reshape(-1), orders)
    return known((orders & OUTCOMES[op] != 0).reshape(words.shape), either(left.null, right.null))


# One scale for two values


def _exact(value: Value) -> Decimals | WideDecimals:
    """Whole numbers as decimals of scale 0."""
    if isinstance(value, Decimals | WideDecimals):
        return value
    if not isinstance(value, Numbers) or value.real:
        raise RowByRowError
    if value.values.dtype != np.uint64:
        return Decimals(value.values, 0, value.null)
    return WideDecimals(_masked(value.values, value.null).cast(pa.decimal256(20, 0)))


def _masked(values: npt.NDArray[Any], null: Nulls) -> Any:
    """An Arrow array or scalar of these numbers."""
    if values.ndim == 0:
        missing = null is not None and bool(null)
        return pa.scalar(None if missing else values.item(), pa.from_numpy_dtype(values.dtype))
    return pa.array(values, mask=None if null is None else np.broadcast_to(null, values.shape))


def _of_one_scale(left: Value, right: Value) -> tuple[Decimals | WideDecimals, Decimals | WideDecimals]:
    """Both as words of one scale, or both in the widest type."""
    one, other = _exact(left), _exact(right)
    scale = max(scale_of(one), scale_of(other))
    if isinstance(one, Decimals) and isinstance(other, Decimals):
        narrow = scaled(one, scale), scaled(other, scale)
        if narrow[0] is not None and narrow[1] is not None:
            return narrow[0], narrow[1]
    return wide(one, scale), wide(other, scale)


def scale_of(value: Decimals | WideDecimals) -> int:
    return value.scale if isinstance(value, Decimals) else int(value.values.type.scale)


def scaled(value: Decimals, scale: int) -> Decimals | None:
    """The same numbers with more digits after the point, where they fit into words.

    >>> scaled(Decimals(np.array([15]), 1), 3).values.tolist(), scaled(Decimals(np.array([15]), 1), 30)
    ([1500], None)
    """
    power = scale - value.scale
    if power == 0:
        return value
    if power < 0 or power > _MOST_POWER or largest(value.values) * 10**power >= 2**63:
        return None
    return Decimals(value.values * np.int64(10**power), scale, value.null)


def wide(value: Decimals | WideDecimals, scale: int) -> WideDecimals:
    """The same numbers with that scale, 76 digits in all; row by row where they have no room."""
    values = wide_values(value)
    if values.type.precision - values.type.scale + scale > MOST_WIDE_DIGITS:
        raise RowByRowError
    dtype = pa.decimal256(MOST_WIDE_DIGITS, scale)
    return WideDecimals(values if values.type == dtype else values.cast(dtype))


def wide_values(value: Decimals | WideDecimals) -> Any:
    """An Arrow array or scalar of a decimal256 type."""
    if isinstance(value, WideDecimals):
        return value.values
    flat = value.values.reshape(-1)
    words = np.empty((len(flat), 4), np.int64)
    words[:, 0] = flat
    words[:, 1:] = (flat >> 63)[:, None]
    dtype = pa.decimal256(max(19, value.scale), value.scale)
    valid = None if value.null is None else np.broadcast_to(~value.null, value.values.shape).reshape(-1)
    packed = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    array = pa.Array.from_buffers(dtype, len(flat), [packed, pa.py_buffer(words)])
    return array if value.values.ndim else array[0]


# Arithmetic


def decimal_arithmetic(op: str, left: Value, right: Value, result: DecimalType) -> Value:
    """`left op right` for each row, both sides exact numbers.

    >>> dime = Decimals(np.array([10]), 2)
    >>> decimal_arithmetic("*", dime, Numbers(np.asarray(3)), DecimalType(12, 2))
    Decimals(values=array([30]), scale=2, null=None)
    """
    one, other = _exact(left), _exact(right)
    natural = scale_of(one) + scale_of(other) if op == "*" else max(scale_of(one), scale_of(other))
    if op == "/" or result.scale < natural:
        raise RowByRowError  # the result is rounded
    if isinstance(one, Decimals) and isinstance(other, Decimals):
        narrow = _narrow_arithmetic(op, one, other)
        if narrow is not None and natural <= MOST_WIDE_DIGITS:
            return narrow
    return _fitted(_wide_arithmetic(op, wide_values(one), wide_values(other)), result)


def _narrow_arithmetic(op: str, left: Decimals, right: Decimals) -> Decimals | None:
    """None where words may not do."""
    null = either(left.null, right.null)
    if op == "*":
        if largest(left.values) * largest(right.values) >= 2**63:
            return None
        return Decimals(np.asarray(left.values * right.values), left.scale + right.scale, null)
    scale = max(left.scale, right.scale)
    one, other = scaled(left, scale), scaled(right, scale)
    if one is None or other is None:
        return None
    if op == "%":
        zero = other.values == 0
        rest = np.fmod(one.values, np.where(zero, 1, other.values))
        return Decimals(np.asarray(rest), scale, either(null, zero if zero.any() else None))
    if largest(one.values) + largest(other.values) >= 2**63:
        return None
    total = one.values + other.values if op == "+" else one.values - other.values
    return Decimals(np.asarray(total), scale, null)


def _wide_arithmetic(op: str, left: Any, right: Any) -> Any:
    if op == "%" or (op == "*" and left.type.scale + right.type.scale > MOST_WIDE_DIGITS):
        raise RowByRowError
    kernel = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}[op]
    try:
        return kernel(_tight(left), _tight(right))
    except pa.ArrowInvalid:  # more than 76 digits
        raise RowByRowError from None


def _tight(values: Any) -> Any:
    """The same numbers in the narrowest type: Arrow derives the width of results from types, not from values."""
    dtype = values.type
    highest = (values if isinstance(values, pa.Scalar) else pc.max(pc.abs(values))).as_py()
    digits = 1 if highest is None else max(len(highest.as_tuple().digits), dtype.scale, 1)
    return values if digits >= dtype.precision else values.cast(pa.decimal256(digits, dtype.scale))


def _fitted(values: Any, result: DecimalType) -> WideDecimals:
    """NULL where a number has more digits than the type of the result."""
    dtype = values.type
    if dtype.precision <= result.precision - result.scale + dtype.scale:
        return WideDecimals(values)
    most = Decimal(10) ** (result.precision - result.scale)
    if dtype.scale + result.precision - result.scale >= MOST_WIDE_DIGITS:
        raise RowByRowError
    bound = pa.scalar(most, pa.decimal256(MOST_WIDE_DIGITS, dtype.scale))
    fits = pc.less(pc.abs(values).cast(bound.type), bound)
    return WideDecimals(pc.if_else(fits, values, pa.scalar(None, dtype)))


# Doubles


def doubles_of(value: Decimals | WideDecimals) -> Numbers:
    """The nearest doubles; Arrow's cast does not always give those.

    >>> doubles_of(Decimals(np.array([1, 25]), 1)).values.tolist()
    [0.1, 2.5]
    """
    narrow = value if isinstance(value, Decimals) and value.scale <= _MOST_REAL_POWER else None
    if narrow is not None and largest(narrow.values) <= EXACT_REAL:
        # Both the digits and the power of ten are doubles, and a division rounds to the nearest.
        return Numbers(np.asarray(narrow.values / 10.0**narrow.scale), narrow.null)
    values = wide_values(value)
    if isinstance(values, pa.Scalar):
        only = values.as_py()
        null = np.asarray(True) if only is None else None
        return Numbers(np.asarray(0.0 if only is None else float(only)), null)
    encoded = values.dictionary_encode()
    nearest = np.array([*(float(one) for one in encoded.dictionary.to_pylist()), 0.0], np.float64)
    codes = encoded.indices.fill_null(len(nearest) - 1).to_numpy(zero_copy_only=False)
    return Numbers(nearest[codes], arrow_nulls(values))


# Functions


def absolute(value: Decimals | WideDecimals) -> Value:
    if isinstance(value, WideDecimals):
        return WideDecimals(pc.abs(value.values))
    if largest(value.values) >= 2**63:
        raise RowByRowError
    return Decimals(np.asarray(np.abs(value.values)), value.scale, value.null)


def floor_or_ceil(value: Decimals | WideDecimals, up: bool) -> Value:
    """
    >>> floor_or_ceil(Decimals(np.array([-15, 20]), 1), up=False).values
    array([-2,  2])
    """
    if isinstance(value, WideDecimals) or value.scale > _MOST_POWER:
        raise RowByRowError
    unit = np.int64(10**value.scale)
    below = value.values // unit
    return Decimals(np.asarray(below + (value.values % unit > 0) if up else below), 0, value.null)


def rounded_decimals(value: Decimals | WideDecimals, digits: int) -> Value:
    """
    >>> rounded_decimals(Decimals(np.array([-25, 24]), 1), 0).values
    array([-3,  2])
    """
    if digits >= scale_of(value):
        return value
    if isinstance(value, WideDecimals) or digits < 0 or value.scale - digits > _MOST_POWER:
        raise RowByRowError
    unit = np.int64(10 ** (value.scale - digits))
    below, rest = value.values // unit, value.values % unit
    up = np.where(value.values < 0, rest > unit - rest, rest >= unit - rest)
    return Decimals(np.asarray(below + up), digits, value.null)


def chosen_decimals(left: Value, right: Value, pick: Pick) -> Value:
    """`chosen` of two exact numbers that both fit words of one scale; others go row by row."""
    one, other = _of_one_scale(left, right)
    if not isinstance(one, Decimals) or not isinstance(other, Decimals):
        raise RowByRowError
    values, null = chosen(one.values, one.null, other.values, other.null, pick)
    return Decimals(values, one.scale, null)


def chosen(left: Any, left_null: Nulls, right: Any, right_null: Nulls, pick: Pick) -> tuple[Any, Nulls]:
    """Per row the value that is not NULL, or `pick` of the two; NULL where both are."""
    values = pick(left, right)
    if left_null is not None:
        values = np.where(left_null, right, values)
    if right_null is not None:
        values = np.where(right_null, left, values)
    null = left_null & right_null if left_null is not None and right_null is not None else None
    return np.broadcast_arrays(left, right, values)[2], null


# Words


def words_of_scale(value: Value, scale: int) -> tuple[Ints, Nulls]:
    """The decimals as words of that scale, and their NULLs; row by row where they do not fit such words."""
    exact = _exact(value)
    if isinstance(exact, Decimals):
        same = scaled(exact, scale)
        if same is not None:
            return same.values, same.null
    values = wide_values(exact)
    array = _as_array(values)
    try:
        narrow = array.cast(pa.decimal128(NARROW, scale) if scale <= NARROW else pa.decimal256(scale, scale))
    except pa.ArrowInvalid:
        raise RowByRowError from None
    if narrow.type.precision > NARROW:
        raise RowByRowError
    null, words = arrow_nulls(array), low_words(narrow)
    return (words[0], None if null is None else null[0]) if isinstance(values, pa.Scalar) else (words, null)


def bytes_of_scale(value: Value, scale: int) -> pa.Array:
    """The numbers at that scale as 32 bytes each, in the order of the numbers; one entry for a constant."""
    return ordered_bytes(_as_array(wide(_exact(value), scale).values))


def _as_array(values: Any) -> pa.Array:
    return pa.array([values.as_py()], values.type) if isinstance(values, pa.Scalar) else values


def ordered_bytes(array: pa.Array) -> pa.Array:
    """Most significant byte first, the sign bit flipped.

    >>> tens = pa.array([Decimal(-1), Decimal(0), Decimal(10)], pa.decimal256(76, 0))
    >>> texts = ordered_bytes(tens).to_pylist()
    >>> texts == sorted(texts)
    True
    """
    each = 32
    data = np.frombuffer(array.buffers()[1] or b"", np.uint8)
    rows = data[array.offset * each : (array.offset + len(array)) * each].reshape(-1, each)[:, ::-1].copy()
    rows[:, 0] ^= 0x80
    offsets = pa.py_buffer((np.arange(len(array) + 1) * each).astype(np.int64))
    texts = pa.Array.from_buffers(pa.large_binary(), len(array), [None, offsets, pa.py_buffer(rows)])
    return texts if not array.null_count else pc.if_else(array.is_null(), pa.scalar(None, texts.type), texts)


def of_ordered_bytes(texts: pa.Array, scale: int) -> pa.Array:
    """The decimals again, without NULLs."""
    rows = np.frombuffer(b"".join(texts.to_pylist()), np.uint8).reshape(-1, 32)[:, ::-1].copy()
    rows[:, -1] ^= 0x80
    return pa.Array.from_buffers(
        pa.decimal256(MOST_WIDE_DIGITS, scale), len(texts), [None, pa.py_buffer(rows)]
    )
