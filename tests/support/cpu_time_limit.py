"""A limit of CPU time for a block of a test, by an alarm that is raised in the block and cannot be lost.

Python drops an exception that a signal handler raises inside a callback of the garbage collector, and prints it, which
pytest makes a failure. So the collector rests inside the block, and the alarm comes again until it is seen.
"""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager

REPEATED_S = 0.1


class OvertimeError(BaseException):
    """No `Exception`, so that nothing on the way takes it for one of its own."""


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """No garbage is collected inside the block, and so nothing is called back, whoever has asked for that."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def within_seconds(seconds: float) -> Iterator[None]:
    """Raises `OvertimeError` in the block once this process has used so much CPU time."""
    inside = True

    def over(*_: object) -> None:
        if inside:
            raise OvertimeError(f"more than {seconds} s of CPU time")

    before = signal.signal(signal.SIGPROF, over)
    with collector_at_rest():
        try:
            try:
                signal.setitimer(signal.ITIMER_PROF, seconds, REPEATED_S)
                yield
            finally:
                inside = False
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
