"""Arithmetic on decimals, exact until the result is fitted to its type.

In: Python decimals and whole numbers, and the type of the result (`algebra.precision`). Out: a decimal, or NULL (None)
where the result has too many digits or something is divided by zero.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

from cepheid.algebra.precision import MOST_WIDE_DIGITS, DecimalType, result_type, type_of_decimal

# Sums and products of two decimals have at most 76 digits before and 2 * 76 after the point. A quotient that is not
# exact lies farther than 10^-250 from every decimal of 76 digits and from every half between two.
EXACT = Context(prec=1000, rounding=ROUND_HALF_UP, Emin=-100_000, Emax=100_000, traps=[])


def decimal_arithmetic(
    op: str, left: Decimal | int, right: Decimal | int, result: DecimalType | None
) -> Decimal | None:
    """`left op right`. Without a type the operands' own digits decide.

    >>> decimal_arithmetic("*", Decimal("0.10"), 3, None), decimal_arithmetic("/", Decimal("1.0"), Decimal("0.0"), None)
    (Decimal('0.30'), None)
    >>> decimal_arithmetic("/", Decimal("2.00"), 3, DecimalType(10, 6))
    Decimal('0.666667')
    """
    fitting = result or result_type(op, type_of_decimal(left), type_of_decimal(right))
    one, other = Decimal(left), Decimal(right)
    match op:
        case "+":
            return fitted(EXACT.add(one, other), fitting)
        case "-":
            return fitted(EXACT.subtract(one, other), fitting)
        case "*":
            return fitted(EXACT.multiply(one, other), fitting)
        case "/":
            return None if other == 0 else fitted(EXACT.divide(one, other), fitting)
        case "%":  # with the sign of the dividend
            return None if other == 0 else fitted(EXACT.remainder(one, other), fitting)
        case _:
            raise AssertionError(op)


def fitted(value: Decimal, dtype: DecimalType) -> Decimal | None:
    """The value rounded to the type's scale, halves away from zero; NULL where it has more digits than the type.

    >>> fitted(Decimal("-2.675"), DecimalType(3, 2)), fitted(Decimal("9.995"), DecimalType(3, 2))
    (Decimal('-2.68'), None)
    """
    rounded = to_scale(value, dtype.scale)
    digits = 0 if rounded == 0 else len(rounded.as_tuple().digits)
    return rounded if digits <= dtype.precision else None


def to_scale(value: Decimal, scale: int) -> Decimal:
    """
    >>> to_scale(Decimal("1.25"), 1), to_scale(Decimal(7), 2)
    (Decimal('1.3'), Decimal('7.00'))
    """
    return EXACT.quantize(value, Decimal(1).scaleb(-scale, EXACT))


def rounded_decimal(value: Decimal, digits: int) -> Decimal | None:
    """To `digits` decimals, halves away from zero; NULL where that takes more digits than decimals have.

    >>> rounded_decimal(Decimal("2.675"), 2), rounded_decimal(Decimal(-25), -1), rounded_decimal(Decimal(1), 5)
    (Decimal('2.68'), Decimal('-30'), Decimal('1'))
    """
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    if -exponent <= digits:
        return value
    # No decimal reaches 10^400; further tens make it 0 as well.
    rounded = to_scale(to_scale(value, max(digits, -400)), max(digits, 0))
    return rounded if len(rounded.as_tuple().digits) <= MOST_WIDE_DIGITS else None


def whole_decimal(value: Decimal, rounding: str) -> Decimal:
    """
    >>> from decimal import ROUND_FLOOR
    >>> whole_decimal(Decimal("-2.5"), ROUND_FLOOR)
    Decimal('-3')
    """
    return value.to_integral_value(rounding, EXACT) if value.as_tuple().exponent != 0 else value
