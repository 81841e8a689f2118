"""Decimal or double: literals beside decimals become decimals, and arithmetic on decimals notes its result type.

In: a condition whose kinds are compatible, and the schema. Out: the same condition in which
- a number literal with a point or an exponent is a `Decimal` beside decimals or literals only, and a double beside
  doubles and whole numbers;
- every `Arithmetic` on decimals has its `result`;
- a value that may be a double or an exact number from row to row, `coalesce(x.real, x.cost)`, is made a double (by
  `* 1.0`) where arithmetic mixes it with decimals.

A constant is *undecided* until a column beside it decides whether it is a decimal or a double.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import assert_never

import pyarrow as pa

from cepheid.algebra.cast_types import CastType
from cepheid.algebra.conditions import (
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Case,
    Cast,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Element,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    Previous,
    RLike,
    attributes,
    rebuild,
)
from cepheid.algebra.elements import type_of
from cepheid.algebra.functions import FUNCTIONS
from cepheid.algebra.kinds import Kind
from cepheid.algebra.precision import (
    INTEGER_DIGITS,
    MOST_DIGITS,
    DecimalType,
    average_type,
    bounded,
    is_held,
    most_digits,
    result_type,
    rounded_type,
    sum_type,
    type_of_decimal,
    widest,
)
from cepheid.errors import Span
from cepheid.schema import Schema

_WHOLE, _REAL, _DECIMAL = "whole", "real", "decimal"
_LONG = DecimalType(20, 0)
_CHOOSERS = ("coalesce", "least", "greatest", "nullif")
_ROUNDERS = ("round", "floor", "ceil")
_REAL_RESULT = ("sqrt", "power", "ln", "exp", "sign")


@dataclass(frozen=True, slots=True)
class _Number:
    """The kinds of number that an expression may have. `exact`: the decimal type that holds all values but doubles.
    `constant`: the expression reads no event."""

    kinds: frozenset[str]
    exact: DecimalType = _LONG
    constant: bool = False

    @property
    def undecided(self) -> bool:
        return self.constant and _DECIMAL in self.kinds


_WHOLES, _DECIMALS = frozenset([_WHOLE]), frozenset([_DECIMAL])
_ONE_REAL = _Number(frozenset([_REAL]))
_ONE_WHOLE = _Number(_WHOLES)
_Resolved = tuple[Expression, _Number | None]


def with_number_types(condition: Condition, schema: Schema) -> Condition:
    """The condition with every number literal a decimal, a double or a whole number for good.

    >>> from cepheid.schema import schema_of
    >>> columns = pa.schema([("ts", pa.int64()), ("cost", pa.decimal128(10, 2)), ("v", pa.float64())])
    >>> schema = schema_of(columns, time="ts")
    >>> third = Comparison("=", Arithmetic("*", Attribute("x", "cost"), Literal(3)), Literal(0.3))
    >>> resolved = with_number_types(third, schema)
    >>> resolved.right, resolved.left.result
    (Literal(value=Decimal('0.3')), DecimalType(precision=12, scale=2))
    >>> with_number_types(Comparison("=", Attribute("x", "v"), Literal(0.3)), schema).right
    Literal(value=0.3)
    """
    return _decided(_resolved(condition, schema))


def decimal_type(expression: Expression, schema: Schema) -> DecimalType | None:
    """The type of a resolved expression whose values are decimals, or decimals and whole numbers; None for any other.

    >>> from cepheid.schema import schema_of
    >>> schema = schema_of(pa.schema([("ts", pa.int64()), ("cost", pa.decimal128(10, 2))]), time="ts")
    >>> decimal_type(Call("floor", (Attribute(None, "cost"),)), schema), decimal_type(Literal(1.5), schema)
    (DecimalType(precision=9, scale=0), None)
    """
    match expression:
        case Literal(Decimal() as value):
            return type_of_decimal(value)
        case Attribute(_, name):
            dtype = _value_type(schema, name)
            return DecimalType(dtype.precision, dtype.scale) if pa.types.is_decimal(dtype) else None
        case Arithmetic():
            return expression.result
        case Call("nullif" | "abs", (first, *_)):
            return decimal_type(first, schema)
        case Call(function, (first, *rest)) if function in _ROUNDERS:
            exact = decimal_type(first, schema)
            return None if exact is None else rounded_type(exact, _digits(rest))
        case Call(function, arguments) if function in _CHOOSERS:
            return _one_decimal_type(arguments, schema)
        case Case(_, values, otherwise):
            return _one_decimal_type((*values, otherwise), schema)
        case Cast(_, target):
            return target.decimal
        case Element():
            dtype = type_of(expression, schema)
            return DecimalType(dtype.precision, dtype.scale) if pa.types.is_decimal(dtype) else None
        case Aggregate("sum" | "avg"):
            return expression.result
        case Aggregate("count"):
            return None
        case Aggregate(_, operand) | Previous(operand):
            return decimal_type(operand, schema)
        case Literal() | Comparison() | Conjunction() | Disjunction() | Negation():
            return None
        case IsTrue() | IsNull() | In() | Like() | RLike() | Call():
            return None
        case _:
            assert_never(expression)


def number_type(expression: Expression, schema: Schema) -> pa.DataType:
    """The Arrow type that holds every value of a settled expression whose kind is number: of 64 bits, or a decimal. A
    value that may be a double or an exact number is shown as a double.

    >>> from cepheid.schema import schema_of
    >>> columns = pa.schema([("ts", pa.int64()), ("cost", pa.decimal128(10, 2)), ("v", pa.float32())])
    >>> schema = schema_of(columns, time="ts")
    >>> cost, v = Attribute("x", "cost"), Attribute("x", "v")
    >>> number_type(Call("coalesce", (cost, Literal(0))), schema), number_type(Call("coalesce", (cost, v)), schema)
    (Decimal128Type(decimal128(10, 2)), DataType(double))
    """
    number = _resolved(expression, schema)[1]
    if number is None:
        return pa.int64()
    if number.undecided or _REAL in number.kinds:
        return pa.float64()
    if _DECIMAL not in number.kinds and not _may_be_unsigned(expression, schema):
        return pa.int64()
    exact = number.exact
    if exact.scale < 0:
        exact = DecimalType(exact.before_point, 0)
    exact = bounded(exact, most_digits(exact) if _reads_wide(expression, schema) else MOST_DIGITS)
    return arrow_decimal(exact)


def arrow_decimal(exact: DecimalType) -> pa.DataType:
    """The Arrow type of decimals."""
    make = pa.decimal128 if exact.precision <= MOST_DIGITS else pa.decimal256
    return make(exact.precision, exact.scale)


def _reads_wide(expression: Expression, schema: Schema) -> bool:
    """Whether some decimal column that is read has more digits than Spark's."""
    return any(pa.types.is_decimal256(_value_type(schema, read.name)) for read in attributes(expression))


