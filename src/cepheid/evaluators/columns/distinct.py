"""The distinct values of a column, so that what is dear is done once for each of them.

In: an Arrow column. Out: the number of each row's value, and the values by number, NULL among them.
Invariant: equal numbers mean equal values; a dictionary that came with the column may hold a value twice.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Codes: TypeAlias = npt.NDArray[Any]
_SAMPLE = 4096


def distinct(column: pa.ChunkedArray) -> tuple[Codes, pa.Array | pa.ChunkedArray]:
    """The column's codes and its values by code.

    >>> codes, values = distinct(pa.chunked_array([["T", None], ["T"]]))
    >>> codes, values.to_pylist()
    (array([0, 1, 0], dtype=int32), ['T', None])
    """
    # Nested values have no codes: then every row is its own.
    if not len(column) or pa.types.is_nested(column.type):
        return np.arange(len(column)), column
    if pa.types.is_dictionary(column.type):
        return _given_dictionary(column)
    chunks = column.dictionary_encode(null_encoding="encode").chunks  # all with the same dictionary
    codes = [chunk.indices.to_numpy(zero_copy_only=False) for chunk in chunks]
    return codes[0] if len(codes) == 1 else np.concatenate(codes), chunks[-1].dictionary


def _given_dictionary(column: pa.ChunkedArray) -> tuple[Codes, pa.Array]:
    """A dictionary the column came with serves as it is, if it knows every row and is not far too long."""
    if column.num_chunks == 1:
        given = column.chunk(0)
        if given.indices.null_count == 0 and len(given.dictionary) <= 2 * len(given):
            return given.indices.to_numpy(zero_copy_only=False), given.dictionary
    return distinct(column.cast(column.type.value_type))


def repeats(column: pa.ChunkedArray) -> bool:
    """Whether values come again, judged by the first ones.

    >>> repeats(pa.chunked_array([["T", "H", "T", "T"]])), repeats(pa.chunked_array([["a", "b", "c"]]))
    (True, False)
    """
    if pa.types.is_dictionary(column.type):
        return True
    first = column.slice(0, _SAMPLE)
    return 2 * len(first.unique()) <= len(first)
