"""Values of an expression for all rows at once, one class per kind, and how Arrow columns are read as them.

In: Arrow columns of any layout, Python constants. Out: NumPy arrays (Arrow arrays for text), each with a mask of its
NULL rows, or None if there are none. Invariants: a constant is a zero-dimensional array (or an Arrow scalar), so that
it broadcasts and costs one pass with a column; the entry of a NULL row is arbitrary; `Truth.true` is false where the
value is NULL; every value equals the one that `semantics.values` computes.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.algebra.conditions import type_of_value
from cepheid.algebra.moments import PER_SECOND, Interval, Moment, TimeOfDay, moment_of
from cepheid.algebra.precision import MOST_WIDE_DIGITS, type_of_decimal
from cepheid.semantics.rows import ticks_ns
from cepheid.streams.plain import whole

Mask: TypeAlias = npt.NDArray[np.bool_]
Nulls: TypeAlias = Mask | None

NARROW = 18  # digits of the decimals that are kept as words
EXACT_REAL = 2**53  # every whole number up to this size is also a double
SEVERAL_ZONES = "several"


class RowByRowError(Exception):
    """There is no exact form over whole columns: evaluate by the definition in `semantics.values` instead."""


@dataclass(frozen=True, slots=True)
class Truth:
    true: Mask
    null: Nulls = None


@dataclass(frozen=True, slots=True)
class Numbers:
    """int64, float64, or uint64 where a column has values above int64.

    `mixed`: doubles, some of which are integers by the definition, all exact. Comparisons give the same result;
    arithmetic could overflow differently and goes row by row.
    """

    values: npt.NDArray[Any]
    null: Nulls = None
    mixed: bool = False

    @property
    def real(self) -> bool:
        return self.values.dtype.kind == "f"


@dataclass(frozen=True, slots=True)
class Decimals:
    """Whole numbers of 64 bits times 10^-scale, the scale from 0 to 76."""

    values: npt.NDArray[np.int64]
    scale: int
    null: Nulls = None


@dataclass(frozen=True, slots=True)
class WideDecimals:
    """An Arrow array or scalar of a decimal256 type whose scale is from 0 to 76; it carries its own NULLs."""

    values: Any


@dataclass(frozen=True, slots=True)
class Times:
    """Instants since 1970 in UTC, or clock times, times of day, durations; counted in `unit`: "us", "ns" where the
    column is, "s" or "ms" where microseconds would leave 64 bits. `zone` is where a clock shows them."""

    values: npt.NDArray[np.int64]
    unit: str
    null: Nulls = None
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class Texts:
    """An Arrow string array or scalar, which carries its own NULLs."""

    values: Any


@dataclass(frozen=True, slots=True)
class Nothing:
    """NULL everywhere."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A column of a type that conditions cannot read; only its NULLs count."""

    null: Nulls


Value: TypeAlias = Truth | Numbers | Decimals | WideDecimals | Times | Texts | Nothing | Opaque


def either(*nulls: Nulls) -> Nulls:
    """Rows where one of the operands is NULL.

    >>> either(None, np.array([True, False]), None)
    array([ True, False])
    """
    given = [null for null in nulls if null is not None]
    if not given:
        return None
    result = given[0]
    for null in given[1:]:
        result = result | null
    return result


def known(true: Any, null: Nulls) -> Truth:
    """A truth from an array that is arbitrary where the value is NULL."""
    mask: Mask = np.asarray(true, np.bool_)
    return Truth(mask) if null is None else Truth(mask & ~null, null)


def nulls_of(value: Value) -> Mask:
    """Where the value is NULL, as a mask of its own shape."""
    match value:
        case Nothing():
            return np.asarray(True)
        case Texts(values) | WideDecimals(values):
            return _mask(pc.is_null(values))
        case Truth(values) | Numbers(values) | Decimals(values) | Times(values):
            null = value.null
            return np.zeros(values.shape, np.bool_) if null is None else null
        case Opaque(null):
            return np.asarray(False) if null is None else null
        case _:
            assert_never(value)


