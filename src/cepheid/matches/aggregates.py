"""Aggregates over the events of a set, for all matches at once.

In: for each match the values of its events, in stream order, as one array with the places where matches begin. Out: a
value per match, as `semantics.whole_sets.aggregate` has it: NULLs ignored; of no value a count is 0 and all else NULL.
Whole numbers and decimals are exact; doubles are added one after the other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.algebra.conditions import Aggregate, Arithmetic, Attribute, Call, Expression
from cepheid.matches.match_arrays import Ints
from cepheid.semantics.whole_sets import aggregate
from cepheid.streams.partitions import Texts, numbered
from cepheid.streams.plain import whole

Evaluate = Callable[[Expression, pa.Table, pa.DataType], pa.Array]
"""The values of an expression over the columns of a table, as an array of a type."""

Nulls = npt.NDArray[np.bool_]
_HALF = 32  # bits
_DIGITS = 76  # the most that Arrow has


def aggregated(
    node: Aggregate, offsets: Ints, values: pa.Array, dtype: pa.DataType, evaluate: Evaluate
) -> pa.Array:
    """The aggregate of each match, of this type.

    >>> offsets, values, events = np.array([0, 2, 2, 4]), pa.array([1, 2, 3, None]), Attribute("X", "v", each=True)
    >>> aggregated(Aggregate("max", events), offsets, values, pa.int64(), lambda *_: values).to_pylist()
    [2, None, 3]
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(valid)])[offsets]
    values = whole(pa.chunked_array([values.filter(pa.array(valid))])) if values.null_count else values
    if pa.types.is_float16(values.type):
        values = values.cast(pa.float32())  # Arrow does not sort halves
    counts = np.diff(offsets)
    match node.function:
        case "count":
            return pa.array(_distinct_counts(offsets, values) if node.distinct else counts)
        case "first":
            return _taken(values, offsets[:-1], counts == 0).cast(dtype)
        case "last":
            return _taken(values, offsets[1:] - 1, counts == 0).cast(dtype)
        case "min" | "max":
            return _taken(values, _extremes(node.function, offsets, values), counts == 0).cast(dtype)
        case "sum":
            return _long_ones_exact(node, offsets, values, _sums(offsets, values, dtype, evaluate))
        case "avg":
            return _long_ones_exact(node, offsets, values, _averages(node, offsets, values, dtype, evaluate))
        case function:
            raise AssertionError(function)


def _taken(values: pa.Array, places: Ints, missing: Nulls) -> pa.Array:
    return values.take(pa.array(np.where(missing, 0, places), mask=missing))


def _distinct_counts(offsets: Ints, values: pa.Array) -> Ints:
    matches = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    pairs = np.stack([matches, numbered(values, "", Texts())[0]])
    return np.bincount(np.unique(pairs, axis=1)[0], minlength=len(offsets) - 1)


def _extremes(function: str, offsets: Ints, values: pa.Array) -> Ints:
    """The place of each match's smallest or greatest value; NaN, if there is one, is either."""
    order = pc.sort_indices(values).to_numpy()
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.arange(len(values))
    if function == "min" and pa.types.is_floating(values.type):
        ranks[np.isnan(values.to_numpy())] -= len(values)
    filled = np.diff(offsets) > 0
    chosen = np.zeros(len(offsets) - 1, np.int64)
    if filled.any():
        pick = np.minimum if function == "min" else np.maximum
        chosen[filled] = order[pick.reduceat(ranks, offsets[:-1][filled]) % len(values)]
    return chosen


def _sums(offsets: Ints, values: pa.Array, dtype: pa.DataType, evaluate: Evaluate) -> pa.Array:
    missing = np.diff(offsets) == 0
    if pa.types.is_decimal(values.type):
        exact = pa.table({"sum": _decimal_sums(offsets, values)})
        return evaluate(Call("coalesce", (Attribute(None, "sum"),)), exact, dtype)
    if pa.types.is_floating(values.type):
        return pa.array(_one_after_the_other(offsets, values.to_numpy()), mask=missing)
    high, low = _halves(offsets, values)
    fits = (high >= -(1 << 31)) & (high < 1 << 31)
    return pa.array((np.where(fits, high, 0) << _HALF) | low, mask=missing | ~fits)


