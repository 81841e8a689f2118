"""Precision and scale of decimals: the types that the results of arithmetic have, by Spark's rules.

In: the types of the operands. Out: the type of the result. A value of `DecimalType(p, s)` is a whole number of at most
p digits times 10^-s. The rules are those of Spark SQL with `spark.sql.decimalOperations.allowPrecisionLoss`, its
default. Spark ends at 38 digits; where an operand has more, as decimal256 columns may, the same rules end at 76.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

MOST_DIGITS = 38
MOST_WIDE_DIGITS = 76
INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}  # of whole numbers by their bits, as Spark has it
_KEPT_SCALE = 6  # digits after the point that stay when a result has too many digits
_QUOTIENT_SCALE = 6


@dataclass(frozen=True, slots=True)
class DecimalType:
    """`precision` digits in all, `scale` of them after the point; a negative scale counts tens, hundreds, …"""

    precision: int
    scale: int

    @property
    def before_point(self) -> int:
        """Digits before the point."""
        return self.precision - self.scale


def type_of_decimal(value: Decimal | int) -> DecimalType:
    """The type of a literal: as many digits as it is written with.

    >>> type_of_decimal(Decimal("0.10")), type_of_decimal(250)
    (DecimalType(precision=2, scale=2), DecimalType(precision=3, scale=0))
    """
    if isinstance(value, int):
        return DecimalType(len(str(abs(value))), 0)
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    return DecimalType(max(len(digits), -exponent), -exponent)


def is_held(value: Decimal) -> bool:
    """Whether some decimal column could hold the value.

    >>> is_held(Decimal("0.1")), is_held(Decimal("1e300"))
    (True, False)
    """
    if not value.is_finite():
        return False
    dtype = type_of_decimal(value)
    return dtype.scale <= MOST_WIDE_DIGITS and max(dtype.precision, dtype.before_point) <= MOST_WIDE_DIGITS


def exact_type(op: str, left: DecimalType, right: DecimalType) -> DecimalType:
    """The type of `left op right` before it is bounded; every result but a quotient's fits it without rounding.

    >>> exact_type("*", DecimalType(10, 2), DecimalType(12, 3))
    DecimalType(precision=23, scale=5)
    """
    scale = max(left.scale, right.scale)
    match op:
        case "+" | "-":
            return DecimalType(scale + max(left.before_point, right.before_point) + 1, scale)
        case "*":
            return DecimalType(left.precision + right.precision + 1, left.scale + right.scale)
        case "/":
            scale = max(_QUOTIENT_SCALE, left.scale + right.precision + 1)
            return DecimalType(max(1, left.before_point + right.scale + scale), scale)
        case "%":
            return DecimalType(max(1, min(left.before_point, right.before_point) + scale), scale)
        case _:
            raise AssertionError(op)


def result_type(op: str, left: DecimalType, right: DecimalType) -> DecimalType:
    """The type of `left op right`.

    >>> result_type("/", DecimalType(10, 2), DecimalType(10, 2))
    DecimalType(precision=23, scale=13)
    >>> result_type("*", DecimalType(38, 10), DecimalType(38, 10))
    DecimalType(precision=38, scale=6)
    """
    return bounded(exact_type(op, left, right), most_digits(left, right))


def most_digits(*operands: DecimalType) -> int:
    """The digits that results of these operands may have."""
    wide = any(operand.precision > MOST_DIGITS for operand in operands)
    return MOST_WIDE_DIGITS if wide else MOST_DIGITS


def bounded(exact: DecimalType, most: int) -> DecimalType:
    """Digits before the point come first; after it at least six are kept."""
    if exact.precision <= most:
        return exact
    if exact.scale < 0:
        return DecimalType(most, exact.scale)
    return DecimalType(most, max(most - exact.before_point, min(exact.scale, _KEPT_SCALE)))


def sum_type(operand: DecimalType) -> DecimalType:
    """The type of a sum over a set.

    >>> sum_type(DecimalType(10, 2)), sum_type(DecimalType(38, 2))
    (DecimalType(precision=20, scale=2), DecimalType(precision=38, scale=2))
    """
    return DecimalType(min(operand.precision + 10, most_digits(operand)), operand.scale)


def average_type(operand: DecimalType) -> DecimalType:
    """The type of an average over a set.

    >>> average_type(DecimalType(10, 2))
    DecimalType(precision=14, scale=6)
    """
    most = most_digits(operand)
    return DecimalType(min(operand.precision + 4, most), min(operand.scale + 4, most))


def widest(types: Iterable[DecimalType]) -> DecimalType:
    """The narrowest type that holds all values of these types.

    >>> widest([DecimalType(10, 2), DecimalType(5, 4)])
    DecimalType(precision=12, scale=4)
    """
    operands = list(types)
    scale = max(dtype.scale for dtype in operands)
    return DecimalType(max(1, scale + max(dtype.before_point for dtype in operands)), scale)


def rounded_type(operand: DecimalType, digits: int | None) -> DecimalType:
    """The type of round(operand, digits); of floor and ceil, which have 0 digits. None: rows differ in them."""
    if digits is None:
        return DecimalType(operand.precision + 1, operand.scale)
    if digits >= operand.scale:
        return operand
    scale = max(digits, 0)
    before = operand.before_point + 1
    return DecimalType(max(before, 1 - digits) + scale, scale)
