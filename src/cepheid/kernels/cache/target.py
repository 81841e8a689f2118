"""What compiled code depends on beside its sources: versions, settings of the compiler, and the processor.

Entries in a cache folder are those of one target exactly. A pack is made for a processor with certain features, and can
be used on any that has them and more.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config
from numba.core.codegen import get_host_cpu_features
from numba.core.registry import cpu_target

FORMAT = "1"  # of entries, packs and their names
_SETTINGS = (
    *("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS"),
    *("DEBUGINFO_DEFAULT", "EXTEND_VARIABLE_LIFETIMES", "USING_SVML", "DEBUG_NRT"),
)


@dataclass(frozen=True, slots=True)
class Target:
    """`features` are those that the code may use, as LLVM names them."""

    versions: str
    settings: str
    triple: str
    cpu: str
    features: tuple[str, ...]

    @property
    def digest(self) -> str:
        return hashlib.blake2b(repr(self).encode(), digest_size=8).hexdigest()

    def runs_on(self, host: Target) -> bool:
        """Whether code for this target runs where the host's own code does.

        >>> small = Target("v", "s", "x86_64-linux", "x86-64-v3", ("avx2",))
        >>> large = Target("v", "s", "x86_64-linux", "sapphirerapids", ("avx2", "avx512f"))
        >>> small.runs_on(large), large.runs_on(small), Target("w", "s", "", "", ()).runs_on(large)
        (True, False, False)
        """
        return (
            (self.versions, self.settings, self.triple) == (host.versions, host.settings, host.triple)
        ) and set(self.features) <= set(host.features)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(fields: dict[str, Any]) -> Target:
        """Raises KeyError, TypeError or ValueError for anything that is not one."""
        versions, settings, triple, cpu = (fields[name] for name in ("versions", "settings", "triple", "cpu"))
        features = tuple(fields["features"])
        if not all(isinstance(text, str) for text in (versions, settings, triple, cpu, *features)):
            raise TypeError("fields of a target are texts")
        return Target(versions, settings, triple, cpu, features)


@cache
def compiled_for() -> Target:
    """The target of what this process compiles."""
    triple, cpu, features = cpu_target.target_context.codegen().magic_tuple()
    return Target(_versions(), _settings(), triple, cpu, _enabled(features))


@cache
def host() -> Target:
    """This machine: what code for it may use."""
    own = compiled_for()
    return Target(own.versions, own.settings, own.triple, own.cpu, _enabled(get_host_cpu_features()))


def _enabled(features: str) -> tuple[str, ...]:
    return tuple(sorted(name[1:] for name in features.split(",") if name.startswith("+")))


def _versions() -> str:
    # numba looks at numpy's major and minor version alone
    numpy = ".".join(np.__version__.split(".")[:2])
    python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    return f"{FORMAT} {python} numba {numba.__version__} llvmlite {llvmlite.__version__} numpy {numpy}"


def _settings() -> str:
    return " ".join(f"{name}={getattr(config, name, None)}" for name in _SETTINGS)