def _may_be_unsigned(expression: Expression, schema: Schema) -> bool:
    """Whether a whole value may lie beyond int64: one of an unsigned column or a literal, as it is."""
    for source in sources(expression):
        match source:
            case Literal(int() as value) if not -(2**63) <= value < 2**63:
                return True
            case Attribute() | Element() if type_of(source, schema) == pa.uint64():
                return True
            case Literal() | Attribute() | Element() | Arithmetic() | Cast():
                pass
            case _:
                assert_never(source)
    return False


def sources(expression: Expression) -> Iterator[Literal | Attribute | Element | Arithmetic | Cast]:
    """The constants, attributes, elements and casts that can be an expression's value as they are, and what is computed
    of times.

    >>> x, y = Attribute("x", "v"), Attribute("y", "v")
    >>> list(sources(Call("coalesce", (x, Call("nullif", (y, Literal(0))))))) == [x, y]
    True
    """
    match expression:
        case Literal() | Attribute() | Element():
            yield expression
        case Arithmetic(kind=kind) if kind is not None:
            yield expression
        case Call(function, arguments):
            chosen = arguments[:1] if function == "nullif" else arguments
            for argument in chosen if function in _CHOOSERS else ():
                yield from sources(argument)
        case Case(_, values, otherwise):
            for value in (*values, otherwise):
                yield from sources(value)
        case Cast():
            yield expression
        case Aggregate("min" | "max" | "first" | "last", operand) | Previous(operand):
            yield from sources(operand)
        case Aggregate():
            pass
        case Arithmetic() | Comparison() | Conjunction() | Disjunction() | Negation():
            pass
        case IsTrue() | IsNull() | In() | Like() | RLike():
            pass
        case _:
            assert_never(expression)


