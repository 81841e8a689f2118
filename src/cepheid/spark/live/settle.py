"""Settling: what a worker has loaded is put out of the garbage collector's reach.

Spark's workers collect garbage after every task. With all libraries loaded that takes some tenths of a second, for
objects that are never garbage.
"""

from __future__ import annotations

import gc

_settled = False


def settle() -> None:
    """Once in the life of a process, after everything has been imported."""
    global _settled
    if not _settled:
        gc.collect()
        gc.freeze()
        _settled = True
