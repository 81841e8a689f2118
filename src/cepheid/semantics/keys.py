"""Values as keys: when two are the same for PARTITION BY and PART-BY.

As conditions compare them, but for two: NULL is a key like any other, and so is NaN.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from cepheid.semantics.numbers import TIMES, instant


def key_of(value: Any) -> Hashable:
    """A value that is equal for equal keys.

    >>> key_of(float("nan")) == key_of(float("nan")), key_of(None) == key_of(0), key_of(-0.0) == key_of(0)
    (True, False, True)
    """
    if value != value:
        return "NaN"
    return (instant(value),) if isinstance(value, TIMES) else (value,)


def is_one_key(values: Iterable[Any]) -> bool:
    """Whether all values, perhaps of several columns, are one key; none are.

    >>> from decimal import Decimal
    >>> is_one_key([1, 1.0, Decimal(1)]), is_one_key([None, None]), is_one_key([None, 0]), is_one_key([])
    (True, True, False, True)
    """
    return len({key_of(value) for value in values}) <= 1