def arrow_nulls(array: pa.Array | pa.ChunkedArray) -> Nulls:
    """The NULLs of an Arrow array."""
    return _mask(array.is_null()) if array.null_count else None


def largest(values: npt.NDArray[np.int64]) -> int:
    """The largest absolute value; 0 of none."""
    return max(abs(int(values.max())), abs(int(values.min()))) if values.size else 0


def of_literal(value: type_of_value) -> Value:
    """A constant.

    >>> of_literal(2.5).values.shape
    ()
    """
    match value:
        case None:
            return Nothing()
        case bool():
            return Truth(np.asarray(value))
        case int():
            if not -(2**63) <= value < 2**63:
                raise RowByRowError
            return Numbers(np.asarray(value, np.int64))
        case float():
            return Numbers(np.asarray(value, np.float64))
        case Decimal():
            return _of_decimal(value)
        case str():
            return Texts(pa.scalar(value, pa.large_string()))
        case dt.date() | Moment() | TimeOfDay() | Interval():  # a datetime is a date as well
            return _time(moment_of(value))
        case _:
            assert_never(value)


def _of_decimal(value: Decimal) -> Value:
    exact = type_of_decimal(value)
    if exact.scale < 0 or max(exact.precision, exact.scale) > MOST_WIDE_DIGITS:
        raise RowByRowError
    if exact.precision <= NARROW:
        return Decimals(np.asarray(int(value.scaleb(exact.scale)), np.int64), exact.scale)
    return WideDecimals(pa.scalar(value, pa.decimal256(exact.precision, exact.scale)))


def _time(value: Moment) -> Times:
    unit, ticks = ("us", value.ns // 1000) if value.ns % 1000 == 0 else ("ns", value.ns)
    if not -(2**63) <= ticks < 2**63:
        raise RowByRowError
    return Times(np.asarray(ticks, np.int64), unit, zone=value.zone)


def is_text(dtype: pa.DataType) -> bool:
    """Whether an Arrow type holds text, dictionary-encoded or not."""
    if pa.types.is_dictionary(dtype):
        return is_text(dtype.value_type)
    return bool(
        pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype)
    )


def of_column(column: pa.ChunkedArray) -> Value:
    """A column of any Arrow type.

    >>> of_column(pa.chunked_array([[1, None], [3]]))
    Numbers(values=array([1, 0, 3]), null=array([False,  True, False]), mixed=False)
    """
    dtype = column.type
    if is_text(dtype):
        return Texts(_compact(whole(column.cast(pa.large_string()))))
    if pa.types.is_dictionary(dtype):
        return of_column(column.cast(dtype.value_type))
    if pa.types.is_null(dtype):
        return Nothing()
    null = arrow_nulls(whole(column))
    if pa.types.is_boolean(dtype):
        return Truth(_mask(whole(column.fill_null(False))), null)
    if pa.types.is_decimal(dtype):
        return _decimals(column, null)
    if pa.types.is_integer(dtype) or pa.types.is_floating(dtype):
        return _numbers(column, null)
    if ticks_ns(dtype) is not None:
        return _times(column, null)
    return Opaque(null)


