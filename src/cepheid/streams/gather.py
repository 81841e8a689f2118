"""Columns of a table gathered by row number, each once for the same rows, into memory of Arrow's pool.

The pool keeps freed memory for the next piece of output; new memory from the system costs more than the gathering.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.kernels.columns.buffers import read_only
from cepheid.kernels.columns.gather import SPARE, gather_offsets, gather_texts, gather_values
from cepheid.streams.plain import whole

Rows = npt.NDArray[np.unsignedinteger]
_MOST_BYTES = np.iinfo(np.int32).max  # of all texts in one array
_FEW = 256  # rows for which `take` is as fast


class Gathered:
    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._columns: dict[str, pa.Array] = {}
        self._gathered: dict[tuple[str, int], tuple[Rows, pa.Array]] = {}

    def column(self, name: str, rows: Rows) -> pa.Array:
        """The values in these rows. Rows given as the same object again are not gathered again."""
        key = (name, id(rows))
        if key not in self._gathered:
            if name not in self._columns:
                self._columns[name] = whole(self._table[name])
            self._gathered[key] = (
                rows,
                gather(self._columns[name], rows),
            )  # rows are kept: their id stays theirs
        return self._gathered[key][1]


def gather(column: pa.Array, rows: Rows) -> pa.Array:
    """The values in these rows.

    >>> gather(pa.array(["a", "b"]), np.array([1, 1, 0], np.uint32)).to_pylist()
    ['b', 'b', 'a']
    """
    gathered = None if column.null_count or len(rows) <= _FEW else _quickly(column, rows)
    return column.take(pa.array(rows)) if gathered is None else gathered


def _quickly(column: pa.Array, rows: Rows) -> pa.Array | None:
    """Values without NULL, or None where they are of other types than texts and numbers of eight bytes."""
    if column.type in (pa.string(), pa.binary()):
        return _texts(column, rows)
    if not pa.types.is_primitive(column.type) or column.type.bit_width != 64:
        return None
    values = read_only(column.buffers()[1], np.uint64)[column.offset : column.offset + len(column)]
    buffer, out_values = new_array(len(rows), np.uint64)
    gather_values(values, rows, out_values)
    return pa.Array.from_buffers(column.type, len(rows), [None, buffer])


def _texts(column: pa.Array, rows: Rows) -> pa.Array | None:
    """Texts, or None where they are too long for one array."""
    _, begins, data = column.buffers()
    offsets = read_only(begins, np.int32)[column.offset : column.offset + len(column) + 1]
    ends, out_offsets = new_array(len(rows) + 1, np.int32)
    length = gather_offsets(offsets, rows, out_offsets)
    if length > _MOST_BYTES:
        return None
    texts, out_data = new_array(length + SPARE, np.uint8)
    gather_texts(offsets, read_only(data, np.uint8), rows, out_offsets, out_data)
    return pa.Array.from_buffers(column.type, len(rows), [None, ends, texts.slice(0, length)])


def new_array(length: int, dtype: npt.DTypeLike) -> tuple[pa.Buffer, npt.NDArray[np.generic]]:
    """Memory of Arrow's pool for so many numbers, and the numbers, which are not set."""
    buffer = pa.allocate_buffer(length * np.dtype(dtype).itemsize)
    return buffer, np.frombuffer(buffer, dtype)
