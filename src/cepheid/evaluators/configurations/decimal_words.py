"""Decimals as words in the forms of `kernels.conditions.decimals`: up to 18 digits in the word, more as numbered texts.

In: types, values over columns, Python values. Out: forms, words, and words of other forms for the same numbers.
Invariant: words of one form are equal exactly where the numbers are; words of up to 18 digits never equal NULL's.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.algebra.precision import MOST_WIDE_DIGITS, DecimalType, type_of_decimal
from cepheid.evaluators.columns.decimals import (
    bytes_of_scale,
    of_ordered_bytes,
    ordered_bytes,
    words_of_scale,
)
from cepheid.evaluators.columns.kinds import NARROW, Value, arrow_nulls
from cepheid.kernels.conditions.decimals import BEYOND, DECIMAL, MOST_SCALE, WIDE, order_with_reals
from cepheid.kernels.conditions.values import BIG, EQUAL, REAL, WHOLE
from cepheid.matches.match_arrays import Ints
from cepheid.semantics.decimals import EXACT
from cepheid.streams.partitions import Texts

Nulls: TypeAlias = npt.NDArray[np.bool_] | None

MOST_REAL_SCALE = 22  # up to it words are compared with doubles
_WORDS = 10**NARROW  # above every word


def form_of_decimal(exact: DecimalType) -> int | None:
    """The form of decimals of a type; None where they have more than 76 digits before and after the point.

    >>> form_of_decimal(DecimalType(10, 2)) == DECIMAL + 2, form_of_decimal(DecimalType(38, 10)) == WIDE + 10
    (True, True)
    """
    if exact.scale < 0:
        exact = DecimalType(exact.before_point, 0)
    if exact.precision <= NARROW and exact.scale <= MOST_SCALE:
        return DECIMAL + exact.scale
    return WIDE + exact.scale if max(exact.precision, exact.scale) <= MOST_WIDE_DIGITS else None


def wide_form(one: DecimalType, other: DecimalType) -> int | None:
    """The wide form in which numbers of both types can be compared, if there is one.

    >>> wide_form(DecimalType(38, 2), DecimalType(20, 5)) == WIDE + 5, wide_form(DecimalType(76, 0), DecimalType(9, 9))
    (True, None)
    """
    scale = max(one.scale, other.scale, 0)
    before = max(one.before_point, other.before_point)
    return WIDE + scale if scale + before <= MOST_WIDE_DIGITS else None


def tagged_decimal(value: Decimal) -> tuple[int, int]:
    """A tag and a word; BEYOND where it has none.

    >>> tagged_decimal(Decimal("-2.50")) == (DECIMAL + 2, -250), tagged_decimal(Decimal(10**30)) == (BEYOND, 0)
    (True, True)
    """
    form = form_of_decimal(type_of_decimal(value))
    if form is None or form >= WIDE:
        return BEYOND, 0
    return form, int(value.scaleb(form - DECIMAL, EXACT))


def words_of_decimals(value: Value, form: int, texts: Texts) -> tuple[Ints, Nulls]:
    """A word per row, or one for all; arbitrary where NULL."""
    if form < WIDE:
        return words_of_scale(value, form - DECIMAL)
    return _numbered(bytes_of_scale(value, form - WIDE), texts)


def words_by_value(values: Sequence[Any], form: int, texts: Texts) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """`words_of_decimals` of Python values."""
    scale = form - (WIDE if form >= WIDE else DECIMAL)
    nulls = np.array([value is None for value in values], np.bool_)
    unscaled = [0 if value is None else int(Decimal(value).scaleb(scale, EXACT)) for value in values]
    if form < WIDE:
        return np.array(unscaled, np.int64), nulls
    data = b"".join(number.to_bytes(32, "little", signed=True) for number in unscaled)
    buffers = [None, pa.py_buffer(data)]
    array = pa.Array.from_buffers(pa.decimal256(MOST_WIDE_DIGITS, 0), len(unscaled), buffers)
    return _numbered(ordered_bytes(array), texts)[0], nulls


def _numbered(texts_of_rows: pa.Array, texts: Texts) -> tuple[Ints, Nulls]:
    nulls = arrow_nulls(texts_of_rows)
    if nulls is None:
        return texts.numbers(texts_of_rows), None
    numbers = np.zeros(len(nulls), np.int64)
    numbers[~nulls] = texts.numbers(texts_of_rows.drop_null())
    return numbers, nulls


def array_of_words(words: Ints, null: npt.NDArray[np.bool_], form: int, texts: Texts) -> pa.Array:
    """The decimals that have these words, as an Arrow array."""
    places = pa.array(np.cumsum(~null) - 1, mask=null)
    if form >= WIDE:
        return of_ordered_bytes(texts.binary(words[~null]), form - WIDE).take(places)
    known = words[~null]
    halves = np.stack([known, known >> 63], axis=1)
    dtype = pa.decimal128(NARROW, form - DECIMAL)
    return pa.Array.from_buffers(dtype, len(known), [None, pa.py_buffer(halves)]).take(places)


def can_be_found(form: int, wanted: int) -> bool:
    """Whether numbers of a form can be looked up by word among records of another, one of the two decimals."""
    if form == wanted:
        return True
    if max(form, wanted) >= WIDE:
        return False
    numbers = (WHOLE, BIG, REAL)
    if any(one < DECIMAL and one not in numbers for one in (form, wanted)):
        return False
    return REAL not in (form, wanted) or max(form, wanted) <= DECIMAL + MOST_REAL_SCALE


def converted_decimals(words: Ints, form: int, wanted: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The words of the same numbers in another form, one of the two a decimal's, and a mask of those without one.

    >>> converted_decimals(np.array([250, 251]), DECIMAL + 2, DECIMAL + 1)[1].tolist()
    [False, True]
    """
    if form == wanted:
        return words, np.zeros(len(words), np.bool_)
    if form == REAL:
        return _from_reals(words.view(np.float64), wanted - DECIMAL)
    if wanted == REAL:
        return _to_reals(words, form - DECIMAL)
    power = max(wanted - DECIMAL, 0) - max(form - DECIMAL, 0)
    missing = words < 0 if BIG in (form, wanted) else np.zeros(len(words), np.bool_)
    if power > 0:
        most = (_WORDS - 1) // 10**power
        beyond = (words > most) | (words < -most)
        return np.where(beyond, 0, words) * np.int64(10 ** min(power, NARROW)), missing | beyond
    if power == 0:
        beyond = (words >= _WORDS) | (words <= -_WORDS) if wanted >= DECIMAL else np.False_
        return words, missing | beyond
    if -power > NARROW:
        return np.zeros_like(words), missing | (words != 0)
    unit = np.int64(10**-power)
    return words // unit, missing | (words % unit != 0)


def _from_reals(reals: npt.NDArray[np.float64], scale: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    with np.errstate(all="ignore"):
        product = np.rint(reals * 10.0**scale)
        near = np.abs(product) < _WORDS
    found = np.where(near, product, 0.0).astype(np.int64)
    return found, ~near | ~_equal(found, scale, reals)


def _to_reals(words: Ints, scale: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The quotient is next to the double that equals it, if there is one."""
    quotient = words / 10.0**scale
    found, missing = quotient, np.ones(len(words), np.bool_)
    for reals in (np.nextafter(quotient, -np.inf), np.nextafter(quotient, np.inf), quotient):
        equal = _equal(words, scale, reals)
        found, missing = np.where(equal, reals, found), missing & ~equal
    return (found + 0.0).view(np.int64), missing


def _equal(words: Ints, scale: int, reals: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    orders = np.empty(len(words), np.int64)
    order_with_reals(np.ascontiguousarray(words), scale, np.ascontiguousarray(reals), orders)
    equal: npt.NDArray[np.bool_] = orders == EQUAL
    return equal