def _halves(offsets: Ints, values: pa.Array) -> tuple[Ints, Ints]:
    """The exact sums of whole numbers: high · 2³² + low."""
    numbers = values.cast(pa.int64() if values.type != pa.uint64() else values.type).to_numpy()
    low = _plain_sums(offsets, (numbers & numbers.dtype.type((1 << _HALF) - 1)).astype(np.int64))
    high = _plain_sums(offsets, (numbers >> numbers.dtype.type(_HALF)).astype(np.int64))
    return high + (low >> _HALF), low & ((1 << _HALF) - 1)


def _plain_sums(offsets: Ints, numbers: Ints) -> Ints:
    sums: Ints = np.concatenate([np.zeros(1, np.int64), np.cumsum(numbers)])
    return sums[offsets[1:]] - sums[offsets[:-1]]  # what has wrapped around wraps back


def _one_after_the_other(offsets: Ints, numbers: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Sums of doubles in the order of the stream: all first values, then all second ones, and so on."""
    lengths = np.diff(offsets)
    longest_first = np.argsort(-lengths, kind="stable")
    sums = np.zeros(len(lengths))
    for place in range(int(lengths.max(initial=0))):
        longer = longest_first[: np.searchsorted(-lengths[longest_first], -place)]
        more = numbers[offsets[longer] + place]
        with np.errstate(all="ignore"):
            sums[longer] += more
    return sums


def _decimal_sums(offsets: Ints, values: pa.Array) -> pa.Array:
    """Exact sums in 76 digits."""
    wide = values.cast(pa.decimal256(76, values.type.scale))
    matches = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    sums = pa.table({"match": matches, "value": wide}).group_by("match").aggregate([("value", "sum")])
    places = np.full(len(offsets) - 1, -1)
    places[sums["match"].to_numpy()] = np.arange(len(sums))
    return _taken(whole(sums["value_sum"]), places, places < 0)


def _long_ones_exact(node: Aggregate, offsets: Ints, values: pa.Array, found: pa.Array) -> pa.Array:
    """The aggregates of decimals, by the definition for matches whose sum may have more than 76 digits."""
    if not pa.types.is_decimal(values.type) or values.type.precision + len(str(len(values))) <= _DIGITS:
        return found
    magnitudes = np.concatenate([np.zeros(1), np.cumsum(np.abs(values.cast(pa.float64()).to_numpy()))])
    bounds = magnitudes[offsets[1:]] - magnitudes[offsets[:-1]]
    long = np.flatnonzero(bounds >= 0.5 * 10.0 ** (_DIGITS - values.type.scale))
    if len(long) == 0:
        return found
    exact = [
        aggregate(node, values[offsets[match] : offsets[match + 1]].to_pylist()) for match in long.tolist()
    ]
    places = np.arange(len(found))
    places[long] = len(found) + np.arange(len(long))
    return pa.concat_arrays([found, pa.array(exact, found.type)]).take(pa.array(places))


def _averages(
    node: Aggregate, offsets: Ints, values: pa.Array, dtype: pa.DataType, evaluate: Evaluate
) -> pa.Array:
    """The sums, exact where values are, divided once."""
    counts = np.diff(offsets)
    divisors = np.maximum(counts, 1)
    if pa.types.is_decimal(values.type):
        table = pa.table({"sum": _decimal_sums(offsets, values), "count": divisors})
        quotient = Arithmetic("/", Attribute(None, "sum"), Attribute(None, "count"), result=node.result)
        return evaluate(quotient, table, dtype)
    if pa.types.is_floating(values.type):
        return pa.array(_one_after_the_other(offsets, values.to_numpy()) / divisors, mask=counts == 0)
    high, low = _halves(offsets, values)
    averages = (high * 2.0**_HALF + low) / divisors
    for match in np.flatnonzero(np.abs(high) >= 1 << 20):  # a double may not hold the sum
        averages[match] = ((int(high[match]) << _HALF) + int(low[match])) / int(counts[match])
    return pa.array(averages, mask=counts == 0)
