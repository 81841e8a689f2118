"""The cache of a numba dispatcher: asked for an overload before one is compiled, and given it afterwards.

This rests on five things inside numba: a dispatcher that has no code yet calls `_compile_for_args`, which asks its
`_cache` (`load_overload`, `save_overload`), and a `CompileResult` is taken apart and put together by `_reduce` and
`_rebuild`, whose parts numba's `dumps` pickles. Where one of them is missing, kernels are compiled in every process,
and a line says so.
"""

from __future__ import annotations

import pickle
from typing import Any

from numba.core import sigutils
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from cepheid.kernels.cache.entries import name_of
from cepheid.kernels.cache.progress import PROGRESS, say
from cepheid.kernels.cache.signals import run_waiting, waits_for
from cepheid.kernels.cache.sources import digest_of, name_of_kernel, read_sources
from cepheid.kernels.cache.store import store

_said: list[str] = []


class NoCache(NullCache):  # type: ignore[misc]
    """For functions of which kernels are made: nothing is kept but the kernels."""

    def load_overload(self, signature: Any, target_context: Any) -> None:
        run_waiting()


class KernelCache(NullCache):  # type: ignore[misc]
    """Nothing that goes wrong in it is an error: a kernel that cannot be loaded is compiled."""

    def __init__(self, function: Any) -> None:
        read_sources(function.__module__)
        self._function = function
        self._kernel = name_of_kernel(function)

    @property
    def cache_path(self) -> str:
        return str(store().folder.path)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        run_waiting()
        name = self._name(signature)
        if name is not None:
            found = self._loaded(name, target_context)
            if found is not None:
                return found
        PROGRESS.begin(self._kernel)
        return None

    def _loaded(self, name: str, target_context: Any) -> Any:
        content = store().load(name)
        if content is None:
            return None
        try:
            target_context.refresh()
            return CompileResult._rebuild(target_context, *pickle.loads(content))
        except Exception:
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        name = self._name(signature)
        if name is None or compiled.lifted or compiled.library.has_dynamic_globals:
            return
        try:
            annotation = str(compiled.type_annotation)  # only for people, and full of paths
            parts = tuple("" if part == annotation else part for part in compiled._reduce())
            content = dumps(parts)
        except Exception as error:
            _say_once(f"a compiled kernel cannot be kept: {error}")
            return
        store().save(name, content)

    def _name(self, signature: Any) -> str | None:
        sources = digest_of(self._function.__module__)
        if sources is None:
            return None
        arguments, _ = sigutils.normalize_signature(signature)
        return name_of(self._kernel, str(arguments), sources)


def cached(dispatcher: Any) -> Any:
    """The dispatcher, which keeps what it compiles."""
    own = (dispatcher, "_cache"), (dispatcher, "_compile_for_args")
    if all(
        hasattr(owner, name)
        for owner, name in (*own, (CompileResult, "_reduce"), (CompileResult, "_rebuild"))
    ):
        dispatcher._cache = KernelCache(dispatcher.py_func)
        dispatcher._compile_for_args = waits_for(dispatcher._compile_for_args)
    elif hasattr(dispatcher, "py_func"):  # with NUMBA_DISABLE_JIT it is the function itself
        _say_once("kernels are compiled in every process: this version of numba has another cache")
    return dispatcher


def uncached(dispatcher: Any) -> Any:
    """The dispatcher, while whose callers are compiled signal handlers may run."""
    dispatcher._cache = NoCache()
    return dispatcher


def _say_once(line: str) -> None:
    if line not in _said:
        _said.append(line)
        say(line)
