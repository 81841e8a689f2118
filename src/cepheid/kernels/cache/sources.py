"""Digests of kernels' sources: the code of a kernel depends on its module and on all kernel modules that it imports.

Sources are read while their modules are imported (`read_sources`), not when a kernel is first compiled: a process that
goes on while the package is updated compiles the code that it has imported, and must not keep it under the digest of
the new one.
"""

from __future__ import annotations

import hashlib
import re
import sys
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import Any

PACKAGE = "cepheid.kernels"
_IMPORT = re.compile(rf"^\s*from {re.escape(PACKAGE)}\.([\w.]+) import ", re.MULTILINE)
# The machinery that stores code does not change it.
_NOT_CODE = "cache."


def name_of_kernel(function: Any) -> str:
    """Its module, from the kernels' folder on, and its own name.

    >>> name_of_kernel(name_of_kernel)
    'cache.sources.name_of_kernel'
    """
    return f"{function.__module__.removeprefix(f'{PACKAGE}.')}.{function.__qualname__}"


@cache
def digest_of(module: str) -> str | None:
    """The digest of a kernel module and of those it imports; None where the sources are not to be had.

    >>> digest_of("cepheid.kernels.memory.big_integers") != digest_of("cepheid.kernels.memory.hashing")
    True
    >>> digest_of("numpy") is None
    True
    """
    if not module.startswith(f"{PACKAGE}."):
        return None
    names = reached_from(module.removeprefix(f"{PACKAGE}."))
    if names is None:
        return None
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(names):
        source = _source(name) or ""
        digest.update(f"{name} {len(source)}\n{source}".encode())
    return digest.hexdigest()


@cache
def read_sources(module: str) -> None:
    """Reads the sources of a kernel module that is being imported, and of those it has imported."""
    waiting = [module.removeprefix(f"{PACKAGE}.")] if module.startswith(f"{PACKAGE}.") else []
    while waiting:
        name = waiting.pop()
        if name not in _read:
            _read.add(name)
            waiting += imports_of(_source(name) or "")


_read: set[str] = set()


def reached_from(name: str) -> set[str] | None:
    """The kernel modules that a module imports, directly or not, and itself.

    >>> sorted(reached_from("memory.big_integers"))
    ['compiled', 'compiler', 'interrupts', 'memory.big_integers']
    """
    found, waiting = {name}, [name]
    while waiting:
        source = _source(waiting.pop())
        if source is None:
            return None
        for other in imports_of(source) - found:
            found.add(other)
            waiting.append(other)
    return found


def imports_of(source: str) -> set[str]:
    """The kernel modules that a source imports.

    >>> imports_of("from cepheid.kernels.memory.heap import META")
    {'memory.heap'}
    """
    return {name for name in _IMPORT.findall(source) if not name.startswith(_NOT_CODE)}


@cache
def _source(name: str) -> str | None:
    module = f"{PACKAGE}.{name}"
    loaded = sys.modules.get(module)
    spec: ModuleSpec | None = loaded.__spec__ if loaded is not None else None
    try:
        loader = (spec or find_spec(module)).loader  # type: ignore[union-attr]
        source: str | None = loader.get_source(module)  # type: ignore[union-attr]
    except (AttributeError, ImportError, OSError, SyntaxError):
        return None
    return source
