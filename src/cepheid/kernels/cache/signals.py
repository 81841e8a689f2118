"""Signal handlers wait while kernels are compiled or loaded.

LLVM calls Python back where it has made code, or wants code that was kept. An exception that a signal handler raises
there is printed and dropped, and the code is lost with it: Ctrl-C would not end the query, and a kernel that was loaded
so would not be there. So handlers of Python are noted when they are due, and run between two kernels or at the end.

Where a kernel returns arrays, numba calls a function of Python for the constants that it needs, and goes on if a signal
handler raises in it: Ctrl-C would become a `SystemError`. So these are kept in a cache that runs no Python.
"""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from numba.core import serialize

if hasattr(serialize, "_numba_unpickle"):
    serialize._numba_unpickle = functools.cache(serialize._numba_unpickle)


class _Waiting:
    """The handlers that wait, by signal, and the signals that have come."""

    def __init__(self) -> None:
        self.handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self.come: list[int] = []

    def note(self, number: int, frame: FrameType | None) -> None:
        if number not in self.come:
            self.come.append(number)


_waiting: _Waiting | None = None


def waits_for(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, for whose end signal handlers wait."""

    @functools.wraps(function)
    def waited_for(*arguments: Any) -> Any:
        global _waiting
        if _waiting is not None or threading.current_thread() is not threading.main_thread():
            return function(*arguments)
        waiting = _waiting = _Waiting()
        try:
            for valid in signal.valid_signals():
                handler = signal.getsignal(valid)
                if callable(handler):
                    waiting.handlers[valid] = handler
                    signal.signal(valid, waiting.note)
            return function(*arguments)
        finally:
            _waiting = None
            for number, handler in waiting.handlers.items():
                signal.signal(number, handler)
            for number in waiting.come:
                signal.raise_signal(number)

    return waited_for


def run_waiting() -> None:
    """Runs the handlers of the signals that have come, where an exception does no harm."""
    if _waiting is not None and threading.current_thread() is threading.main_thread():
        while _waiting.come:
            number = _waiting.come.pop(0)
            _waiting.handlers[number](number, None)
