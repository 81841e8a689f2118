"""Checks of a saved state before it is used: types, shapes, lengths, offsets and indices.

A state has a digest but no key, so it may be forged. Each part of the engine checks its own arrays where it loads them,
with the functions below. Invariant: whatever the bytes, loading ends with an engine whose indices are all in range, or
with the error `bad-state`. A forged state that passes gives arbitrary matches, but it neither crashes the process nor
takes memory or time out of proportion to its size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cepheid.errors import CepheidError

Ints = npt.NDArray[np.int64]
State = Mapping[str, npt.NDArray[np.generic]]

MOST_ROWS = 1 << 46
"""No stream has so many rows: twice as many have numbers that fit a word beside a label."""


def bad_state(why: str) -> CepheidError:
    """
    >>> print(bad_state("`partitions` has no rows"))
    error[bad-state]: the saved state is not one that `save` gave: `partitions` has no rows
      hint: load only states that you saved yourself; start the query anew, or load a copy
    """
    hint = "load only states that you saved yourself; start the query anew, or load a copy"
    return CepheidError("bad-state", f"the saved state is not one that `save` gave: {why}", hint=hint)


@contextmanager
def reading_a_state() -> Iterator[None]:
    """Turns every exception inside into `bad-state`: only the state is read there."""
    try:
        yield
    except CepheidError:
        raise
    except Exception as error:
        raise bad_state(f"{type(error).__name__}: {error}") from error


def require(condition: object, why: str) -> None:
    """
    >>> require(np.bool_(False), "`meta` is too short")
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[bad-state]: the saved state is not one that `save` gave: `meta` is too short
      hint: load only states that you saved yourself; start the query anew, or load a copy
    """
    if not condition:
        raise bad_state(why)


def words(state: State, name: str, *shape: int | None) -> Ints:
    """A copy of an array of 64-bit whole numbers of this shape; None is any length.

    >>> words({"partitions": np.zeros((3, 2), np.int64)}, "partitions", None, 2).shape
    (3, 2)
    """
    require(name in state, f"`{name}` is missing")
    array = state[name]
    require(array.dtype == np.int64, f"`{name}` has the type {array.dtype}")
    fits = array.ndim == len(shape) and all(
        wanted in (None, length) for wanted, length in zip(shape, array.shape, strict=True)
    )
    require(fits, f"`{name}` has the shape {array.shape}")
    return np.array(array, np.int64, order="C")


def letters(state: State, name: str) -> npt.NDArray[np.uint8]:
    """An array of bytes."""
    require(name in state, f"`{name}` is missing")
    array = state[name]
    require(array.dtype == np.uint8 and array.ndim == 1, f"`{name}` is no array of bytes")
    return np.ascontiguousarray(array, np.uint8)


def whole_number(state: State, name: str, least: int, most: int) -> int:
    """The only number of an array.

    >>> whole_number({"words": np.array([2])}, "words", 1, 8)
    2
    """
    value = int(words(state, name, 1)[0])
    require(least <= value <= most, f"`{name}` is {value}")
    return value


def is_count(value: object, most: int = MOST_ROWS) -> bool:
    """Whether a value from JSON is a whole number from 0 to `most`."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def is_time(value: object) -> bool:
    """Whether a value from JSON is a number, and neither infinite nor NaN.

    >>> [is_time(value) for value in (-3, 2.5, float("nan"), float("inf"), True, None)]
    [True, True, False, False, False, False]
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < inf


def require_indices(array: npt.NDArray[Any], least: int, below: int, name: str) -> None:
    """All of an array lie in a range.

    >>> require_indices(np.array([-1, 4]), -1, 5, "slots")
    """
    if array.size:
        inside = least <= int(array.min()) and int(array.max()) < below
        require(inside, f"`{name}` points out of range")


def require_ascending(array: npt.NDArray[Any], name: str, *, strictly: bool = False) -> None:
    steps = array[1:] > array[:-1] if strictly else array[1:] >= array[:-1]
    require(bool(steps.all()), f"`{name}` is out of order")


def require_ends(ends: Ints, size: int, name: str) -> None:
    """Ends of strings in a store of so many bytes ascend from 0 to all of it."""
    require(len(ends) > 0 and ends[0] == 0 and ends[-1] == size, f"`{name}` points out of its store")
    require_ascending(ends, name)


def require_total(total: Ints, least_words: int, bits: int = 32) -> None:
    """A number of matches, lowest word first, with room for all later matches."""
    require(len(total) >= least_words, "the number of matches is too short")
    require_indices(total, 0, 1 << bits, "total")
    require(not total[-2:].any(), "the number of matches is too large")


def require_disjoint(begins: Ints, lengths: Ints, size: int, name: str) -> None:
    """Blocks lie inside so many words, and no two have a word in common.

    >>> require_disjoint(np.array([8, 0]), np.array([2, 8]), 10, "heap")
    """
    order = np.argsort(begins, kind="stable")
    begins, lengths = begins[order], lengths[order]
    require_indices(begins, 0, size + 1, name)
    require_indices(lengths, 0, size + 1, name)
    ends = begins + lengths
    require(len(ends) == 0 or ends.max() <= size, f"`{name}` points out of range")
    require(bool((ends[:-1] <= begins[1:]).all()), f"`{name}` has blocks that overlap")


def require_columns(table: pa.Table, schema: pa.Schema, name: str) -> None:
    """A table has exactly these columns, of these types."""
    same = table.schema.names == schema.names and table.schema.types == schema.types
    require(same, f"the columns of the table `{name}` differ")


def bytes_of(table: pa.Table) -> npt.NDArray[np.uint8]:
    """A table as an uncompressed Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), np.uint8)


def stream_of(content: npt.NDArray[Any] | bytes, name: str) -> pa.Table:
    """A table from an uncompressed Arrow stream. Its stated lengths are checked against its bytes, so that reading
    takes no more memory than these."""
    with reading_a_state():
        reader = pa.ipc.MessageReader.open_stream(pa.py_buffer(content))
        for message in reader:
            require(not _is_compressed(message), f"the table `{name}` is compressed")
        table = pa.ipc.open_stream(pa.py_buffer(content)).read_all()
        table.validate(full=True)
        return table


def _is_compressed(message: pa.ipc.Message) -> bool:
    """Whether a record batch, or the values of a dictionary, have the field `compression`, the fourth of a batch. In
    the flatbuffer, the header is the third field of a message, the batch the second of a dictionary."""
    if message.type not in ("record batch", "dictionary"):
        return False
    metadata: bytes = message.metadata.to_pybytes()
    table = _followed(metadata, _field(metadata, int.from_bytes(metadata[:4], "little"), 2))
    if message.type == "dictionary":
        table = _followed(metadata, _field(metadata, table, 1))
    return _field(metadata, table, 3) != 0


def _followed(buffer: bytes, place: int) -> int:
    return place + int.from_bytes(buffer[place : place + 4], "little")


def _field(buffer: bytes, table: int, number: int) -> int:
    """Where a field of a table is, or 0: by the table of offsets that lies before it."""
    offsets = table - int.from_bytes(buffer[table : table + 4], "little", signed=True)
    size = int.from_bytes(buffer[offsets : offsets + 2], "little")
    place = 4 + 2 * number
    if place + 2 > size:
        return 0
    offset = int.from_bytes(buffer[offsets + place : offsets + place + 2], "little")
    return table + offset if offset else 0
