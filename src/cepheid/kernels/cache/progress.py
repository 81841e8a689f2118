"""Says that kernels are being compiled: once as a line, and in a terminal with their names as they come.

Compiling takes up to a minute of silence otherwise. The line goes to standard error, which Spark puts in the logs of
its executors.
"""

from __future__ import annotations

import sys
import threading
import time

_LINE = "cepheid: compiling kernels, once for this machine and these versions; this takes up to a minute"


class Progress:
    """The kernels that this process has compiled so far. Compiling is serial: numba holds a lock around it."""

    def __init__(self) -> None:
        self.compiled: list[str] = []
        self._began_s = 0.0
        self._is_shown = False
        self._lock = threading.Lock()

    def begin(self, kernel: str) -> None:
        """A kernel has to be compiled."""
        with self._lock:
            if not self.compiled:
                self._began_s = time.monotonic()
                _write(f"{_LINE}\n")
            self.compiled.append(kernel)
            if _is_terminal():
                self._is_shown = True
                seconds = time.monotonic() - self._began_s
                _write(f"\r\x1b[K  {len(self.compiled):4} in {seconds:.0f} s: {kernel}")

    def rest(self) -> None:
        """Nothing is being compiled now: the line that shows names goes away."""
        if self._is_shown:
            with self._lock:
                self._is_shown = False
                _write("\r\x1b[K")


def say(line: str) -> None:
    """A line for the user."""
    _write(f"cepheid: {line}\n")


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass  # no standard error, or a closed one


PROGRESS = Progress()
