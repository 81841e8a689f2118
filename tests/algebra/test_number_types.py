"""Which numbers are decimals, and the types of their results, as Spark has them."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from cepheid.algebra.conditions import Arithmetic, Comparison, Expression, In, Literal
from cepheid.algebra.number_types import decimal_type, with_number_types
from cepheid.algebra.precision import DecimalType, result_type
from cepheid.algebra.printing import print_condition
from cepheid.languages import lower, parse
from cepheid.schema import schema_of

SCHEMA = schema_of(
    pa.schema(
        [
            ("ts", pa.int64()),
            ("m", pa.decimal128(10, 2)),
            ("w", pa.decimal128(38, 10)),
            ("huge", pa.decimal256(60, 10)),
            ("i", pa.int64()),
            ("b", pa.int8()),
            ("v", pa.float64()),
        ]
    ),
    time="ts",
)


def typed(text: str) -> Expression:
    pattern = lower(parse(f"SELECT * FROM s WHERE s AS x FILTER {text}")).pattern
    return with_number_types(pattern.condition, SCHEMA)


@pytest.mark.parametrize(
    ("op", "left", "right", "result"),
    [  # as `SELECT typeof(CAST(1 AS DECIMAL(p, s)) op CAST(1 AS DECIMAL(p, s)))` says in Spark
        ("+", (10, 2), (10, 2), (11, 2)),
        ("+", (38, 10), (38, 10), (38, 9)),
        ("-", (38, 38), (38, 0), (38, 6)),
        ("*", (10, 2), (10, 2), (21, 4)),
        ("*", (38, 10), (38, 10), (38, 6)),
        ("*", (20, 18), (20, 18), (38, 33)),
        ("/", (10, 2), (10, 2), (23, 13)),
        ("/", (38, 10), (38, 10), (38, 6)),
        ("/", (3, 0), (1, 0), (9, 6)),
        ("%", (10, 2), (5, 4), (5, 4)),
        ("+", (76, 10), (38, 10), (76, 9)),
        ("*", (39, 0), (38, 0), (76, 0)),
    ],
)
def test_results_have_the_types_of_spark(
    op: str, left: tuple[int, int], right: tuple[int, int], result: tuple[int, int]
) -> None:
    assert result_type(op, DecimalType(*left), DecimalType(*right)) == DecimalType(*result)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("x.m * 3 > 0", (12, 2)),
        ("x.m * 0.05 > 0", (13, 4)),
        ("x.m + x.i > 0", (23, 2)),
        ("x.m - x.b > 0", (11, 2)),
        ("-x.w > 0", (38, 10)),
        ("x.huge + x.m > 0", (61, 10)),
        ("floor(x.m) * 1 > 0", (11, 0)),
        ("round(x.m, 1) * 1 > 0", (12, 1)),
        ("coalesce(x.m, x.i) + 1 > 0", (23, 2)),
        ("x.m * x.v > 0", None),
        ("x.i * 0.5 > 0", None),
        ("coalesce(x.m, x.v) + x.m > 0", None),
    ],
)
def test_arithmetic_on_decimals_notes_its_type(text: str, result: tuple[int, int] | None) -> None:
    condition = typed(text)
    assert isinstance(condition, Comparison)
    assert isinstance(condition.left, Arithmetic)
    assert condition.left.result == (None if result is None else DecimalType(*result))
    assert decimal_type(condition.left, SCHEMA) == condition.left.result
    assert with_number_types(condition, SCHEMA) == condition


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x.m = 0.1", Decimal("0.1")),
        ("x.v = 0.1", 0.1),
        ("x.i > 0.1", 0.1),
        ("x.v * x.m = 0.1", 0.1),
        ("1e3 < x.m", Decimal(1000)),
        ("x.m > 1e300", 1e300),
        ("x.m = -12345678901234567.89", Decimal("-12345678901234567.89")),
        ("x.v = 12345678901234567.89", 12345678901234567.89),
        ("x.i = 9007199254740993.0", Decimal("9007199254740993.0")),
        ("x.i < 4503599627370495.5", 4503599627370495.5),
        ("0.25 = 0.1", Decimal("0.1")),
        ("coalesce(x.m, x.v) = 0.1", Decimal("0.1")),
        ("length('a') > 0.1", 0.1),
    ],
)
def test_a_literal_takes_the_kind_of_what_it_stands_beside(text: str, value: float | Decimal) -> None:
    condition = typed(text)
    assert isinstance(condition, Comparison)
    literal = condition.left if isinstance(condition.left, Literal) and "1e3" in text else condition.right
    assert isinstance(literal, Literal)
    assert (type(literal.value), literal.value) == (type(value), value)


def test_constants_are_decimals_until_they_meet_a_double() -> None:
    for text, kind in (("x.m > 0.1 + 0.2", Decimal), ("x.v > 0.1 + 0.2", float), ("x.i > 0.1 + 0.2", float)):
        condition = typed(text)
        assert isinstance(condition, Comparison)
        assert isinstance(condition.right, Arithmetic)
        assert isinstance(condition.right.left, Literal)
        assert isinstance(condition.right.left.value, kind)


def test_long_lists_have_the_literals_of_short_ones() -> None:
    numbers = [f"-{'1234567890' * 7}.5", "0.1", *(f"{number}.25" for number in range(20))]
    for listed in (numbers, numbers[:3]):
        condition = typed(f"x.m IN ({', '.join(listed)})")
        assert isinstance(condition, In)
        assert [item.value for item in condition.items] == [Decimal(text) for text in listed]


def test_literals_print_as_they_are_read() -> None:
    for value in (Decimal("0.10"), Decimal("1e-20"), Decimal(5), Decimal("-12345678901234567.89")):
        text = print_condition(Literal(value))
        assert Decimal(text) == value
        assert "e" not in text.lower()
        assert "." in text
    for text in ("12345678901234567.89", "-9007199254740993.0", "0.1", f"-{'1234567890' * 7}.5"):
        pattern = lower(parse(f"SELECT * FROM s WHERE s AS x FILTER x.m = {text}")).pattern
        assert print_condition(pattern.condition) == f"x.m = {text}"
