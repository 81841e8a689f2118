"""Freezes the loaded modules of a worker, so that the garbage collector skips them.

Spark's workers collect garbage after every task. With all libraries loaded that takes some tenths of a second, for
objects that are never garbage.
"""

from __future__ import annotations

import gc
import sys

_modules = 0


def freeze_modules() -> None:
    """Freezes again whenever more has been imported since the last time."""
    global _modules
    if len(sys.modules) != _modules:
        gc.collect()
        gc.freeze()
        _modules = len(sys.modules)
