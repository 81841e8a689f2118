"""The scalar functions of conditions for all rows at once.

In: a function's lower-case name and its arguments' values. Out: its value, equal to `semantics.functions.apply`. Where
Arrow and NumPy have no exact form, the definition runs once per distinct argument, or the whole condition goes row by
row. Reals use Arrow's kernels, which call the same C functions as Python; NumPy's differ in the last bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.evaluators.columns.arithmetic import doubles, nulled
from cepheid.evaluators.columns.choose import CHOOSERS
from cepheid.evaluators.columns.decimals import absolute, doubles_of, floor_or_ceil, rounded_decimals
from cepheid.evaluators.columns.kinds import (
    SEVERAL_ZONES,
    Decimals,
    Nothing,
    Numbers,
    RowByRowError,
    Texts,
    Times,
    Truth,
    Value,
    WideDecimals,
    arrow_nulls,
    either,
)
from cepheid.evaluators.columns.orders import truth_of_arrow
from cepheid.evaluators.columns.parts import PARTS, part_of
from cepheid.evaluators.columns.rounding import rounded
from cepheid.semantics import functions as definition


def apply(function: str, arguments: Sequence[Value]) -> Value:
    """The function's value for each row.

    >>> apply("floor", [Numbers(np.array([2.5, -2.5, np.inf]))])
    Numbers(values=array([ 2, -3,  0]), null=array([False, False,  True]), mixed=False)
    """
    if function in CHOOSERS:
        return CHOOSERS[function](arguments)
    if any(isinstance(argument, Nothing) for argument in arguments):
        return Nothing()
    with np.errstate(all="ignore"):
        return _STRICT[function](*arguments)


# Numbers


def _numeric(function: Callable[..., Numbers]) -> Callable[..., Value]:
    """Takes int64 and unmixed doubles as they are and decimals as the nearest doubles."""

    @functools.wraps(function)
    def checked(*arguments: Value) -> Value:
        numbers = [
            doubles_of(argument) if isinstance(argument, Decimals | WideDecimals) else argument
            for argument in arguments
        ]
        for number in numbers:
            if not isinstance(number, Numbers) or number.values.dtype == np.uint64 or number.mixed:
                raise RowByRowError
        return function(*numbers)

    return checked


def _exactly(of_decimals: Callable[..., Value], of_numbers: Callable[..., Value]) -> Callable[..., Value]:
    """A function that is exact on decimals as well."""

    def exactly(first: Value, *others: Value) -> Value:
        if isinstance(first, Decimals | WideDecimals):
            return of_decimals(first, *others)
        return of_numbers(first, *others)

    return exactly


def _round_decimals(value: Decimals | WideDecimals, digits: Value | None = None) -> Value:
    return rounded_decimals(value, 0 if digits is None else _whole_constant(digits))


def _whole_constant(value: Value) -> int:
    """A later argument of a function that is a whole number other than NULL, the same for all rows."""
    if not isinstance(value, Numbers) or value.values.ndim or value.real or value.null is not None:
        raise RowByRowError
    return int(value.values)


def _abs(number: Numbers) -> Numbers:
    smallest = np.False_ if number.real else number.values == -(2**63)
    return nulled(np.abs(number.values), number.null, smallest)


def _whole(towards: Callable[[Any], Any]) -> Callable[..., Value]:
    def function(number: Numbers) -> Numbers:
        if not number.real:
            return number
        whole = towards(number.values)
        fits = (whole >= -(2.0**63)) & (whole < 2.0**63)
        return nulled(np.where(fits, whole, 0).astype(np.int64), number.null, ~fits)

    return _numeric(function)


def _sign(number: Numbers) -> Numbers:
    return Numbers(np.asarray(np.sign(doubles(number))), number.null)


def _sqrt(number: Numbers) -> Numbers:
    values = doubles(number)
    return nulled(np.sqrt(values), number.null, values < 0)


def _ln(number: Numbers) -> Numbers:
    values = doubles(number)
    return nulled(_by_arrow(pc.ln, values), number.null, values <= 0)


def _exp(number: Numbers) -> Numbers:
    return Numbers(_by_arrow(pc.exp, doubles(number)), number.null)


def _power(base: Numbers, exponent: Numbers) -> Numbers:
    one, two = np.broadcast_arrays(doubles(base), doubles(exponent))
    values = _by_arrow(pc.power, one, two)
    real = (one >= 0) | ~np.isfinite(one) | (two == np.floor(two)) | np.isnan(two)
    no_pole = (one != 0) | ~(two < 0) | np.isinf(two)
    return nulled(values, either(base.null, exponent.null), ~(real & no_pole))


def _by_arrow(kernel: Callable[..., Any], *arrays: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    shape = arrays[0].shape
    result = kernel(*(pa.array(array.reshape(-1)) for array in arrays))
    values: npt.NDArray[np.float64] = result.to_numpy(zero_copy_only=False).reshape(shape)
    return values


def _round(number: Numbers, digits: Numbers | None = None) -> Numbers:
    return rounded(number, 0 if digits is None else _whole_constant(digits))


# Texts


def _arrow_text(arguments: Sequence[Value]) -> list[Any]:
    if not all(isinstance(argument, Texts) for argument in arguments):
        raise RowByRowError
    return [argument.values for argument in arguments if isinstance(argument, Texts)]


def _constant(value: Any) -> str:
    """A later argument of a function, which kernels take only as a constant."""
    if not isinstance(value, pa.Scalar):
        raise RowByRowError
    return str(value.as_py())


def _length(text: Value) -> Value:
    lengths = pc.utf8_length(*_arrow_text([text]))
    if isinstance(lengths, pa.Scalar):
        return Numbers(np.asarray(lengths.as_py(), np.int64))
    values = lengths.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return Numbers(values, arrow_nulls(lengths))


def _cased(function: str, ascii_only: Callable[[Any], Any]) -> Callable[..., Value]:
    """Full Unicode case mapping, where 'ß' becomes 'SS', is Python's; ASCII is quick."""

    def cased(text: Value) -> Value:
        [values] = _arrow_text([text])
        if isinstance(values, pa.Scalar) or not pc.all(pc.string_is_ascii(values), min_count=0).as_py():
            return _by_definition(function, values)
        return Texts(ascii_only(values))

    return cased


