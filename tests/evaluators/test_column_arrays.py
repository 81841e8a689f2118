"""Values of expressions as arrays of a type known before any row is read: those of the definition, row by row."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepheid.algebra.conditions import Arithmetic, Attribute, Call, Expression, Literal
from cepheid.algebra.kinds import Kind
from cepheid.algebra.moments import Interval, Moment, TimeOfDay, moment_of
from cepheid.algebra.result_types import result_type
from cepheid.algebra.types import type_of_value
from cepheid.errors import CepheidError
from cepheid.evaluators.columns.arrays import array_of, array_of_values
from cepheid.schema import Schema, schema_of
from cepheid.semantics.rows import rows_of, ticks_ns, values_of
from cepheid.semantics.values import value_of
from support import random_conditions as expressions
from support.generators import Drawn, pick

KINDS = (
    Kind.NUMBER,
    Kind.NUMBER,
    Kind.STRING,
    Kind.BOOLEAN,
    Kind.TIMESTAMP,
    Kind.DATE,
    Kind.TIME,
    Kind.DURATION,
)


@st.composite
def tables_and_expressions(
    draw: Callable[[st.SearchStrategy[int]], int],
) -> tuple[pa.Table, Expression, Kind]:
    choices = Drawn(draw)
    table, kind = expressions.table(choices), pick(choices, KINDS)
    return table, expressions.typed(expressions.expression(choices, kind, 3), table), kind


def type_in(table: pa.Table, expression: Expression) -> pa.DataType:
    return type_of_value(expression, schema_in(table))


def schema_in(table: pa.Table) -> Schema:
    return schema_of(pa.schema([pa.field("__time", pa.int64()), *table.schema]), time="__time", type=None)


def plain(value: Any) -> Any:
    """A value that is equal where the shown one must be."""
    if isinstance(value, dt.date | Moment | TimeOfDay | Interval):
        return moment_of(value).ns
    return "NaN" if value != value else value


@settings(max_examples=150)
@given(tables_and_expressions())
def test_an_array_has_the_values_of_the_definition(case: tuple[pa.Table, Expression, Kind]) -> None:
    table, expression, kind = case
    dtype = result_type(expression, kind, schema_in(table))
    wanted = [value_of(expression, {None: row}) for row in rows_of(table)]
    ns = ticks_ns(dtype)
    ticks = [moment_of(value).ns // ns for value in wanted if value is not None] if ns is not None else []
    if not all(-(2**63) <= tick < 2**63 for tick in ticks):
        with pytest.raises(CepheidError, match="bad-data"):
            array_of(expression, table, dtype)
        return
    array = array_of(expression, table, dtype)
    assert array.type == dtype
    if pa.types.is_floating(dtype):
        wanted = [None if value is None else float(value) for value in wanted]
    elif pa.types.is_decimal(dtype):
        wanted = array_of_values(wanted, dtype).to_pylist()
    assert [plain(value) for value in values_of(array)] == [plain(value) for value in wanted]


TABLE = pa.table(
    {
        "i8": pa.array([1, -128, None], pa.int8()),
        "u": pa.array([2**64 - 1, 0, None], pa.uint64()),
        "f": pa.array([0.5, math.nan, None], pa.float32()),
        "cost": pa.array([Decimal("1.25"), Decimal("-0.05"), None], pa.decimal128(5, 2)),
        "large": pa.array([Decimal(10) ** 37, Decimal(1), None], pa.decimal128(38, 0)),
        "tiny": pa.array([Decimal("1e-30"), Decimal(0), None], pa.decimal128(38, 30)),
        "s": pa.array(["a", "b", None], pa.large_string()),
        "ms": pa.array([1, 2, None], pa.timestamp("ms", "Europe/Paris")),
        "ns": pa.array([1, 2, None], pa.timestamp("ns", "UTC")),
        "day": pa.array([1, 2, None], pa.date32()),
    }
)


def attribute(name: str) -> Attribute:
    return Attribute(None, name)


@pytest.mark.parametrize(
    ("expression", "dtype", "values"),
    [
        (attribute("i8"), pa.int8(), [1, -128, None]),
        (Call("abs", (attribute("i8"),)), pa.int64(), [1, 128, None]),
        (Arithmetic("+", attribute("u"), Literal(1)), pa.int64(), [None, 1, None]),
        (Call("coalesce", (attribute("u"), Literal(-1))), pa.decimal128(20, 0), [2**64 - 1, 0, -1]),
        (Call("coalesce", (attribute("f"), attribute("i8"))), pa.float64(), [0.5, math.nan, None]),
        (Call("coalesce", (attribute("cost"), attribute("f"))), pa.float64(), [1.25, -0.05, None]),
        (Arithmetic("*", attribute("cost"), Literal(2)), pa.decimal128(7, 2), ["2.50", "-0.10", None]),
        (Call("coalesce", (attribute("cost"), Literal(7))), pa.decimal128(5, 2), ["1.25", "-0.05", "7.00"]),
        # Beyond 38 digits, digits after the point are given up, as in arithmetic.
        (Call("least", (attribute("large"), attribute("tiny"))), pa.decimal128(38, 6), ["0", "0", None]),
        (Call("upper", (attribute("s"),)), pa.string(), ["A", "B", None]),
        (Literal(2.5), pa.float64(), [2.5] * 3),
        (Literal("k"), pa.string(), ["k"] * 3),
        (Literal(None), pa.null(), [None] * 3),
    ],
)
def test_types_are_those_of_the_schema(expression: Expression, dtype: pa.DataType, values: list[Any]) -> None:
    typed = expressions.typed(expression, TABLE)
    assert type_in(TABLE, typed) == dtype
    found = array_of(typed, TABLE, dtype) if not isinstance(typed, Attribute) else TABLE[typed.name]
    wanted = [
        Decimal(value) if isinstance(value, str) and pa.types.is_decimal(dtype) else value for value in values
    ]
    assert [plain(value) for value in found.to_pylist()] == [plain(value) for value in wanted]


def test_the_finest_unit_of_several_is_shown_in_the_first_zone() -> None:
    both = Call("coalesce", (attribute("ms"), attribute("ns")))
    assert type_in(TABLE, both) == pa.timestamp("ns", "Europe/Paris")
    found = array_of(both, TABLE, pa.timestamp("ns", "Europe/Paris"))
    assert found.cast(pa.int64()).to_pylist() == [1_000_000, 2_000_000, None]
