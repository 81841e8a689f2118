"""The distinct values of a column, so that expensive work is done once per value.

In: an Arrow column. Out: the number of each row's value, and the values by number, NULL among them.
Invariant: equal numbers mean equal values; a dictionary that came with the column may hold a value twice.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.kernels.columns.buffers import read_only
from cepheid.kernels.columns.texts import EMPTY, MOST_TEXTS, SLOTS, encode_texts
from cepheid.streams.plain import whole

Codes: TypeAlias = npt.NDArray[Any]
_SAMPLE = 4096
_NO_TEXTS = read_only(pa.array([0], pa.int32()).buffers()[1], np.int32)[:1]


def distinct(
    column: pa.ChunkedArray, dictionary: Dictionary | None = None
) -> tuple[Codes, pa.Array | pa.ChunkedArray]:
    """The column's codes and its values by code. Where texts are few, those in `dictionary` keep their codes; it may
    hold more texts than the column.

    >>> codes, values = distinct(pa.chunked_array([["T", None], ["T"]]))
    >>> codes, values.to_pylist()
    (array([0, 1, 0], dtype=int32), ['T', None])
    """
    # Nested values have no codes: then every row is its own.
    if not len(column) or pa.types.is_nested(column.type):
        return np.arange(len(column)), column
    if pa.types.is_dictionary(column.type):
        return _own_dictionary(column)
    if pa.types.is_string(column.type) and not column.null_count:
        known = Dictionary() if dictionary is None else dictionary
        found = known.codes(whole(column))
        if found is not None:
            return found, known.values
    chunks = column.dictionary_encode(null_encoding="encode").chunks  # all with the same dictionary
    codes = [chunk.indices.to_numpy(zero_copy_only=False) for chunk in chunks]
    return codes[0] if len(codes) == 1 else np.concatenate(codes), chunks[-1].dictionary


class Dictionary:
    """The texts of a column seen so far with their codes; it starts over when there are too many texts.

    >>> dictionary = Dictionary()
    >>> dictionary.codes(pa.array(["T", "H"])).tolist(), dictionary.codes(pa.array(["W", "H"])).tolist()
    ([0, 1], [2, 1])
    >>> dictionary.values.to_pylist()
    ['T', 'H', 'W']
    """

    def __init__(self) -> None:
        self._codes = np.empty(0, np.int32)
        self._forget()

    def _forget(self) -> None:
        self.values = pa.array([], pa.string())
        self._slots, self._tags = np.zeros(SLOTS, np.int32), np.full(SLOTS, EMPTY)

    def codes(self, texts: pa.StringArray) -> Codes | None:
        """The code of each text, valid until the next call, or None if there are too many texts."""
        codes = self._encoded(texts)
        if codes is None and len(self.values):
            self._forget()
            codes = self._encoded(texts)
        if codes is None:
            self._forget()
        return codes

    def _encoded(self, texts: pa.StringArray) -> Codes | None:
        if len(self._codes) < len(texts):
            self._codes = np.empty(len(texts), np.int32)
        codes = self._codes[: len(texts)]
        known = len(self.values)
        ends, data = _bytes(self.values)
        homes, lengths, first = np.empty((3, MOST_TEXTS), np.int64)
        homes[:known] = data.ctypes.data + ends[:-1].astype(np.int64)
        lengths[:known] = np.diff(ends)
        table = self._slots, self._tags, homes, lengths
        count = encode_texts(*_bytes(texts), known, *table, codes, first)
        if count < 0:
            return None
        if count > known:
            self.values = pa.concat_arrays([self.values, texts.take(pa.array(first[known:count]))])
        return codes


def _bytes(texts: pa.StringArray) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """The offsets, one more than texts, and the bytes of all texts."""
    if not len(texts):
        return _NO_TEXTS, read_only(None, np.uint8)
    _, offsets, data = texts.buffers()
    begin, end = texts.offset, texts.offset + len(texts) + 1
    return read_only(offsets, np.int32)[begin:end], read_only(data, np.uint8)


def _own_dictionary(column: pa.ChunkedArray) -> tuple[Codes, pa.Array]:
    """The column's own dictionary, if no row is NULL and it is not far too long."""
    if column.num_chunks == 1:
        chunk = column.chunk(0)
        if chunk.indices.null_count == 0 and len(chunk.dictionary) <= 2 * len(chunk):
            return chunk.indices.to_numpy(zero_copy_only=False), chunk.dictionary
    return distinct(column.cast(column.type.value_type))


def repeats(column: pa.ChunkedArray) -> bool:
    """Whether values repeat, judged by the first ones.

    >>> repeats(pa.chunked_array([["T", "H", "T", "T"]])), repeats(pa.chunked_array([["a", "b", "c"]]))
    (True, False)
    """
    if pa.types.is_dictionary(column.type):
        return True
    first = column.slice(0, _SAMPLE)
    return 2 * len(first.unique()) <= len(first)
