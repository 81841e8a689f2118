"""Values of an expression for all rows → words of one form, as `kernels.conditions.programs` reads them.

In: a table's columns and an expression over one event. Out: int64 arrays, and masks of their NULLs. Invariants: in one
form, values are equal exactly where their words are; NULL has a word that no value has, except among whole numbers. The
sign of zero and the payload of NaN, which no condition can see, are dropped.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.algebra.conditions import Attribute, Expression
from cepheid.algebra.moments import PER_SECOND, Interval, Moment, TimeOfDay
from cepheid.errors import CepheidError
from cepheid.evaluators.columns import Columns, kinds
from cepheid.evaluators.columns.distinct import repeats
from cepheid.evaluators.configurations.decimal_words import (
    can_be_found,
    converted_decimals,
    tagged_decimal,
    words_by_value,
    words_of_decimals,
)
from cepheid.kernels.conditions import values as tags
from cepheid.kernels.conditions.decimals import DECIMAL, WIDE
from cepheid.kernels.conditions.programs import ABSENT, NULL_REAL, NULL_TEXT, NULL_WORD
from cepheid.matches.match_arrays import Ints
from cepheid.semantics.numbers import instant
from cepheid.streams.partitions import Texts, numbered
from cepheid.streams.plain import whole

Nulls: TypeAlias = npt.NDArray[np.bool_] | None

UNITS = {tags.SECONDS: "s", tags.MILLIS: "ms", tags.MICROS: "us", tags.NANOS: "ns"}
_TWO_63 = 2.0**63


def null_of(form: int) -> int:
    """The word of NULL.

    >>> null_of(tags.TEXT)
    -1
    """
    return NULL_REAL if form == tags.REAL else NULL_TEXT if form == tags.TEXT or form >= WIDE else NULL_WORD


def words_of(columns: Columns, expression: Expression, form: int, texts: Texts) -> tuple[Ints, Nulls]:
    """A word per row, or for ANY two, [row, tag and value].

    >>> prices = Columns(pa.table({"price": [2.0, None]}))
    >>> words, nulls = words_of(prices, Attribute(None, "price"), tags.REAL, Texts())
    >>> words.view(np.float64).tolist(), nulls.tolist()
    ([2.0, nan], [False, True])
    """
    rows = columns.table.num_rows
    if form == tags.TEXT and isinstance(expression, Attribute):
        return _of_text_column(columns, expression.name, texts)
    try:
        if form == tags.ANY:
            raise kinds.RowByRowError
        words, nulls = _of_value(columns.value(expression), form, texts)
    except kinds.RowByRowError:
        values, codes = columns.by_definition(expression)
        if form >= DECIMAL:
            found, missing = words_by_value(values, form, texts)
            return _with_nulls(found[codes], missing[codes], form), missing[codes]
        pairs = np.array([tagged(value, texts, form) for value in values], np.int64).reshape(-1, 2)
        if form == tags.ANY:
            return pairs[codes], None
        nulls = (pairs[:, 0] == tags.NULL)[codes]
        words = _with_nulls(pairs[:, 1][codes], nulls, form)
    return np.broadcast_to(words, rows), None if nulls is None else np.broadcast_to(nulls, rows)


def tagged(value: Any, texts: Texts, form: int = tags.ANY) -> tuple[int, int]:
    """A Python value as a tag and a word. Times are in the unit of the form; if it has none, in microseconds where that
    is exact and fits, else in another unit that is.

    >>> tagged(2**63, Texts()) == (tags.BIG, -(2**63)), tagged("a", Texts()) == (tags.TEXT, 0), tagged(None, Texts())
    (True, True, (0, 0))
    """
    match value:
        case None:
            return tags.NULL, 0
        case bool():
            return tags.TRUTH, int(value)
        case int():
            return (tags.WHOLE, value) if value < 2**63 else (tags.BIG, value - 2**64)
        case float():
            return tags.REAL, int(_bits(np.array([value]))[0])
        case str():
            return tags.TEXT, int(texts.numbers(pa.array([value], pa.large_string()))[0])
        case Decimal():
            return tagged_decimal(value)
        case dt.date() | Moment() | TimeOfDay() | Interval():
            return _tagged_time(instant(value), form)
        case _:
            raise AssertionError(value)


def _tagged_time(ns: int, form: int) -> tuple[int, int]:
    for tag in [form] if form in tags.TIMES else [tags.MICROS, tags.NANOS, tags.MILLIS, tags.SECONDS]:
        word, rest = divmod(ns, 10 ** (9 - tags.TIMES[tag]))
        if not rest and -(2**63) <= word < 2**63:
            return tag, word
    raise out_of_range(form)


def out_of_range(form: int) -> CepheidError:
    """The error for a time that has no word of this form."""
    name = "nanoseconds" if form == tags.NANOS else "microseconds"
    message = f"a condition of several events reads a time outside the range of {name} in 64 bits"
    hint = "set such times to NULL, or read them from a column of integers"
    return CepheidError("bad-data", message, hint=hint)


def _of_value(value: kinds.Value, form: int, texts: Texts) -> tuple[Ints, Nulls]:
    match value:
        case kinds.Nothing():
            return np.asarray(null_of(form), np.int64), np.asarray(True)
        case _ if form >= DECIMAL:
            words, nulls = words_of_decimals(value, form, texts)
            return _with_nulls(words, nulls, form), nulls
        case kinds.Truth(true, null):
            return _with_nulls(true.astype(np.int64), null, form), null
        case kinds.Decimals() | kinds.WideDecimals():
            raise kinds.RowByRowError
        case kinds.Numbers(values, null):
            return _with_nulls(_bits(values) if form == tags.REAL else _whole(values), null, form), null
        case kinds.Times(null=null):
            words = _ticks(value, form)
            check_words(words, null, form, "a time")
            return _with_nulls(words, null, form), null
        case kinds.Texts(values):
            return _of_texts(values, texts)
        case _:
            raise kinds.RowByRowError


def _ticks(times: kinds.Times, form: int) -> Ints:
    """Times in the unit of a form."""
    coarser = PER_SECOND[times.unit] // PER_SECOND[UNITS[form]]
    if coarser > 1:
        words, rest = np.divmod(times.values, coarser)
        if bool((rest if times.null is None else np.where(times.null, 0, rest)).any()):
            raise kinds.RowByRowError
        return words
    counted = kinds.in_unit(times, UNITS[form])
    if counted is None:
        raise out_of_range(form)
    return counted.values


def _of_text_column(columns: Columns, name: str, texts: Texts) -> tuple[Ints, Nulls]:
    """Numbers each distinct text once where texts repeat."""
    column = columns.table[name]
    if not repeats(column):
        numbers, nulls = numbered(whole(column), name, texts)
        return _with_nulls(numbers, nulls, tags.TEXT), nulls
    codes, values = columns.distinct_of(name)
    numbers, nulls = numbered(whole(values), name, texts)
    return _with_nulls(numbers, nulls, tags.TEXT)[codes], None if nulls is None else nulls[codes]


def _of_texts(values: Any, texts: Texts) -> tuple[Ints, Nulls]:
    array = pa.array([values.as_py()], pa.large_string()) if isinstance(values, pa.Scalar) else whole(values)
    nulls = kinds.arrow_nulls(array)
    numbers = texts.numbers(array if nulls is None else pc.fill_null(array, ""))
    return _with_nulls(numbers, nulls, tags.TEXT), nulls


def _with_nulls(words: Ints, nulls: Nulls, form: int) -> Ints:
    return words if nulls is None else np.where(nulls, np.int64(null_of(form)), words)


def _whole(values: npt.NDArray[Any]) -> Ints:
    words: Ints = values.view(np.int64) if values.dtype == np.uint64 else values.astype(np.int64, copy=False)
    return words


def _bits(values: npt.NDArray[Any]) -> Ints:
    """Doubles by their bits, with one zero and one NaN."""
    reals = np.atleast_1d(values.astype(np.float64) + 0.0)
    reals[np.isnan(reals)] = np.nan
    bits: Ints = reals.view(np.int64)
    return bits.reshape(values.shape)


def looked_up(words: Ints, nulls: Nulls, form: int, wanted: int, shown: str) -> Ints:
    """The words that records of the form `wanted` have for the same values; an absent word where none is equal.

    >>> tens = np.array([10, 2**53 + 1])
    >>> looked_up(tens, None, tags.WHOLE, tags.REAL, "id")[0] == np.array([10.0]).view(np.int64)[0]
    np.True_
    """
    found, missing = _converted(words, form, wanted)
    missing = missing if nulls is None else missing | nulls
    check_words(found, missing, wanted, shown)
    return np.where(missing, np.int64(null_of(wanted) + ABSENT), found)


def check_words(words: Ints, nulls: Nulls, form: int, shown: str) -> None:
    """Refuses whole numbers and times that equal the word of NULL, where only words are compared."""
    if form in (tags.REAL, tags.TEXT, tags.TRUTH) or form >= DECIMAL:
        return
    clash = (words == NULL_WORD) | (words == NULL_WORD + ABSENT)
    if bool((clash if nulls is None else clash & ~nulls).any()):
        message = f"`{shown}` has a value around {NULL_WORD}, which cannot be compared with others"
        raise CepheidError("bad-data", message, hint="replace it by another number")


def can_be_looked_up(form: int, wanted: int) -> bool:
    """Whether values of a form can be found among records of another by one word.

    >>> can_be_looked_up(tags.WHOLE, tags.REAL), can_be_looked_up(tags.ANY, tags.REAL)
    (True, False)
    """
    if max(form, wanted) >= DECIMAL:
        return can_be_found(form, wanted)
    numbers = (tags.WHOLE, tags.BIG, tags.REAL)
    return form not in (tags.NULL, tags.ANY) and (
        form == wanted
        or (form in numbers and wanted in numbers)
        or (form in tags.TIMES and wanted in tags.TIMES)
    )


def _converted(words: Ints, form: int, wanted: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The words of the same values in another form, and a mask of those that have none."""
    if max(form, wanted) >= DECIMAL:
        return converted_decimals(words, form, wanted)
    if form == tags.REAL:
        return _from_reals(words.view(np.float64), words, wanted)
    if form == wanted:
        return words, np.zeros(len(words), np.bool_)
    if wanted == tags.REAL:
        unsigned = words.view(np.uint64)
        reals = unsigned.astype(np.float64) if form == tags.BIG else words.astype(np.float64)
        exact = _exactly_unsigned(reals) == unsigned if form == tags.BIG else _exactly_whole(reals) == words
        return reals.view(np.int64), ~exact
    if wanted in tags.TIMES:
        return _in_other_unit(words, tags.TIMES[wanted] - tags.TIMES[form])
    return words, words < 0  # with a sign and without


