"""The types of columns that are text in their files: CSV throughout, times in JSON.

In: all values of a column as text, batch by batch. Out: the narrowest type that every value fits: a whole number of
64 bits, a real, a boolean, a date, a timestamp with or without a zone; else text. All values are looked at, not a
sample, so no later value can be lost or fail; and what a value looks like decides in the same way in every command
and on Spark.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
_ZONE = r"(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
_NAIVE = pa.timestamp("us")
_ZONED = pa.timestamp("us", "UTC")

_FORMS: tuple[tuple[pa.DataType, str], ...] = (
    (pa.int64(), r"^-?[0-9]{1,19}$"),
    (
        pa.float64(),
        # Whole numbers beyond 64 bits stay text: a real would not hold them exactly.
        r"^(?:-?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|-?[0-9]+[eE][-+]?[0-9]+|(?i:-?inf(?:inity)?|nan))$",
    ),
    (pa.bool_(), r"^(?:true|false|True|False|TRUE|FALSE)$"),
    (pa.date32(), rf"^{_DATE}$"),
    (_NAIVE, rf"^{_DATE}{_CLOCK}$"),
    (_ZONED, rf"^{_DATE}{_CLOCK}{_ZONE}$"),
)
TIMES = (pa.date32(), _NAIVE, _ZONED)


def widened(known: pa.DataType, texts: pa.Array, *, times_only: bool = False) -> pa.DataType:
    """The type of a column of which some values had the type `known` (null: there were none) and these are the next.

    >>> widened(pa.null(), pa.array(["1", None, "2"])), widened(pa.int64(), pa.array(["2.5"]))
    (DataType(int64), DataType(double))
    >>> widened(pa.null(), pa.array(["2024-01-31T12:30:00Z"])), widened(pa.date32(), pa.array(["soon"]))
    (TimestampType(timestamp[us, tz=UTC]), DataType(string))
    """
    if pa.types.is_string(known):
        return known
    values = texts.drop_null()
    if not len(values):
        return known
    return united(known, _type_of(values, times_only))


def united(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """A type for values of both; text where there is no better one.

    >>> united(pa.date32(), pa.timestamp("us")), united(pa.int64(), pa.bool_())
    (TimestampType(timestamp[us]), DataType(string))
    """
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    pair = {one, other}
    if pair == {pa.int64(), pa.float64()}:
        return pa.float64()
    stamps = [item for item in (one, other) if pa.types.is_timestamp(item)]
    if len({item.tz for item in stamps}) == 1 and all(
        pa.types.is_timestamp(item) or (pa.types.is_date32(item) and stamps[0].tz is None)
        for item in (one, other)
    ):
        finest = "ns" if any(item.unit == "ns" for item in stamps) else "us"
        return pa.timestamp(finest, stamps[0].tz)
    return pa.string()


def _type_of(values: pa.Array, times_only: bool) -> pa.DataType:
    found = pa.null()
    for dtype, form in _FORMS:
        if times_only and dtype not in TIMES:
            continue
        fits = pc.match_substring_regex(values, form)
        if not pc.any(fits).as_py():
            continue
        some = values.filter(fits)
        exact = _exact(some, dtype)
        if exact is None:
            return pa.string()
        found = united(found, exact)
        if len(some) == len(values):
            return found
        values = values.filter(pc.invert(fits))
        if pa.types.is_string(found):
            return found
    return pa.string()


def _exact(values: pa.Array, dtype: pa.DataType) -> pa.DataType | None:
    """The type, if all values that look like it are valid: the 30th of February is not a date."""
    finer = [pa.timestamp("ns", dtype.tz)] if pa.types.is_timestamp(dtype) else []
    for candidate in (dtype, *finer):
        try:
            values.cast(candidate)
        except pa.ArrowInvalid:
            continue
        return candidate
    return None
