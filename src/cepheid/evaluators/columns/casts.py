"""CAST for all rows at once, equal to `semantics.casts`.

In: a value and a type. Out: the value in that type. Numbers become numbers over whole columns, and so do texts that are
written plainly; everything else is made by the definition, once per distinct value.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, assert_never

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.algebra.cast_types import CastType
from cepheid.algebra.kinds import Kind
from cepheid.algebra.moments import PER_SECOND, SECOND, Moment
from cepheid.evaluators.columns.arithmetic import doubles, nulled
from cepheid.evaluators.columns.decimals import doubles_of, wide_values
from cepheid.evaluators.columns.kinds import (
    NARROW,
    SEVERAL_ZONES,
    Decimals,
    Mask,
    Nothing,
    Nulls,
    Numbers,
    Opaque,
    RowByRowError,
    Texts,
    Times,
    Truth,
    Value,
    WideDecimals,
    arrow_nulls,
    in_unit,
    nulls_of,
    of_column,
    of_literal,
    spread,
)
from cepheid.evaluators.columns.parts import days_of
from cepheid.semantics import casts as definition
from cepheid.semantics.decimals import EXACT

Ints = npt.NDArray[np.int64]

_PLAIN_WHOLE = r"\A[+-]?[0-9]{1,18}\z"
_PLAIN_REAL = r"\A[+-]?([0-9]{1,18}(\.[0-9]{0,30})?|\.[0-9]{1,30})\z"


def cast(value: Value, target: CastType, kind: Kind | None) -> Value:
    """The value of each row in the type; `kind` is that of the value.

    >>> cast(Numbers(np.array([2.9, np.nan])), CastType("INT"), Kind.NUMBER)
    Numbers(values=array([2, 0]), null=array([False,  True]), mixed=False)
    """
    null = nulls_of(value)
    if not null.ndim:
        return Nothing() if null else of_literal(definition.cast(_constant(value), target, kind))
    with np.errstate(all="ignore"):
        match target.kind:
            case Kind.NUMBER:
                return _number(value, target)
            case Kind.STRING:
                return _text(value, target, kind)
            case Kind.BOOLEAN:
                return _truth(value, target)
            case Kind.DATE:
                return _date(value, target, kind)
            case Kind.TIMESTAMP | Kind.TIME | Kind.DURATION | Kind.NULL | Kind.OTHER:
                raise AssertionError(target)  # CAST makes none
            case _:
                assert_never(target.kind)


def _number(value: Value, target: CastType) -> Value:
    if isinstance(value, Truth):
        value = Numbers(np.asarray(value.true).astype(np.int64), value.null)
    if isinstance(value, Numbers) and value.mixed:
        raise RowByRowError
    if isinstance(value, Texts):
        return _number_of_text(value, target)
    if target.decimal is not None:
        return _decimal(value, target)
    if target.bits is not None:
        return _whole(value, target)
    if isinstance(value, Decimals | WideDecimals):
        value = doubles_of(value)
    assert isinstance(value, Numbers), value
    real = doubles(value)
    return Numbers(
        real if target.name == "DOUBLE" else real.astype(np.float32).astype(np.float64), value.null
    )


def _whole(value: Value, target: CastType) -> Value:
    """Digits after the point are cut off."""
    assert target.bits is not None
    if isinstance(value, Decimals):
        if value.scale > NARROW:
            return _of_decimals(value, target)
        whole, rest = np.divmod(value.values, np.int64(10**value.scale))
        value = Numbers(whole + ((value.values < 0) & (rest != 0)), value.null)
    if isinstance(value, WideDecimals):
        return _of_decimals(value, target)
    assert isinstance(value, Numbers), value
    low, high = -(2 ** (target.bits - 1)), 2 ** (target.bits - 1)
    if value.real:
        whole = np.trunc(value.values)
        fits: Mask = (whole >= float(low)) & (whole < float(high))
    else:
        whole = value.values
        fits = (
            (whole <= np.uint64(high - 1))
            if whole.dtype == np.uint64
            else (whole >= low) & (whole <= high - 1)
        )
    return nulled(np.where(fits, whole, 0).astype(np.int64), value.null, ~fits)


def _decimal(value: Value, target: CastType) -> Value:
    """Whole numbers and narrow decimals as words, where the result has few digits; the others by the definition."""
    assert target.decimal is not None
    if isinstance(value, Numbers) and value.real:
        return _of_reals(value, target)
    if isinstance(value, Numbers) and value.values.dtype == np.uint64:
        raise RowByRowError
    exact = Decimals(value.values, 0, value.null) if isinstance(value, Numbers) else value
    assert isinstance(exact, Decimals | WideDecimals), value
    if isinstance(exact, WideDecimals) or target.decimal.precision > NARROW or exact.scale > NARROW:
        return _of_decimals(exact, target)
    words, null, scale = exact.values, exact.null, target.decimal.scale
    room = np.int64(10**target.decimal.before_point)
    whole = words // np.int64(10**exact.scale)
    fits = (whole >= -room) & (whole <= room)  # so that nothing overflows
    words = np.where(fits, words, 0)
    if scale >= exact.scale:
        rounded = words * np.int64(10 ** (scale - exact.scale))
    else:
        unit = np.int64(10 ** (exact.scale - scale))
        below, rest = np.divmod(words, unit)
        rounded = below + (2 * rest + (words >= 0) > unit)  # halves away from zero
    fits = fits & (np.abs(rounded) < np.int64(10**target.decimal.precision))
    missing = ~fits if null is None else ~fits | null
    return Decimals(np.asarray(np.where(fits, rounded, 0), np.int64), scale, missing)


def _number_of_text(value: Texts, target: CastType) -> Value:
    """Texts that are written plainly by Arrow, all others by the definition."""
    if target.decimal is not None:
        return _of_texts(value, target)
    trimmed = pc.utf8_trim(value.values, characters=definition.SPACES)
    plain = pc.match_substring_regex(trimmed, _PLAIN_REAL if target.bits is None else _PLAIN_WHOLE)
    if not pc.all(plain, min_count=0, skip_nulls=True).as_py():
        return _of_texts(value, target)
    unsigned = pc.replace_substring_regex(trimmed, r"\A\+", "")
    numbers = unsigned.cast(pa.float64() if target.bits is None else pa.int64())
    values = numbers.fill_null(0).to_numpy(zero_copy_only=False)
    return _number(Numbers(values, arrow_nulls(numbers)), target)


def _text(value: Value, target: CastType, kind: Kind | None) -> Value:
    match value:
        case Texts():
            return value
        case Numbers() if value.mixed:
            raise RowByRowError
        case Numbers() if value.real:
            return _of_reals(value, target)
        case Numbers():
            return Texts(pa.array(value.values, mask=value.null).cast(pa.large_string()))
        case Times():
            return _of_times(value, target, kind)
        case Decimals() | WideDecimals():
            return _of_decimals(value, target)
        case Truth():
            return _distinct(value.true, value.null, target)
        case Nothing() | Opaque():
            raise AssertionError(value)
        case _:
            assert_never(value)


def _truth(value: Value, target: CastType) -> Value:
    match value:
        case Truth():
            return value
        case Numbers() | Decimals():
            true = np.asarray(value.values != 0)
            return Truth(true if value.null is None else true & ~value.null, value.null)
        case WideDecimals():
            return _of_decimals(value, target)
        case Texts():
            return _of_texts(value, target)
        case Times() | Nothing() | Opaque():
            raise AssertionError(value)
        case _:
            assert_never(value)


def _date(value: Value, target: CastType, kind: Kind | None) -> Value:
    if isinstance(value, Texts):
        return _of_texts(value, target)
    assert isinstance(value, Times), value
    if kind is not Kind.TIMESTAMP:
        return value
    if value.zone == SEVERAL_ZONES:
        raise RowByRowError
    days = Times(days_of(value) * 86_400, "s", value.null)
    return in_unit(days, "us") or days


# By the definition, once per distinct value


def _of_texts(value: Texts, target: CastType) -> Value:
    return _of_arrow(value.values, target)


def _of_decimals(value: Decimals | WideDecimals, target: CastType) -> Value:
    return _of_arrow(wide_values(value), target)


def _of_arrow(values: pa.Array, target: CastType) -> Value:
    encoded = values.dictionary_encode(null_encoding="encode")
    made = [definition.cast(value, target) for value in encoded.dictionary.to_pylist()]
    return _made(made, encoded.indices.to_numpy(zero_copy_only=False), target)


def _of_reals(value: Numbers, target: CastType) -> Value:
    words = np.ascontiguousarray(value.values).view(np.int64)  # so that NaN is one value, and -0.0 not 0.0
    return _distinct(words, value.null, target, lambda word: float(np.int64(word).view(np.float64)))


def _of_times(value: Times, target: CastType, kind: Kind | None) -> Value:
    if value.zone == SEVERAL_ZONES:
        raise RowByRowError
    each = SECOND // PER_SECOND[value.unit]
    return _distinct(
        value.values, value.null, target, lambda tick: Moment(int(tick) * each, value.zone), kind
    )


def _distinct(
    values: npt.NDArray[Any],
    null: Nulls,
    target: CastType,
    meaning: Callable[[Any], Any] = lambda value: value.item(),
    kind: Kind | None = None,
) -> Value:
    """The cast of each value; `meaning` gives a distinct one as the definition has it."""
    distinct, codes = np.unique(values, return_inverse=True)
    made = [definition.cast(meaning(value), target, kind) for value in distinct]
    codes = codes.reshape(values.shape)
    if null is not None:
        made, codes = [*made, None], np.where(null, len(distinct), codes)
    return _made(made, codes, target)


def _made(values: list[Any], codes: Ints, target: CastType) -> Value:
    """The value of each row from those of distinct ones, and each row's number among those."""
    dtype = pa.large_string() if target.kind is Kind.STRING else target.arrow
    return spread(of_column(pa.chunked_array([pa.array(values, dtype)])), codes)


def _constant(value: Value) -> Any:
    """A constant as the definition has it."""
    match value:
        case Truth(true):
            return true.item()
        case Numbers(number):
            return number.item()
        case Decimals(word, scale):
            return Decimal(word.item()).scaleb(-scale, EXACT)
        case Times(ticks, unit):
            return Moment(ticks.item() * (SECOND // PER_SECOND[unit]), value.zone)
        case Texts(scalar) | WideDecimals(scalar):
            return scalar.as_py()
        case Nothing() | Opaque():
            raise AssertionError(value)
        case _:
            assert_never(value)