def _by_definition(function: str, values: Any, *constants: Any) -> Texts:
    if isinstance(values, pa.Scalar):
        return Texts(pa.scalar(definition.apply(function, [values.as_py(), *constants]), values.type))
    encoded = values.dictionary_encode()
    mapped = [definition.apply(function, [item, *constants]) for item in encoded.dictionary.to_pylist()]
    return Texts(pa.array(mapped, values.type).take(encoded.indices))


def _trimmed(kernel: Callable[..., Any]) -> Callable[..., Value]:
    return lambda text: Texts(kernel(*_arrow_text([text]), characters=" "))


def _substr(text: Value, *places: Value) -> Value:
    [values] = _arrow_text([text])
    return _by_definition("substr", values, *map(_whole_constant, places))


def _concat(*texts: Value) -> Value:
    return Texts(pc.binary_join_element_wise(*_arrow_text(texts), pa.scalar("", pa.large_string())))


def _replace(*texts: Value) -> Value:
    values, search, by = _arrow_text(texts)
    pattern, replacement = _constant(search), _constant(by)
    if not pattern:
        return Texts(values)
    return Texts(pc.replace_substring(values, pattern=pattern, replacement=replacement))


def _tested(kernel: Callable[..., Any]) -> Callable[..., Value]:
    def tested(text: Value, part: Value) -> Truth:
        values, pattern = _arrow_text([text, part])
        return truth_of_arrow(kernel(values, pattern=_constant(pattern)))

    return tested


# Times


def _part(name: str) -> Callable[..., Value]:
    def part(times: Value) -> Value:
        if not isinstance(times, Times) or times.zone == SEVERAL_ZONES:
            raise RowByRowError
        return Numbers(part_of(name, times), times.null)

    return part


_STRICT: dict[str, Callable[..., Value]] = {
    "abs": _exactly(absolute, _numeric(_abs)),
    "round": _exactly(_round_decimals, _numeric(_round)),
    "floor": _exactly(functools.partial(floor_or_ceil, up=False), _whole(np.floor)),
    "ceil": _exactly(functools.partial(floor_or_ceil, up=True), _whole(np.ceil)),
    "sqrt": _numeric(_sqrt),
    "power": _numeric(_power),
    "ln": _numeric(_ln),
    "exp": _numeric(_exp),
    "sign": _numeric(_sign),
    "length": _length,
    "upper": _cased("upper", pc.ascii_upper),
    "lower": _cased("lower", pc.ascii_lower),
    "trim": _trimmed(pc.utf8_trim),
    "ltrim": _trimmed(pc.utf8_ltrim),
    "rtrim": _trimmed(pc.utf8_rtrim),
    "substr": _substr,
    "concat": _concat,
    "replace": _replace,
    "startswith": _tested(pc.starts_with),
    "endswith": _tested(pc.ends_with),
    "contains": _tested(pc.match_substring),
    **{name: _part(name) for name in PARTS},
}
