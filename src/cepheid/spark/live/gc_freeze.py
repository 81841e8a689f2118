"""Settling: what a worker has loaded is put out of the garbage collector's reach.

Spark's workers collect garbage after every task. With all libraries loaded that takes some tenths of a second, for
objects that are never garbage.
"""

from __future__ import annotations

import gc
import sys

_modules = 0


def settle() -> None:
    """Whenever more has been imported since the last time."""
    global _modules
    if len(sys.modules) != _modules:
        gc.collect()
        gc.freeze()
        _modules = len(sys.modules)
