"""The values of an expression as one Arrow array of a given type.

In: an expression over the columns of a table (attributes with `var` None), and the type that `algebra.result_types`
says its values have. Out: an array with a value per row, equal to `semantics.values.value_of` row by row; decimals that
the type has no room for are rounded, halves away from zero, and NULL where they have too many digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, assert_never

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.algebra.conditions import Attribute, Expression
from cepheid.algebra.moments import moment_of
from cepheid.errors import CepheidError
from cepheid.evaluators.columns.decimals import doubles_of, wide_values
from cepheid.evaluators.columns.kinds import (
    Decimals,
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
)
from cepheid.evaluators.columns.table import Columns
from cepheid.semantics.rows import ticks_ns

_EXACT = Context(prec=200)


def array_of(expression: Expression, table: pa.Table, dtype: pa.DataType) -> pa.Array:
    """The values of an expression for all rows of a table.

    >>> from cepheid.algebra.conditions import Arithmetic, Attribute, Literal
    >>> half = Arithmetic("/", Attribute(None, "v"), Literal(2))
    >>> array_of(half, pa.table({"v": [1, None]}), pa.float64()).to_pylist()
    [0.5, None]
    """
    if isinstance(expression, Attribute) and table.schema.field(expression.name).type == dtype:
        return _repeated(table[expression.name], len(table))
    columns = Columns(table)
    try:
        return _array(columns.value(expression), len(table), dtype)
    except (RowByRowError, pa.ArrowInvalid):  # a decimal that the type has no room for
        values, codes = columns.by_definition(expression)
        return array_of_values(values, dtype).take(pa.array(codes))


def array_of_values(values: Sequence[Any], dtype: pa.DataType) -> pa.Array:
    """Values of the definition, of one kind, as an array of this type.

    >>> array_of_values([Decimal("0.125"), 12, None], pa.decimal128(3, 2)).to_pylist()
    [Decimal('0.13'), None, None]
    """
    ns = ticks_ns(dtype)
    if ns is not None:
        ticks = [None if value is None else moment_of(value).ns // ns for value in values]
        try:
            return pa.array(ticks, pa.int32() if dtype.bit_width == 32 else pa.int64()).cast(dtype)
        except (OverflowError, pa.ArrowInvalid):
            raise CepheidError(
                "bad-data",
                f"a computed time lies beyond what {dtype} holds",
                hint="leave such rows out with FILTER, or give times in a coarser unit",
            ) from None
    if pa.types.is_decimal(dtype):
        return pa.array([_rounded(value, dtype) for value in values], dtype)
    if pa.types.is_floating(dtype):
        values = [None if value is None else float(value) for value in values]
    return pa.array(values, dtype)


def _rounded(value: Decimal | int | None, dtype: pa.DataType) -> Decimal | None:
    if value is None:
        return None
    rounded = Decimal(value).quantize(Decimal((0, (1,), -dtype.scale)), ROUND_HALF_UP, context=_EXACT)
    return rounded if len(rounded.as_tuple().digits) <= dtype.precision else None


def _array(value: Value, rows: int, dtype: pa.DataType) -> pa.Array:
    match value:
        case Nothing():
            return pa.nulls(rows, dtype)
        case Truth(true, null):
            return _masked(true, null, rows)
        case Numbers(values, null):
            real = pa.types.is_floating(dtype)
            return _masked(values.astype(np.float64) if real else values, null, rows).cast(dtype)
        case Decimals() | WideDecimals() if pa.types.is_floating(dtype):
            return _array(doubles_of(value), rows, dtype)
        case Decimals() | WideDecimals():
            return _repeated(wide_values(value), rows).cast(dtype)
        case Texts(values):
            return _repeated(values, rows).cast(dtype)
        case Times(values, unit, null):
            return _ticks(_masked(values, null, rows), unit, dtype)
        case Opaque():
            raise RowByRowError
        case _:
            assert_never(value)


def _masked(values: Any, null: Nulls, rows: int) -> pa.Array:
    mask = None if null is None else np.broadcast_to(null, rows)
    return pa.array(np.broadcast_to(values, rows), mask=mask)


def _repeated(values: Any, rows: int) -> pa.Array:
    if isinstance(values, pa.Scalar):
        return pa.repeat(values, rows)
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _ticks(ticks: pa.Array, unit: str, dtype: pa.DataType) -> pa.Array:
    """Counts of a unit as a type of times; a time of day or a date does not lose by the way."""
    if pa.types.is_duration(dtype):
        return ticks.cast(pa.duration(unit)).cast(dtype)
    if pa.types.is_time(dtype):
        return ticks.cast(pa.time64(unit)).cast(dtype)
    if pa.types.is_date(dtype):
        return pc.cast(ticks.cast(pa.timestamp(unit)), dtype)
    return ticks.cast(pa.timestamp(unit, dtype.tz)).cast(dtype)