def _one_decimal_type(choices: Sequence[Expression], schema: Schema) -> DecimalType | None:
    """The type of what is one of several; None where it may be a double, or is no decimal. What is no number among
    them is always NULL.

    >>> from cepheid.schema import schema_of
    >>> columns = [("ts", pa.int64()), ("fee", pa.decimal128(5, 2)), ("void", pa.null())]
    >>> schema = schema_of(pa.schema(columns), time="ts")
    >>> decimal_type(Call("greatest", (Attribute(None, "fee"), Attribute(None, "void"))), schema)
    DecimalType(precision=5, scale=2)
    """
    exacts = [decimal_type(choice, schema) for choice in choices]
    if not any(exacts):
        return None
    types = [
        exact or _exact_type(choice, schema)
        for choice, exact in zip(choices, exacts, strict=True)
        if exact is not None or _resolved(choice, schema)[1] is not None
    ]
    known = [dtype for dtype in types if dtype is not None]
    return widest(known) if len(known) == len(types) else None


def _exact_type(expression: Expression, schema: Schema) -> DecimalType | None:
    """The type that holds whole numbers, too; None where there may be doubles."""
    number = _resolved(expression, schema)[1]
    if isinstance(expression, Literal) and isinstance(expression.value, float):
        return None
    return None if number is None or _REAL in number.kinds else number.exact


def _value_type(schema: Schema, name: str) -> pa.DataType:
    dtype = schema.arrow.field(name).type
    return dtype.value_type if pa.types.is_dictionary(dtype) else dtype


def _resolved(expression: Expression, schema: Schema) -> _Resolved:
    match expression:
        case Literal():
            return _literal(expression)
        case Attribute(_, name):
            return expression, _column(_value_type(schema, name))
        case Element():
            return expression, _column(type_of(expression, schema))
        case Arithmetic(kind=kind) if kind is not None:
            decided = rebuild(expression, lambda child: _decided(_resolved(child, schema)))
            return decided, _ONE_REAL if kind is Kind.NUMBER else None
        case Arithmetic(op, left, right):
            return _arithmetic(expression, op, _resolved(left, schema), _resolved(right, schema))
        case Comparison(op, left, right, span):
            first, second = _with_constants_decided([_resolved(left, schema), _resolved(right, schema)], True)
            return Comparison(op, first[0], second[0], span), None
        case In(operand, items, span):
            first = _resolved(operand, schema)
            literals = tuple(item for item in items if isinstance(item, Literal))
            if len(literals) == len(items) and not any(
                isinstance(item.value, int | float | Decimal) for item in literals
            ):
                return In(first[0], items, span), None
            if len(literals) == len(items) and first[1] is not None and not first[1].constant:
                return In(first[0], _listed(literals, first[1]), span), None
            resolved = _with_constants_decided([first, *(_resolved(item, schema) for item in items)], True)
            return In(resolved[0][0], tuple(item for item, _ in resolved[1:]), span), None
        case Call(function, arguments, span):
            return _call(function, [_resolved(argument, schema) for argument in arguments], span)
        case Case():
            return _case(expression, schema)
        case Cast(operand, target):
            return replace(expression, operand=_decided(_resolved(operand, schema))), _cast_number(target)
        case Aggregate(operand=Attribute(name="")):
            return expression, _ONE_WHOLE
        case Aggregate(_, operand):
            return _aggregate(expression, *_resolved(operand, schema))
        case Previous(operand):
            of_operand, number = _resolved(operand, schema)
            return replace(expression, operand=of_operand), number
        case Conjunction() | Disjunction() | Negation() | IsTrue() | IsNull() | Like() | RLike():
            return rebuild(expression, lambda child: _decided(_resolved(child, schema))), None
        case _:
            assert_never(expression)


def _listed(literals: tuple[Literal, ...], number: _Number) -> tuple[Expression, ...]:
    """The constants of a list, each decided by the value they are compared with. A list may be long: doubles of
    ordinary size are decided without the general case."""
    is_decimal = _DECIMAL in number.kinds
    listed = list[Expression]()
    for literal in literals:
        value = literal.value
        if type(value) is float and (1e-50 < abs(value) < 1e15 or value == 0):
            listed.append(Literal(Decimal(repr(value)), literal.span) if is_decimal else literal)
        elif type(value) is int:
            listed.append(literal)
        else:
            listed.append(_with_constants_decided([(literal, number), _literal(literal)], True)[1][0])
    return tuple(listed)


