"""Compiled loops over flat arrays: one file per kernel, `numba` here and nowhere else.

Compiled code is kept on disk, so that a machine compiles once. The cache lies beside the sources where that can be
written, else in the user's cache directory, else (an executor without a home, a read-only install) in a temporary one.
`CEPHEID_CACHE_DIR` or numba's own `NUMBA_CACHE_DIR` decides otherwise.
"""

from __future__ import annotations

import getpass
import os
import tempfile
from pathlib import Path


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


def cache_directory() -> Path:
    """Where compiled kernels are kept: the first of the candidates that can be written."""
    candidates = [Path(__file__).parent / "__pycache__"]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(home):
        candidates.append(Path(home) / "cepheid")
    candidates.append(Path(tempfile.gettempdir()) / f"cepheid-{_user()}")
    return next((path for path in candidates if _writable(path)), Path(tempfile.mkdtemp(prefix="cepheid-")))


if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = os.environ.get("CEPHEID_CACHE_DIR") or str(cache_directory())
