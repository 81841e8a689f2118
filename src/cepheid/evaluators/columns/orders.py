"""The comparison operators over NumPy and Arrow arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepheid.evaluators.columns.kinds import Mask, Truth, arrow_nulls
from cepheid.kernels.conditions.values import EQUAL, GREATER, LESS, UNORDERED

ARRAYS: dict[str, Callable[[Any, Any], Any]] = {
    "=": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
ARROW: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
OUTCOMES = {
    "=": EQUAL,
    "<>": LESS | GREATER | UNORDERED,
    "<": LESS,
    "<=": LESS | EQUAL,
    ">": GREATER,
    ">=": GREATER | EQUAL,
}
"""The outcomes of a comparison in a kernel for which it is true."""


def truth_of_arrow(booleans: Any) -> Truth:
    """A boolean Arrow array or scalar.

    >>> truth_of_arrow(pa.array([True, None]))
    Truth(true=array([ True, False]), null=array([False,  True]))
    """
    if isinstance(booleans, pa.Scalar):
        value = booleans.as_py()
        return Truth(np.asarray(value is True), np.asarray(True) if value is None else None)
    filled = booleans.fill_null(False) if booleans.null_count else booleans
    true: Mask = filled.to_numpy(zero_copy_only=False)
    return Truth(true, arrow_nulls(booleans))
