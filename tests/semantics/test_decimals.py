"""Decimals by the definition: exact, rounded once, NULL beyond their digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepheid.algebra.precision import DecimalType, result_type, type_of_decimal
from cepheid.semantics.decimals import decimal_arithmetic, fitted
from cepheid.semantics.functions import apply
from cepheid.semantics.keys import is_one_key
from cepheid.semantics.values import compare

EXACT = {"+": Fraction.__add__, "-": Fraction.__sub__, "*": Fraction.__mul__, "/": Fraction.__truediv__}


@st.composite
def decimals(draw: st.DrawFn) -> Decimal:
    digits = draw(st.integers(1, 76))
    number = draw(st.integers(-(10**digits) + 1, 10**digits - 1))
    return Decimal(
        (int(number < 0), tuple(int(digit) for digit in str(abs(number))), -draw(st.integers(-5, 76)))
    )


def rounded(value: Fraction, scale: int) -> int:
    """Halves away from zero."""
    doubled = abs(value) * Fraction(10) ** scale * 2
    size = (doubled.numerator // doubled.denominator + 1) // 2
    return -size if value < 0 else size


@given(decimals(), decimals(), st.sampled_from("+-*/"))
def test_a_result_is_the_exact_one_rounded_once(left: Decimal, right: Decimal, op: str) -> None:
    result = result_type(op, type_of_decimal(left), type_of_decimal(right))
    value = decimal_arithmetic(op, left, right, result)
    if op == "/" and right == 0:
        assert value is None
        return
    exact = rounded(EXACT[op](Fraction(left), Fraction(right)), result.scale)
    if abs(exact) >= 10**result.precision:
        assert value is None
    else:
        assert value is not None
        assert Fraction(value) == Fraction(exact) / Fraction(10) ** result.scale


@given(decimals(), decimals())
def test_a_remainder_has_the_sign_of_the_dividend(left: Decimal, right: Decimal) -> None:
    value = decimal_arithmetic("%", left, right, DecimalType(400, 200))
    if right == 0:
        assert value is None
        return
    size = abs(Fraction(left)) % abs(Fraction(right))
    assert value is not None
    assert Fraction(value) == (-size if left < 0 else size)


@given(decimals(), st.floats())
def test_a_decimal_and_a_double_compare_by_value(decimal: Decimal, real: float) -> None:
    if real != real:
        assert [compare(op, decimal, real) for op in ("=", "<", ">=", "<>")] == [False, False, False, True]
    elif real in (float("inf"), -float("inf")):
        assert compare("<", decimal, real) is (real > 0)
    else:
        one, other = Fraction(decimal), Fraction(real)
        assert compare("<", decimal, real) is (one < other)
        assert compare("=", decimal, real) is (one == other)
        assert is_one_key([decimal, real]) is (one == other)


def test_the_context_of_the_caller_does_not_matter() -> None:
    long = Decimal("-" + "9" * 60 + ".5")
    with localcontext() as context:
        context.prec = 3
        assert apply("abs", [long]) == long.copy_abs()
        assert apply("floor", [long]) == Decimal("-1" + "0" * 60)
        assert apply("round", [long]) == Decimal("-1" + "0" * 60)
        assert apply("ceil", [long]) == Decimal("-" + "9" * 60)
        assert decimal_arithmetic("-", 0, long, type_of_decimal(long)) == long.copy_abs()


def test_functions_of_decimals() -> None:
    assert apply("round", [Decimal("2.675"), 2]) == Decimal("2.68")
    assert apply("round", [Decimal("-0.5")]) == Decimal(-1)
    assert apply("round", [Decimal(250), -2]) == Decimal(300)
    assert apply("round", [Decimal(250), -(2**40)]) == 0
    assert apply("round", [Decimal("9" * 76), -1]) is None
    assert apply("round", [Decimal("1.5"), 2**40]) == Decimal("1.5")
    assert apply("sqrt", [Decimal("2.25")]) == 1.5
    assert apply("sign", [Decimal("-0.01")]) == -1.0
    assert apply("power", [Decimal("1.5"), Decimal(2)]) == 2.25
    assert apply("least", [Decimal("0.1"), 0.1, 1]) == Decimal("0.1")
    assert apply("nullif", [Decimal("0.10"), Decimal("0.1")]) is None
    assert apply("substr", ["abc", Decimal("2.9")]) == "bc"


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        ("0.005", (2, 2), "0.01"),
        ("-0.005", (2, 2), "-0.01"),
        ("0.995", (2, 2), None),
        ("1250", (2, -2), "1300"),
        ("0.004", (1, 2), "0.00"),
    ],
)
def test_a_value_is_fitted_to_its_type(value: str, dtype: tuple[int, int], expected: str | None) -> None:
    fits = fitted(Decimal(value), DecimalType(*dtype))
    assert fits == (None if expected is None else Decimal(expected))
