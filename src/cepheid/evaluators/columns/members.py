"""IN for all rows at once.

In: a value and the items to look for. Out: true where an item equals it; NULL where none does and the value
or an item is NULL. Constant numbers and texts are looked up together; other items are compared one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.evaluators.columns.compare import all_of, compare, negated
from cepheid.evaluators.columns.kinds import Decimals, Numbers, Texts, Truth, Value, arrow_nulls, known


def is_member(value: Value, items: Sequence[Value]) -> Truth:
    """`value IN (items)`.

    >>> is_member(Numbers(np.array([1, 2, 5])), [Numbers(np.asarray(1)), Numbers(np.asarray(5.0))]).true
    array([ True, False,  True])
    """
    found = _looked_up(value, items)
    if found is not None:
        return found
    missing = Truth(np.asarray(True))
    for item in items:
        missing = all_of(missing, negated(compare("=", value, item)))
    return negated(missing)


def _looked_up(value: Value, items: Sequence[Value]) -> Truth | None:
    """All items at once, where they are constants other than NULL and there are enough to be worth it."""
    if len(items) < 3:
        return None
    match value:
        case Numbers(values) if values.dtype != np.uint64:
            return _among_numbers(value, items)
        case Decimals():
            return _among_decimals(value, items)
        case Texts():
            return _among_texts(value, items)
        case _:
            return None


def _among_texts(value: Texts, items: Sequence[Value]) -> Truth | None:
    constants = [
        item.values for item in items if isinstance(item, Texts) and isinstance(item.values, pa.Scalar)
    ]
    if len(constants) < len(items) or isinstance(value.values, pa.Scalar):
        return None
    wanted = pa.array([item.as_py() for item in constants], value.values.type)
    found = pc.is_in(value.values, value_set=wanted).to_numpy(zero_copy_only=False)
    return known(found, arrow_nulls(value.values))


def _among_numbers(value: Numbers, items: Sequence[Value]) -> Truth | None:
    numbers = [item.values for item in items if isinstance(item, Numbers) and item.values.ndim == 0]
    if len(numbers) < len(items):
        return None
    kind = np.float64 if value.real else np.int64
    # A constant that the column's kind cannot hold equals none of its values.
    wanted = [exact for number in numbers if (exact := _exactly(number.item(), value.real)) is not None]
    return known(np.isin(value.values, np.array(wanted, kind)), value.null)


def _among_decimals(value: Decimals, items: Sequence[Value]) -> Truth | None:
    wanted: list[int] = []
    for item in items:
        if not isinstance(item, Decimals | Numbers) or item.values.ndim or item.values.dtype.kind != "i":
            return None
        # A constant of another scale may have no word of this one: then it equals none of the values.
        scale = item.scale if isinstance(item, Decimals) else 0
        word, rest = divmod(item.values.item() * 10**value.scale, 10**scale)
        if rest == 0 and abs(word) < 2**63:
            wanted.append(word)
    return known(np.isin(value.values, np.array(wanted, np.int64)), value.null)


def _exactly(number: int | float, real: bool) -> int | float | None:
    if number != number:
        return None
    if real:
        return float(number) if isinstance(number, float) or int(float(number)) == number else None
    fits = isinstance(number, int) or (number.is_integer() and abs(number) < 2.0**63)
    return int(number) if fits else None
