"""The distinct values of a column, so that what is dear is done once for each of them.

In: an Arrow column. Out: the number of each row's value, and the values by number, NULL among them.
Invariant: equal numbers mean equal values; a dictionary that came with the column may hold a value twice.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.kernels.texts import MOST_TEXTS, SLOTS, encode_texts
from cepheid.streams.plain import whole

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
    if pa.types.is_string(column.type) and not column.null_count:
        texts = whole(column)
        known = _few_texts(texts)
        if known is not None:
            return known
    chunks = column.dictionary_encode(null_encoding="encode").chunks  # all with the same dictionary
    codes = [chunk.indices.to_numpy(zero_copy_only=False) for chunk in chunks]
    return codes[0] if len(codes) == 1 else np.concatenate(codes), chunks[-1].dictionary


def _few_texts(texts: pa.StringArray) -> tuple[Codes, pa.Array] | None:
    """The same for texts of which not many are distinct, else None."""
    _, offsets, data = texts.buffers()
    begin, end = texts.offset, texts.offset + len(texts) + 1
    codes, first = np.empty(len(texts), np.int32), np.empty(MOST_TEXTS, np.int64)
    slots, words = np.full(SLOTS, -1, np.int64), np.empty(SLOTS, np.uint64)
    known = encode_texts(
        np.frombuffer(offsets, np.int32)[begin:end],
        np.frombuffer(data or b"", np.uint8),
        slots,
        words,
        codes,
        first,
    )
    return None if known < 0 else (codes, texts.take(pa.array(first[:known])))


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
