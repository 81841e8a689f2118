"""Entries as bytes and as files: compressed, with a checksum, so that damage is noticed before anything is unpickled.

An entry that cannot be read, for whatever reason, is a missing one; one that cannot be written is not there next time.
Neither is an error: the kernel is compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import time
import zlib
from pathlib import Path

_MAGIC = b"cepheid kernel 1\n"
_CHECK = 16
_SUFFIX = ".kernel"
_OLD_S = 7 * 86_400


def sealed(content: bytes) -> bytes:
    """The bytes of an entry."""
    packed = zlib.compress(content, 6)
    return _MAGIC + hashlib.blake2b(packed, digest_size=_CHECK).digest() + packed


def opened(entry: bytes) -> bytes | None:
    """The content of an entry; None if a single bit is not as it was.

    >>> opened(sealed(b"code")), opened(sealed(b"code")[:-1]), opened(b"")
    (b'code', None, None)
    """
    head = len(_MAGIC) + _CHECK
    check, packed = entry[len(_MAGIC) : head], entry[head:]
    if entry[: len(_MAGIC)] != _MAGIC or hashlib.blake2b(packed, digest_size=_CHECK).digest() != check:
        return None
    return zlib.decompress(packed)


def name_of(kernel: str, arguments: str, sources: str) -> str:
    """The name of an entry: kernel, then digests of argument types and of sources.

    >>> name_of("memory.heap.grow", "(int64,)", "00ff")  # doctest: +ELLIPSIS
    'memory.heap.grow-...-00ff'
    """
    return f"{kernel}-{hashlib.blake2b(arguments.encode(), digest_size=12).hexdigest()}-{sources}"


class EntryFolder:
    """Entries as files of a folder, which is safe (see `folders.py`)."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> bytes | None:
        """The bytes of an entry, unchecked."""
        try:
            file = os.open(self.path / f"{name}{_SUFFIX}", os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            return None
        try:
            with open(file, "rb") as opened_file:
                return opened_file.read() if _is_own(file) else None
        except OSError:
            return None

    def write(self, name: str, entry: bytes) -> None:
        """Puts an entry in place at once, and removes those of other sources that have not been used for a week."""
        with contextlib.suppress(OSError):
            self.path.mkdir(mode=0o700, exist_ok=True)
            file, temporary = tempfile.mkstemp(dir=self.path, prefix="new-")
            try:
                with open(file, "wb") as opened_file:
                    opened_file.write(entry)
                os.replace(temporary, self.path / f"{name}{_SUFFIX}")
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
            self._drop_older(name)

    def names(self) -> list[str]:
        try:
            return sorted(path.name.removesuffix(_SUFFIX) for path in self.path.glob(f"*{_SUFFIX}"))
        except OSError:
            return []

    def _drop_older(self, name: str) -> None:
        for path in self.path.glob(f"{name.rpartition('-')[0]}-*{_SUFFIX}"):
            if path.stem != name and path.stat().st_mtime < time.time() - _OLD_S:
                path.unlink(missing_ok=True)


def _is_own(file: int) -> bool:
    """A regular file that nobody else may write."""
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode):
        return False
    return not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
