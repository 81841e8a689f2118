"""A folder that compiled kernels may be loaded from: nobody but the user can change what is in it.

An entry is a pickle and machine code, so whoever can write one runs code as the user who loads it. A folder is *safe*
when the user owns it, nobody else may write in it, and nobody else can put another in its place: every folder above it
belongs to the user or to the superuser and can be written by them alone, or has the sticky bit, as `/tmp` has, under
which only the owner renames what is inside. Symbolic links are resolved first, and the resolved path is what is used;
none of them belongs to another user, who could lead to a folder of the user that holds what others gave them.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

VARIABLE = "CEPHEID_CACHE_DIR"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_BESIDE = Path(__file__).parents[1] / "__pycache__"


def why_unsafe(path: Path) -> str | None:
    """Why nothing may be loaded from a folder; None for a safe one.

    >>> why_unsafe(Path("/does/not/exist"))
    '/does/not/exist: No such file or directory'
    """
    if not hasattr(os, "getuid"):
        return None  # not POSIX: the folders of a user are protected by access lists
    try:
        for link in _links(path):
            if link.lstat().st_uid not in (0, os.getuid()):
                return f"{link}, a link, belongs to another user"
        real = Path(os.path.realpath(path, strict=True))
        own = real.stat()
        if not stat.S_ISDIR(own.st_mode):
            return f"{path} is not a folder"
        if own.st_uid != os.getuid():
            return f"{path} belongs to another user"
        if own.st_mode & _OTHERS_WRITE:
            return f"{path} can be written by others"
        for above in real.parents:
            found = above.stat()
            if found.st_uid not in (0, os.getuid()):
                return f"{above}, above {path}, belongs to another user"
            if found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX:
                return f"{above}, above {path}, can be written by others"
    except OSError as error:
        return f"{path}: {error.strerror or error}"
    return None


def _links(path: Path) -> Iterator[Path]:
    """The symbolic links that a path leads over; an endless chain of them is left to `realpath`."""
    path = path.absolute()
    at, parts, most = Path(path.anchor), list(path.parts[1:]), 64
    while parts and most > 0:
        part = parts.pop(0)
        if part == "..":
            at = at.parent
            continue
        if (at / part).is_symlink():
            yield at / part
            most -= 1
            target = Path(os.readlink(at / part))
            parts = [*target.parts[1 if target.is_absolute() else 0 :], *parts]
            at = Path(target.anchor) if target.is_absolute() else at
        else:
            at /= part


def safe_folder(path: Path) -> Path | None:
    """The resolved path of a safe folder that can be written, made where it is missing; else None."""
    try:
        _make(path)
    except OSError:
        return None
    if why_unsafe(path) is not None:
        return None
    real = Path(os.path.realpath(path))
    try:
        with tempfile.TemporaryFile(dir=real):
            return real
    except OSError:
        return None


def _make(path: Path) -> None:
    """Makes a folder and those above it, for the user alone whatever the umask."""
    if path.is_dir():
        return
    if path.parent != path:
        _make(path.parent)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        if not path.is_dir():
            raise


@cache
def cache_folder() -> Path:
    """Where this process keeps compiled kernels: the first candidate that is safe, else a private folder that is
    removed when the process ends. Where nothing at all can be written, nothing is kept."""
    try:
        for candidate in candidates():
            folder = safe_folder(candidate)
            if folder is not None:
                return folder
        return private_folder()
    except OSError:
        return Path(os.devnull)


def candidates() -> Iterator[Path]:
    """What the user asks for and nothing else, or: beside the sources, the user's cache folder, a temporary one."""
    given = os.environ.get(VARIABLE)
    if given:
        yield Path(given).absolute()
        return
    yield _BESIDE / "compiled"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(home):
        yield Path(home) / "cepheid"
    if hasattr(os, "getuid"):
        yield Path(tempfile.gettempdir()) / f"cepheid-{os.getuid()}"


def private_folder() -> Path:
    """A new folder of this process alone."""
    folder = Path(tempfile.mkdtemp(prefix="cepheid-"))
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, maker: int) -> None:
    if os.getpid() == maker:  # a forked process may still use it
        shutil.rmtree(folder, ignore_errors=True)
