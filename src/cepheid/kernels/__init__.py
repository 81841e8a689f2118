"""Compiled loops over flat arrays: one file per kernel, `numba` here and nowhere else.

Compiled code is kept on disk, so that a machine compiles once. The cache lies beside the sources where that can be
written, else in the user's cache directory, else (an executor without a home, a read-only install) in a temporary one.
`CEPHEID_CACHE_DIR` or numba's own `NUMBA_CACHE_DIR` decides otherwise. Its name holds a digest of all kernels: numba
looks whether a function's own file has changed, not whether those it calls have.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

_HERE = Path(__file__).parent


def _writable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def cache_directory(sources: Path = _HERE) -> Path:
    """Where compiled kernels are kept: the first of the candidates that can be written."""
    name = f"kernels-{_digest(sources)}"
    beside = sources / "__pycache__"
    if _writable(beside / name):
        _drop_others(beside, name)
        return beside / name
    candidates = []
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(home):
        candidates.append(Path(home) / "cepheid" / name)
    candidates.append(Path(tempfile.gettempdir()) / f"cepheid-{_user()}" / name)
    for path in candidates:
        if _writable(path):
            return path
    return Path(tempfile.mkdtemp(prefix="cepheid-"))


def _digest(sources: Path) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(sources.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _drop_others(directory: Path, name: str) -> None:
    """Beside the sources no cache but that of the sources is of use."""
    for path in directory.glob("kernels-*"):
        if path.name != name:
            shutil.rmtree(path, ignore_errors=True)


if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = os.environ.get("CEPHEID_CACHE_DIR") or str(cache_directory())