def _decided(resolved: _Resolved) -> Expression:
    """The expression in a place where no column decides: undecided constants become doubles."""
    expression, number = resolved
    return _as_reals(expression) if number is not None and number.undecided else expression


def _literal(literal: Literal) -> _Resolved:
    value = literal.value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return literal, None
    if isinstance(value, int):
        return literal, _Number(_WHOLES, type_of_decimal(value), constant=True)
    exact = Decimal(repr(value)) if isinstance(value, float) else value
    if not is_held(exact):
        return Literal(float(value), literal.span), _ONE_REAL
    dtype = type_of_decimal(exact)
    if dtype.scale < 0:
        exact = Decimal(f"{exact:f}")
        dtype = type_of_decimal(exact)
    return Literal(exact, literal.span), _Number(_DECIMALS, dtype, constant=True)


def _column(dtype: pa.DataType) -> _Number | None:
    if pa.types.is_decimal(dtype):
        return _Number(_DECIMALS, DecimalType(dtype.precision, dtype.scale))
    if pa.types.is_integer(dtype):
        return _Number(_WHOLES, DecimalType(INTEGER_DIGITS[dtype.bit_width], 0))
    return _ONE_REAL if pa.types.is_floating(dtype) else None


def _as_reals(expression: Expression) -> Expression:
    """A constant computed in doubles."""
    if isinstance(expression, Literal) and isinstance(expression.value, Decimal):
        return Literal(float(expression.value), expression.span)
    changed = rebuild(expression, _as_reals)
    return replace(changed, result=None) if isinstance(changed, Arithmetic) else changed


def _with_constants_decided(resolved: Sequence[_Resolved], compared: bool) -> list[_Resolved]:
    """Undecided constants decided by the other operands: decimals leave them decimals, doubles and whole numbers make
    them doubles. `compared`: beside whole numbers a constant stays a decimal if its double compares differently."""
    kinds = _kinds(number for _, number in resolved if number is not None and not number.constant)
    if not kinds or (_DECIMAL in kinds and (compared or _REAL not in kinds)):
        return list(resolved)
    exactly = compared and _REAL not in kinds
    return [
        (_as_reals(expression), _ONE_REAL)
        if number is not None
        and number.undecided
        and not (exactly and not _double_compares_alike(expression))
        else (expression, number)
        for expression, number in resolved
    ]


def _double_compares_alike(expression: Expression) -> bool:
    """Whether a literal and its double lie between the same whole numbers."""
    if not isinstance(expression, Literal) or not isinstance(expression.value, Decimal):
        return True
    exact, real = expression.value, float(expression.value)
    return (math.floor(exact), math.ceil(exact)) == (math.floor(real), math.ceil(real))


def _kinds(numbers: Iterable[_Number]) -> frozenset[str]:
    return frozenset().union(*(number.kinds for number in numbers))


def _arithmetic(node: Arithmetic, op: str, left: _Resolved, right: _Resolved) -> _Resolved:
    (first, one), (second, two) = _with_constants_decided([left, right], False)
    if one is None or two is None:  # a NULL
        return Arithmetic(op, _decided((first, one)), _decided((second, two)), node.span), one or two
    kinds, constant = _kinds([one, two]), one.constant and two.constant
    if _DECIMAL not in kinds:
        number = _ONE_REAL if op == "/" or _ONE_REAL in (one, two) else _Number(kinds)
        if kinds == _WHOLES and op != "/":
            number = _Number(kinds, constant=constant)
        return Arithmetic(op, first, second, node.span), number
    if _REAL in kinds:
        if _ONE_REAL.kinds not in (one.kinds, two.kinds):  # else one side is a double in every row
            first, second = _as_double_if_mixed(first, one), _as_double_if_mixed(second, two)
        return Arithmetic(op, first, second, node.span), _ONE_REAL
    # `-x` is read as `0 - x`; it has the digits of x.
    negated = op == "-" and first == Literal(0)
    result = two.exact if negated else result_type(op, one.exact, two.exact)
    return Arithmetic(op, first, second, node.span, result), _Number(_DECIMALS, result, constant)