def _compact(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The same texts with their bytes from the start of the buffer: a cast of a slice leaves them where they
    were, and `ascii_lower` then reads and writes past the end."""
    buffer = texts.buffers()[1]
    begins = np.frombuffer(buffer, np.int64, count=1)[0] if buffer is not None and buffer.size else 0
    return pa.concat_arrays([texts, texts.slice(0, 0)]) if texts.offset or begins else texts


def _mask(booleans: Any) -> Mask:
    if isinstance(booleans, pa.Scalar):
        return np.asarray(booleans.as_py(), np.bool_)
    mask: Mask = booleans.to_numpy(zero_copy_only=False)
    return mask


def _filled(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """The values of a number column without a copy where it has no NULL."""
    array = whole(column)
    filled = array.fill_null(pa.scalar(0, array.type)) if array.null_count else array
    values: npt.NDArray[Any] = filled.to_numpy(zero_copy_only=False)
    return values


def _numbers(column: pa.ChunkedArray, null: Nulls) -> Numbers:
    values = _filled(column)
    if values.dtype.kind == "f":
        return Numbers(values.astype(np.float64, copy=False), null)
    if values.dtype == np.uint64 and values.size and int(values.max()) >= 2**63:
        return Numbers(values, null)
    return Numbers(values.astype(np.int64, copy=False), null)


def _decimals(column: pa.ChunkedArray, null: Nulls) -> Value:
    """Up to 18 digits as words; more as they are."""
    dtype = column.type
    if dtype.scale < 0:
        digits = dtype.precision - dtype.scale
        if digits > MOST_WIDE_DIGITS:
            raise RowByRowError
        return _decimals(column.cast(pa.decimal256(digits, 0)), null)
    if dtype.scale > MOST_WIDE_DIGITS:
        raise RowByRowError
    if dtype.precision > NARROW:
        array = whole(column)
        wide = pa.types.is_decimal256(dtype)
        return WideDecimals(array if wide else array.cast(pa.decimal256(dtype.precision, dtype.scale)))
    if not pa.types.is_decimal128(dtype) and not pa.types.is_decimal256(dtype):
        column = column.cast(pa.decimal128(dtype.precision, dtype.scale))
    return Decimals(low_words(whole(column)), dtype.scale, null)


def low_words(array: pa.Array) -> npt.NDArray[np.int64]:
    """The low 64 bits of each number of a decimal128 or decimal256 array: all of it where it has at most 18 digits."""
    each = array.type.bit_width // 64
    if not len(array):
        return np.zeros(0, np.int64)
    words = np.frombuffer(array.buffers()[1], np.int64)[::each]
    return words[array.offset : array.offset + len(array)]


def _times(column: pa.ChunkedArray, null: Nulls) -> Times:
    dtype = column.type
    zone = dtype.tz if pa.types.is_timestamp(dtype) else None
    unit = "s" if dtype == pa.date32() else "ms" if dtype == pa.date64() else dtype.unit
    ticks = _filled(column.cast(pa.int32() if dtype.bit_width == 32 else pa.int64()))
    counted: npt.NDArray[np.int64] = ticks.astype(np.int64, copy=False)
    if dtype == pa.date32():
        counted = counted * 86_400
    times = Times(counted, unit, null, zone)
    return times if unit in ("us", "ns") else in_unit(times, "us") or times


def in_unit(times: Times, unit: str) -> Times | None:
    """The same times in a finer unit; None where one of them would leave 64 bits.

    >>> in_unit(Times(np.array([2]), "s"), "ns").values, in_unit(Times(np.array([2**40]), "s"), "ns")
    (array([2000000000]), None)
    """
    if times.unit == unit:
        return times
    each = PER_SECOND[unit] // PER_SECOND[times.unit]
    most, values = (2**63 - 1) // each, times.values
    if values.size and (int(values.max()) > most or int(values.min()) < -most):
        return None
    return Times(values * each, unit, times.null, times.zone)


def spread(value: Value, codes: npt.NDArray[Any]) -> Value:
    """The value of each row from the values of the distinct rows and each row's number among those."""

    def look_up(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array if array.ndim == 0 else array[codes]

    def nulls(null: Nulls) -> Nulls:
        return None if null is None else look_up(null)

    match value:
        case Nothing():
            return value
        case Truth(true, null):
            return Truth(look_up(true), nulls(null))
        case Numbers() | Decimals() | Times():
            return replace(value, values=look_up(value.values), null=nulls(value.null))
        case Texts(values) | WideDecimals(values):
            return value if isinstance(values, pa.Scalar) else type(value)(values.take(pa.array(codes)))
        case Opaque(null):
            return Opaque(nulls(null))
        case _:
            assert_never(value)
