"""The state of an engine as bytes and back, in a versioned format that contains no code.

    cepheid\\0 · digest (16 bytes) · length of the content (8 bytes) · the content, compressed with Zstandard

The content is the length of a JSON header (8 bytes), that header with blanks behind it, and the bytes of all parts one
after another, each at a multiple of 64. The header holds the version, the query's text, the names given to the engine,
and for each part its name, its NumPy type, its shape and its place. Parts are the arrays of the partitions and of the
evaluator, and the schema and the buffered rows as Arrow streams. The digest covers everything after it, so that damage
is noticed. It has no key, so a state may be forged: the format is checked here, the parts where they are loaded
(`state_checks`).
"""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from cepheid.errors import CepheidError
from cepheid.memory import VARIABLE, memory_limit
from cepheid.state_checks import bytes_of, is_count, reading_a_state, require, stream_of

VERSION = 3
MARK = b"cepheid\0"
CODEC = pa.Codec("zstd", 1)
_DIGEST = 16  # bytes
_LENGTH = 8  # bytes of a length
_ALIGNED = 64
_MOST_PACKED = 1 << 15  # Zstandard makes no byte from fewer than 1/2¹⁵: 2¹⁷ from a block of four
_TYPES = frozenset("biuf")  # kinds of numbers: nothing that holds references
Arrays = dict[str, np.ndarray[Any, np.dtype[np.generic]]]


def pack(header: dict[str, Any], tables: dict[str, pa.Table], arrays: Arrays) -> bytes:
    parts: Arrays = {f"table:{name}": bytes_of(table) for name, table in tables.items()}
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
    """The arrays may be read-only views: copy them before writing."""
    behind = _undamaged(saved)
    with reading_a_state():
        content = _content(behind)
        begin = int.from_bytes(content[:_LENGTH].to_pybytes(), "little") + _LENGTH
        require(begin <= content.size, "its header is longer than the state")
        header = json.loads(content[_LENGTH:begin].to_pybytes())
        require(isinstance(header, dict), "its header is not an object")
        if header.get("version") != VERSION:
            raise another_format(header.get("version"))
        parts = _parts(content, header.pop("parts"), begin)
        tables = {
            name.removeprefix("table:"): stream_of(part, name)
            for name, part in parts.items()
            if name.startswith("table:")
        }
        prefix = "array:"
        arrays = {name.removeprefix(prefix): part for name, part in parts.items() if name.startswith(prefix)}
        return header, tables, arrays


def _content(behind: memoryview) -> pa.Buffer:
    """The decompressed content, if it has the stated length and fits into memory."""
    size = int.from_bytes(behind[:_LENGTH], "little")
    packed = behind[_LENGTH:]
    require(_LENGTH <= size <= _MOST_PACKED * len(packed), f"it cannot hold {size:,} bytes")
    most = memory_limit() // 2
    if size > most:
        message = (
            f"the saved state holds {size >> 20:,} MiB; half of the memory there is are {most >> 20:,} MiB"
        )
        hint = f"load it where there is more memory, set {VARIABLE}, or start the query anew"
        raise CepheidError("bad-state", message, hint=hint)
    return CODEC.decompress(packed, size)


def _parts(content: pa.Buffer, places: list[Any], begin: int) -> Arrays:
    """The arrays that the header names; no two have a byte in common."""
    parts: Arrays = {}
    taken = []
    for name, dtype, shape, place in places:
        require(isinstance(name, str) and name not in parts, "a part has no name of its own")
        kind = np.dtype(dtype) if isinstance(dtype, str) else np.dtype("O")
        require(kind.kind in _TYPES and kind.itemsize <= 8, f"`{name}` has the type {dtype!r}")
        counts = isinstance(shape, list) and all(is_count(length, content.size) for length in shape)
        require(counts, f"`{name}` has an invalid shape")
        count = 1
        for length in shape:
            count *= length
        size = count * kind.itemsize
        inside = is_count(place) and begin + place + size <= content.size
        require(inside, f"`{name}` lies outside of the content")
        taken.append((place, place + size))
        parts[name] = np.frombuffer(content, kind, count, begin + place if count else 0).reshape(shape)
    taken.sort()
    apart = all(end <= later for (_, end), (later, _) in pairwise(taken))
    require(apart, "parts overlap")
    return parts


def another_format(version: object) -> CepheidError:
    message = f"the state was saved in format {version}; this release reads format {VERSION}"
    hint = "load it with the release that saved it, or start the query anew"
    return CepheidError("bad-state", message, hint=hint)


def _undamaged(saved: bytes) -> memoryview:
    """The bytes after the mark and the digest, if the digest is right."""
    if not isinstance(saved, bytes | bytearray | memoryview):
        message = f"`load` requires the bytes that `save` gave; got `{saved!r}` instead"
        raise CepheidError("bad-argument", message)
    view = memoryview(saved)
    begin = len(MARK) + _DIGEST
    if view[: len(MARK)] != MARK:
        raise CepheidError("bad-state", "these bytes are not the saved state of an engine")
    if bytes(view[begin : begin + 4]) == b"PK\3\4":
        raise another_format("1 or 2")
    if view[len(MARK) : begin] != _digest(view[begin:]):
        message = "the saved state is damaged or cut short"
        raise CepheidError("bad-state", message, hint="start the query anew, or load a copy")
    return view[begin:]


def _digest(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()
