"""LIKE and RLIKE for all rows at once.

In: a text value and a constant pattern. Out: a `Truth`. LIKE's % is any characters, _ any one, and a
backslash takes the next character as it is (one at the very end stands for itself).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow.compute as pc

from cepheid.evaluators.columns.kinds import Nothing, RowByRowError, Texts, Truth, Value
from cepheid.evaluators.columns.orders import truth_of_arrow


def like(value: Value, pattern: str) -> Truth:
    """`value LIKE pattern`.

    >>> import pyarrow as pa
    >>> like(Texts(pa.array(["50%", "50", "505"])), "50\\\\%").true
    array([ True, False, False])
    """
    return _on_text(value, lambda texts: _like(texts, pattern))


def rlike(value: Value, pattern: str) -> Truth:
    """`value RLIKE pattern`: RE2, anywhere in the value.

    >>> import pyarrow as pa
    >>> rlike(Texts(pa.array(["abc", "xyz"])), "^[a-c]+$").true
    array([ True, False])
    """
    return _on_text(value, lambda texts: pc.match_substring_regex(texts, pattern))


def _on_text(value: Value, test: Any) -> Truth:
    match value:
        case Nothing():
            return Truth(np.asarray(False), np.asarray(True))
        case Texts(values):
            return truth_of_arrow(test(values))
        case _:
            raise RowByRowError


def _like(texts: Any, pattern: str) -> Any:
    """Patterns with % at their ends only, by far the most frequent, need no automaton."""
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    plain = "".join(part[-1] for part in parts if part not in _WILD)
    wild = [(place, part) for place, part in enumerate(parts) if part in _WILD]
    last = len(parts) - 1
    if not wild:
        return pc.equal(texts, plain)
    if wild == [(last, "%")]:
        return pc.starts_with(texts, plain)
    if wild == [(0, "%")]:
        return pc.ends_with(texts, plain)
    if wild == [(0, "%"), (last, "%")]:
        return pc.match_substring(texts, plain)
    return pc.match_substring_regex(texts, _regex(parts))


_WILD = {"%": ".*", "_": "."}


def _regex(parts: list[str]) -> str:
    return r"(?s)\A" + "".join(_WILD.get(part) or re.escape(part[-1]) for part in parts) + r"\z"
