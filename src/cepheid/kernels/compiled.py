"""How kernels are compiled: kept on disk, run outside of the interpreter lock, most without counting references.

numba counts a reference whenever an array is bound to a name, taken from a tuple or given to a function, even one that
is inlined, and a count is an atomic instruction: in a loop over slots they took nine tenths of the time. A function
compiled as `compiled`, `inner` or `inlined` cannot make arrays; what it needs is given to it. Those that do make arrays
are `allocating`. Those that only other kernels call, `inner` and `inlined`, are parts of these: no machine code is made
of them alone (`compiler.py`).

Kernels copy arrays word by word: for a slice set to a slice numba compiles an error message with both shapes, which
took an eighth of the time to the first match from an empty cache.

What Python calls is a `Kernel`, which can be interrupted (`interrupts.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
from numba.core.types.misc import unliteral

from cepheid.kernels.cache.sources import name_of_kernel
from cepheid.kernels.interrupts import after_kernel, before_kernel

try:
    from cepheid.kernels.compiler import KernelCompiler
except ImportError:  # another numba than those this was written for: its own compiler takes longer
    from numba.core.compiler import Compiler as KernelCompiler  # type: ignore[no-redef]
try:
    from cepheid.kernels.cache.dispatch import cached, uncached
    from cepheid.kernels.cache.progress import PROGRESS
    from cepheid.kernels.cache.store import CALLED
except ImportError as error:  # another numba than those this was written for: nothing is kept
    from cepheid.kernels.cache.progress import PROGRESS, say

    say(f"kernels are compiled in every process: {error}")

    CALLED: set[str] = set()  # type: ignore[no-redef]

    def cached(dispatcher: Any) -> Any:
        return dispatcher

    uncached = cached


class Inner:
    """A function that only kernels call. Where a test calls it from Python, a kernel is made of it."""

    def __init__(self, dispatcher: Any) -> None:
        functools.update_wrapper(self, dispatcher.py_func)
        self.dispatcher = dispatcher
        self.py_func = dispatcher.py_func
        self._numba_type_ = dispatcher._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        return self._entrance(*arguments)

    @functools.cached_property
    def _entrance(self) -> Any:
        return compiled(self.py_func)


class Kernel:
    """A compiled function as Python calls it. To other kernels it is the function itself."""

    def __init__(self, dispatcher: Any) -> None:
        functools.update_wrapper(self, dispatcher.py_func)
        CALLED.add(name_of_kernel(dispatcher.py_func))
        self.dispatcher = dispatcher
        self.py_func = dispatcher.py_func
        self._numba_type_ = dispatcher._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        ticker = before_kernel()
        try:
            return self.dispatcher(*arguments)
        finally:
            PROGRESS.rest()
            after_kernel(ticker)


def _kernels(is_called: bool, **options: bool) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        dispatcher = numba.njit(nogil=True, pipeline_class=KernelCompiler, **options)(function)
        if dispatcher is function:  # with NUMBA_DISABLE_JIT
            return function
        dispatcher.get_call_template = _for_any_value(dispatcher.get_call_template)
        return Kernel(cached(dispatcher)) if is_called else Inner(uncached(dispatcher))

    return decorate


def _for_any_value(get_call_template: Any) -> Any:
    """Compiles a function that is called with a constant as with any value of its type, not once more."""

    def of(arguments: Any, keywords: dict[str, Any]) -> Any:
        return get_call_template(
            tuple(unliteral(one) for one in arguments),
            {name: unliteral(one) for name, one in keywords.items()},
        )

    return of


_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# Flags that are not said are inherited from the first caller that is compiled.
compiled = _kernels(True, _nrt=False, forceinline=False)
inner = _kernels(False, _nrt=False, forceinline=False, **_INNER)
inlined = _kernels(False, _nrt=False, forceinline=True, **_INNER)
allocating = _kernels(True)
allocating_inlined = _kernels(False, forceinline=True, **_INNER)
