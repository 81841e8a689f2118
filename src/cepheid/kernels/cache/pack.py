"""Many entries in one file, for a processor with certain features: what wheels carry and what Spark executors are sent.

A magic line, the length of the header, the header as JSON (the target, and where each entry lies), then the entries one
after another. Every entry has its own checksum; the digest of a whole pack goes with it where it is sent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from cepheid.kernels.cache.target import Target

_MAGIC = b"cepheid pack 1\n"
SUFFIX = ".pack"


class Pack:
    """The entries of a pack that is held in memory."""

    def __init__(self, content: bytes) -> None:
        """Raises ValueError for bytes that are no pack."""
        length_at = len(_MAGIC)
        begin = length_at + 8
        end = begin + int.from_bytes(content[length_at:begin], "little")
        if content[:length_at] != _MAGIC or not begin < end <= len(content):
            raise ValueError("not a pack of kernels")
        try:
            header = json.loads(content[begin:end])
            self.target = Target.from_json(header["target"])
            self._places: dict[str, list[int]] = {
                str(name): [end + int(at), int(length)] for name, (at, length) in header["entries"].items()
            }
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise ValueError("not a pack of kernels") from error
        self._content = content

    def read(self, name: str) -> bytes | None:
        """The bytes of an entry, unchecked."""
        if name not in self._places:
            return None
        begin, length = self._places[name]
        return self._content[begin : begin + length]

    def names(self) -> list[str]:
        return sorted(self._places)

    @property
    def digest(self) -> str:
        return digest_of_pack(self._content)


def packed(target: Target, entries: Mapping[str, bytes]) -> bytes:
    """The bytes of a pack.

    >>> here = Target("v", "s", "t", "c", ("avx2",))
    >>> pack = Pack(packed(here, {"a": b"one", "b": b"three"}))
    >>> pack.target == here, pack.names(), pack.read("b"), pack.read("c")
    (True, ['a', 'b'], b'three', None)
    """
    places, body = {}, bytearray()
    for name in sorted(entries):
        places[name] = [len(body), len(entries[name])]
        body += entries[name]
    header = json.dumps({"target": target.as_json(), "entries": places}, separators=(",", ":")).encode()
    return _MAGIC + len(header).to_bytes(8, "little") + header + bytes(body)


def read_pack(path: Path, host: Target) -> Pack | None:
    """A pack that is there, whole and made for this machine or a lesser one of its kind; else None."""
    try:
        pack = Pack(path.read_bytes())
    except (OSError, ValueError):
        return None
    return pack if pack.target.runs_on(host) else None


def digest_of_pack(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
