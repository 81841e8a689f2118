"""The state of an engine as bytes and back, in a versioned format without code in it.

    cepheid\\0 · digest (16 bytes) · length of the content (8 bytes) · the content, compressed with Zstandard

The content is the length of a JSON header (8 bytes), that header with blanks behind it, and the bytes of all parts
one after another, each at a multiple of 64. The header holds the version, the query's text, the names given to the
engine, and for each part its name, its NumPy type, its shape and its place. Parts are the arrays of the lanes and of
the evaluator, and the schema and the kept rows as Arrow streams. The digest is of everything behind it, so that no
damage goes unnoticed.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pyarrow as pa

from cepheid.errors import CepheidError

VERSION = 3
MARK = b"cepheid\0"
CODEC = pa.Codec("zstd", 1)
_DIGEST = 16  # bytes
_LENGTH = 8  # bytes of a length
_ALIGNED = 64
Arrays = dict[str, np.ndarray[Any, np.dtype[np.generic]]]


def pack(header: dict[str, Any], tables: dict[str, pa.Table], arrays: Arrays) -> bytes:
    parts: Arrays = {f"table:{name}": _stream(table) for name, table in tables.items()}
    parts |= {f"array:{name}": np.asarray(array, order="C") for name, array in arrays.items()}
    places, end = [], 0
    for name, part in parts.items():
        begin = -(-end // _ALIGNED) * _ALIGNED
        places.append((name, part.dtype.str, part.shape, begin))
        end = begin + part.nbytes
    head = json.dumps({"version": VERSION, **header, "parts": places}).encode()
    head = head.ljust(-(-(_LENGTH + len(head)) // _ALIGNED) * _ALIGNED - _LENGTH)
    content = bytearray(_LENGTH + len(head) + end)
    content[:_LENGTH] = len(head).to_bytes(_LENGTH, "little")
    content[_LENGTH : _LENGTH + len(head)] = head
    body = np.frombuffer(content, np.uint8)[_LENGTH + len(head) :]
    for (_, _, _, begin), part in zip(places, parts.values(), strict=True):
        body[begin : begin + part.nbytes] = part.reshape(-1).view(np.uint8)
    compressed: bytes = CODEC.compress(content, asbytes=True)
    behind = len(content).to_bytes(_LENGTH, "little") + compressed
    return MARK + _digest(behind) + behind


def unpack(saved: bytes) -> tuple[dict[str, Any], dict[str, pa.Table], Arrays]:
    """The arrays may be read only: whoever changes them takes a copy."""
    behind = _undamaged(saved)
    size = int.from_bytes(behind[:_LENGTH], "little")
    content = CODEC.decompress(behind[_LENGTH:], size)
    begin = int.from_bytes(content[:_LENGTH].to_pybytes(), "little") + _LENGTH
    header = json.loads(content[_LENGTH:begin].to_pybytes())
    if header.get("version") != VERSION:
        raise another_format(header.get("version"))
    parts = {
        name: _part(content, np.dtype(dtype), shape, begin + place)
        for name, dtype, shape, place in header.pop("parts")
    }
    tables = {
        name.removeprefix("table:"): pa.ipc.open_stream(pa.py_buffer(part)).read_all()
        for name, part in parts.items()
        if name.startswith("table:")
    }
    arrays = {name.removeprefix("array:"): part for name, part in parts.items() if name.startswith("array:")}
    return header, tables, arrays


def another_format(version: object) -> CepheidError:
    return CepheidError(
        "bad-state",
        f"the state was saved in format {version}; this release reads format {VERSION}",
        hint="load it with the release that saved it, or start the query anew",
    )


def _part(content: pa.Buffer, dtype: np.dtype[Any], shape: list[int], begin: int) -> Any:
    count = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(content, dtype, count, begin).reshape(shape)


def _undamaged(saved: bytes) -> memoryview:
    """What follows the mark and the digest, if it is what was saved."""
    if not isinstance(saved, bytes | bytearray | memoryview):
        raise CepheidError(
            "bad-argument", f"`load` requires the bytes that `save` gave; got `{saved!r}` instead"
        )
    given = memoryview(saved)
    begin = len(MARK) + _DIGEST
    if given[: len(MARK)] != MARK:
        raise CepheidError("bad-state", "these bytes are not the saved state of an engine")
    if bytes(given[begin : begin + 4]) == b"PK\3\4":
        raise another_format("1 or 2")
    if given[len(MARK) : begin] != _digest(given[begin:]):
        raise CepheidError(
            "bad-state",
            "the saved state is damaged or cut short",
            hint="start the query anew, or load a copy",
        )
    return given[begin:]


def _digest(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()


def _stream(table: pa.Table) -> np.ndarray[Any, np.dtype[np.uint8]]:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), np.uint8)
