"""Decimals end to end: exact in every frame, on every evaluator, as attributes, keys and literals."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cepheid
from cepheid.saved import pack, unpack
from support.random_conditions import decimals
from support.small_streams import error_of

CENT, NEXT = Decimal("12345678901234567.89"), Decimal("12345678901234567.90")
TYPES = [
    pa.decimal32(9, 2),
    pa.decimal64(18, 2),
    pa.decimal128(10, 2),
    pa.decimal128(18, 4),
    pa.decimal128(38, 18),
    pa.decimal256(76, 30),
]
QUERY = "SELECT * FROM s WHERE A AS x ; B AS y FILTER {}"


def events(a: list[Any], b: list[Any], dtype: pa.DataType, other: pa.DataType | None = None) -> pa.Table:
    """Rows of type A with the values `a` in column m, then of type B with the values `b`; column o has them again."""
    rows = [*a, *b]
    column = pa.array(rows, dtype)
    return pa.table(
        {
            "ts": range(len(rows)),
            "type": ["A"] * len(a) + ["B"] * len(b),
            "m": column,
            "o": column.cast(pa.decimal256(76, 30) if other is None else other),
            "i": range(1, len(rows) + 1),
            "v": [float(row) for row in rows],
        }
    )


CONDITIONS = [
    ("x.m * 3 = y.m", 1),  # 0.10 and 0.30
    ("x.m * 3 = 0.30", 2),
    ("0.10 * 3 = 0.30", 4),
    ("x.m + 0.2 = y.m", 1),
    ("x.m = 0.1", 2),
    ("x.m IN (0.1, 7, 1e-3)", 2),
    ("x.m BETWEEN 0.10 AND 0.10", 2),
    ("x.m = x.v", 2),  # 0.1 is no double, 2.5 is
    ("x.m < x.v", 2),
    ("x.m = y.o", 1),
    ("x.o < y.m", 2),
    ("-x.m < y.m", 4),
    ("x.m * y.m = 0.03", 1),
    ("y.m / x.m = 3", 1),
    ("y.m % x.m = 0", 3),
    ("round(x.m) = 3", 2),
    ("floor(x.m) = 2 AND ceil(x.m) = 3", 2),
    ("abs(x.m - y.m) = 0.2", 1),
    ("least(x.m, y.m) = 0.3", 1),
    ("coalesce(nullif(x.m, 0.1), y.m) = 0.3", 1),
    ("sqrt(y.m * 10) > 1.7", 4),
    ("x.m - x.i = -0.9", 2),
]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_decimals_are_exact(dtype: pa.DataType) -> None:
    table = events([Decimal("0.10"), Decimal("2.50")], [Decimal("0.30"), Decimal("2.50")], dtype)
    for condition, expected in CONDITIONS:
        query = QUERY.format(condition)
        assert cepheid.count(table, query) == expected, condition
        if dtype.bit_width == 32:
            assert cepheid.count(table, query, evaluator="semantics") == expected, condition


def test_cents_of_large_amounts_count() -> None:
    table = events([CENT, CENT], [CENT, NEXT], pa.decimal128(20, 2))
    for condition, expected in (
        ("x.m = y.m", 2),
        ("x.m < y.m", 2),
        ("y.m - x.m = 0.01", 2),
        ("y.m = 12345678901234567.90", 2),
        ("x.m <> 12345678901234567.90", 4),
        ("x.m < x.v", 4),
    ):
        for evaluator in ("auto", "semantics"):
            assert cepheid.count(table, QUERY.format(condition), evaluator=evaluator) == expected
    assert cepheid.count(table, "SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY m") == 2
    assert cepheid.count(table, "SELECT * FROM s WHERE A AS x ; B AS y PART-BY [m]") == 2
    assert cepheid.count(table, "SELECT * FROM s WHERE A AS x ; B AS y PART-BY [x.m, y.o]") == 2
    assert cepheid.count(table, "SELECT * FROM s WHERE A AS x : A : B AS y PART-BY [m]") == 1
    assert cepheid.count(table, "SELECT * FROM s WHERE A+ IN X ; B AS y FILTER X.m < y.m") == 3
    error = error_of(
        lambda: cepheid.count(table, QUERY.format("12345678901234567.89 = 12345678901234567.90"))
    )
    assert error.code == "unsatisfiable"


@pytest.mark.parametrize("evaluator", ["chain", "configurations", "semantics"])
def test_keys_of_several_types_are_equal_by_value(evaluator: str) -> None:
    table = events(
        [Decimal("0.10"), Decimal("2.50")], [Decimal("0.10"), Decimal("2.50")], pa.decimal128(10, 2)
    )
    query = "SELECT * FROM s WHERE A AS x ; B AS y PART-BY [x.m, y.{}]"
    assert cepheid.count(table, query.format("v"), evaluator=evaluator) == 1  # 0.1 is no double
    assert cepheid.count(table, query.format("o"), evaluator=evaluator) == 2


def test_results_have_as_many_digits_as_spark_gives_them() -> None:
    ends = [Decimal("9" * 38), Decimal("1" * 19)]
    table = events(ends, ends, pa.decimal128(38, 0), pa.decimal256(76, 0))
    for condition, expected in (
        ("(x.m + y.m) IS NULL", 3),  # 39 digits; 38 are the most
        ("(x.m * y.m) IS NULL", 3),
        ("(x.o * y.m) IS NOT NULL", 4),  # an operand of more than 38 digits may give 76
        ("(-x.m) IS NULL", 0),
        ("x.m + 0.5 > x.m", 2),  # of 38 digits none is left for the half
    ):
        for evaluator in ("auto", "semantics"):
            assert cepheid.count(table, QUERY.format(condition), evaluator=evaluator) == expected, condition


def test_scales_may_be_negative_or_beyond_the_digits() -> None:
    hundreds = decimals([Decimal(100), Decimal(300)], pa.decimal128(5, -2))
    specks = decimals([Decimal("1e-30"), Decimal("3e-30")], pa.decimal128(5, 30))
    table = pa.table({"ts": [0, 1], "type": ["A", "B"], "h": hundreds, "s": specks})
    for condition in (
        "x.h * 3 = y.h",
        "y.h - x.h = 200",
        "x.h < y.h",
        "x.s < y.s",
        "x.s * 3 = y.s",
        "x.h > y.s",
        "x.h = 100.0",
        "x.s <> 0",
        "floor(x.s) = 0",
        "y.h / x.h = 3",
    ):
        for evaluator in ("auto", "semantics"):
            assert cepheid.count(table, QUERY.format(condition), evaluator=evaluator) == 1, condition


FRAMES: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda table: table.to_pandas(),
    "arrow-backed pandas": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
}


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_of_all_kinds_give_the_same(frame: str) -> None:
    table = events(
        [CENT, Decimal("0.10")], [NEXT, Decimal("0.30")], pa.decimal128(20, 2), pa.decimal128(38, 4)
    )
    made = FRAMES[frame](table)
    for condition in ("x.m * 3 = y.m", "x.m < y.m", "x.m = 12345678901234567.89", "x.o + 0.01 = y.m"):
        query = QUERY.format(condition)
        assert cepheid.count(made, query) == cepheid.count(table, query) > 0
    keyed = "SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY m"
    assert cepheid.count(made, keyed) == 0


@pytest.mark.parametrize("dtype", [pa.decimal32(7, 2), pa.decimal64(15, 3)], ids=str)
def test_decimals_of_32_and_64_bits_come_out_as_decimal128(dtype: pa.DataType) -> None:
    table = events([Decimal("1.50")], [Decimal("1.50")], dtype)
    found = cepheid.match(table, "SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY m", order="m")
    assert found["m"].type == pa.decimal128(dtype.precision, dtype.scale)
    assert found["x"][0].as_py()["m"] == Decimal("1.50")


def test_a_state_is_saved_with_its_decimals() -> None:
    prices = [Decimal(text) for text in ("0.10", "5", "2.50", "0.30", "5", "7")]
    for dtype in (pa.decimal128(10, 2), pa.decimal128(38, 10)):
        table = events(prices[:3], prices[3:], dtype)
        for condition in ("x.m < y.m", "x.m = y.m", "x.m * y.m > 2", "x.m / y.m < 1"):
            query = cepheid.query(QUERY.format(condition))
            engine = query.engine(table.schema, time="ts")
            found = len(engine.push(table.slice(0, 4)))
            again = cepheid.load(engine.save())
            found += len(again.push(table.slice(4)))
            assert found == cepheid.count(table, query, evaluator="semantics")


@pytest.mark.parametrize("evaluator", ["chain", "configurations"])
def test_a_state_that_has_decimals_as_doubles_is_refused(evaluator: str) -> None:
    table = events([Decimal("0.10")], [Decimal("0.30")], pa.decimal128(10, 2))
    engine = cepheid.query(QUERY.format("x.m = y.m")).engine(table.schema, time="ts", evaluator=evaluator)
    engine.push(table)
    header, tables, arrays = unpack(engine.save())
    kept = {name: array for name, array in arrays.items() if not name.endswith("decimals")}
    assert len(kept) < len(arrays)
    error = error_of(lambda: cepheid.load(pack(header, tables, kept)))
    assert error.code == "bad-state"
    assert "decimals as doubles" in error.message


U64 = pa.table(
    {
        "ts": range(6),
        "type": list("ABABAB"),
        "u": pa.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1, None], pa.uint64()),
        "i": pa.array([0, -1, 2**63 - 1, -(2**63), 7, None], pa.int64()),
        "m": pa.array([Decimal(2**64 - 1), Decimal(2**63), Decimal("0.5"), None, Decimal(1), Decimal(-1)]),
    }
)


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "%"])
def test_numbers_without_a_sign_leave_64_bits_as_null(op: str) -> None:
    for right in ("y.u", "x.i", "y.i", "-1", "x.m", "y.m"):
        for condition in (f"(x.u {op} {right}) IS NULL", f"x.u {op} {right} > 18446744073709551615.0"):
            query = QUERY.format(condition)
            assert cepheid.count(U64, query) == cepheid.count(U64, query, evaluator="semantics"), condition


def test_the_largest_number_without_a_sign_can_be_written() -> None:
    assert cepheid.count(U64, QUERY.format("x.u = 18446744073709551615.0")) == 1
    assert cepheid.count(U64, QUERY.format("x.u > 18446744073709551614.0")) == 1


def test_values_that_are_decimals_or_doubles_are_saved_and_loaded() -> None:
    rows = pa.table(
        {
            "ts": [1, 2, 3],
            "type": ["A", "A", "B"],
            "a": pa.array([1, None, 25], pa.decimal128(9, 2)),
            "b": [0.5, 3.5, 2.5],
        }
    )
    engine = cepheid.query("SELECT * FROM s WHERE A AS x ; B AS y FILTER coalesce(x.a, x.b) <= y.b").engine(
        rows.schema
    )
    found = [engine.push(rows.slice(0, 2))]
    engine = cepheid.load(engine.save())
    assert [len(table) for table in [*found, engine.push(rows.slice(2)), engine.finish()]] == [0, 1, 0]