def _as_double_if_mixed(expression: Expression, number: _Number) -> Expression:
    return expression if len(number.kinds) == 1 else Arithmetic("*", expression, Literal(1.0))


def _call(function: str, arguments: list[_Resolved], span: Span | None) -> _Resolved:
    def made(resolved: Iterable[_Resolved]) -> Call:
        return Call(function, tuple(expression for expression, _ in resolved), span)

    if function in _CHOOSERS:
        chosen = _with_constants_decided(arguments, False)
        numbers = [number for _, number in chosen if number is not None]
        if not numbers:
            return made(chosen), None
        one = numbers[0] if function == "nullif" else _one_of(numbers)
        return made(chosen), one
    if function in ("abs", *_ROUNDERS):
        (first, number), *rest = arguments
        decided = [(first, number), *((_decided(item), item[1]) for item in rest)]
        if number is not None and _DECIMAL in number.kinds:
            return made(decided), _rounded(function, number, decided[1:])
        if number is not None and function in ("floor", "ceil"):
            number = _ONE_WHOLE
        return made(decided), number
    plain: list[_Resolved] = [(_decided(item), item[1]) for item in arguments]
    if function in _REAL_RESULT:
        return made(plain), _ONE_REAL
    gives_number = function in FUNCTIONS and FUNCTIONS[function].result is Kind.NUMBER
    return made(plain), _ONE_WHOLE if gives_number else None


def _rounded(function: str, number: _Number, digits: Sequence[_Resolved]) -> _Number:
    """The result of abs, round, floor and ceil on a value that may be a decimal; floor and ceil make doubles whole."""
    exact, kinds = number.exact, number.kinds
    if function != "abs":
        exact = rounded_type(exact, _digits([item for item, _ in digits]))
    if function in ("floor", "ceil") and _REAL in kinds:
        exact, kinds = widest([exact, _LONG]), kinds - {_REAL} | {_WHOLE}
    constant = number.constant and all(place is not None and place.constant for _, place in digits)
    return _Number(kinds, exact, constant)


def _case(node: Case, schema: Schema) -> _Resolved:
    conditions = tuple(_decided(_resolved(condition, schema)) for condition in node.conditions)
    chosen = _with_constants_decided(
        [_resolved(value, schema) for value in (*node.values, node.otherwise)], False
    )
    numbers = [number for _, number in chosen if number is not None]
    *values, otherwise = (value for value, _ in chosen)
    return Case(conditions, tuple(values), otherwise, node.span), _one_of(numbers) if numbers else None


def _cast_number(target: CastType) -> _Number | None:
    if target.decimal is not None:
        return _Number(_DECIMALS, target.decimal)
    if target.bits is not None:
        return _Number(_WHOLES, DecimalType(INTEGER_DIGITS[target.bits], 0))
    return _ONE_REAL if target.kind is Kind.NUMBER else None


def _aggregate(node: Aggregate, operand: Expression, number: _Number | None) -> _Resolved:
    """Sums and averages have Spark's types: of whole numbers 64 bits and a double, of decimals more digits."""
    if node.function == "count":
        return replace(node, operand=operand), _ONE_WHOLE
    if number is None or node.function not in ("sum", "avg"):
        return replace(node, operand=operand), number
    if _REAL in number.kinds:
        return replace(node, operand=_as_double_if_mixed(operand, number)), _ONE_REAL
    if _DECIMAL not in number.kinds:
        return replace(node, operand=operand), _ONE_WHOLE if node.function == "sum" else _ONE_REAL
    result = sum_type(number.exact) if node.function == "sum" else average_type(number.exact)
    return replace(node, operand=operand, result=result), _Number(_DECIMALS, result)


def _digits(rest: Sequence[Expression]) -> int | None:
    """The digits that a call rounds to, 0 for floor and ceil; None where rows may differ."""
    if not rest:
        return 0
    value = rest[0].value if isinstance(rest[0], Literal) else None
    return value if isinstance(value, int) and abs(value) <= 10_000 else None


def _one_of(numbers: Sequence[_Number]) -> _Number:
    exacts = [number.exact for number in numbers if number.kinds != _ONE_REAL.kinds]
    constant = all(number.constant for number in numbers)
    return _Number(_kinds(numbers), widest(exacts) if exacts else _LONG, constant)