def _in_other_unit(words: Ints, digits: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Times in a unit with so many digits more, and a mask of those that have no word in it."""
    each = 10 ** abs(digits)
    if digits < 0:
        return words // each, words % each != 0
    farthest = (2**63 - 1) // each
    fits = (words >= -farthest) & (words <= farthest)
    return np.where(fits, words, 0) * each, ~fits


def _from_reals(
    reals: npt.NDArray[np.float64], words: Ints, wanted: int
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    if wanted == tags.REAL:
        return words, np.isnan(reals)
    least, most = (0.0, 2 * _TWO_63) if wanted == tags.BIG else (-_TWO_63, _TWO_63)
    fits = (reals >= least) & (reals < most) & (reals == np.floor(reals))
    small = np.where(fits, reals, 0.0)
    found = small.astype(np.uint64).view(np.int64) if wanted == tags.BIG else small.astype(np.int64)
    return found, ~fits


def _exactly_whole(reals: npt.NDArray[np.float64]) -> Ints:
    """The doubles as int64; 2^63 becomes -2^63, which does not equal the number it came from."""
    return np.where(reals < _TWO_63, reals, -_TWO_63).astype(np.int64)


def _exactly_unsigned(reals: npt.NDArray[np.float64]) -> npt.NDArray[np.uint64]:
    return np.where(reals < 2 * _TWO_63, reals, 0.0).astype(np.uint64)
