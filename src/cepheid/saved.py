"""The state of an engine as bytes and back, in a versioned format without code in it.

A container of named arrays (NumPy's zip, no pickles): a JSON header with the version, the query's text and the
names given to the engine; the schema and the kept rows as Arrow streams; the arrays of the lanes and of the evaluator.
In front of it a mark and a digest of the rest, so that no damage goes unnoticed.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import numpy as np
import pyarrow as pa

from cepheid.errors import CepheidError

VERSION = 2
MARK = b"cepheid\0"
_DIGEST = 16  # bytes
Arrays = dict[str, np.ndarray[Any, np.dtype[np.generic]]]


def pack(header: dict[str, Any], tables: dict[str, pa.Table], arrays: Arrays) -> bytes:
    content: Arrays = {"header": _bytes(json.dumps({"version": VERSION, **header}).encode())}
    content |= {f"table:{name}": _bytes(_stream(table)) for name, table in tables.items()}
    content |= {f"array:{name}": array for name, array in arrays.items()}
    sink = io.BytesIO()
    np.savez_compressed(sink, allow_pickle=False, **content)
    saved = sink.getvalue()
    return MARK + _digest(saved) + saved


def unpack(saved: bytes) -> tuple[dict[str, Any], dict[str, pa.Table], Arrays]:
    with np.load(io.BytesIO(_undamaged(saved)), allow_pickle=False) as archive:
        content = {name: archive[name] for name in archive.files}
    header = json.loads(content.pop("header").tobytes())
    if header.get("version") != VERSION:
        raise CepheidError(
            "bad-state",
            f"the state was saved in format {header.get('version')}; this release reads format {VERSION}",
            hint="load it with the release that saved it, or start the query anew",
        )
    tables = {
        name.removeprefix("table:"): pa.ipc.open_stream(array.tobytes()).read_all()
        for name, array in content.items()
        if name.startswith("table:")
    }
    arrays = {
        name.removeprefix("array:"): array for name, array in content.items() if name.startswith("array:")
    }
    return header, tables, arrays


def _undamaged(saved: bytes) -> bytes:
    """What follows the mark and the digest, if it is what was saved."""
    if not isinstance(saved, bytes | bytearray | memoryview):
        raise CepheidError(
            "bad-argument", f"`load` requires the bytes that `save` gave; got `{saved!r}` instead"
        )
    given = bytes(saved)
    begin = len(MARK) + _DIGEST
    if not given.startswith(MARK):
        raise CepheidError("bad-state", "these bytes are not the saved state of an engine")
    if given[len(MARK) : begin] != _digest(given[begin:]):
        raise CepheidError(
            "bad-state",
            "the saved state is damaged or cut short",
            hint="start the query anew, or load a copy",
        )
    return given[begin:]


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()


def _bytes(content: bytes) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(content, np.uint8)


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
