"""Puts packs of compiled kernels into a wheel, where `make wheel` has made any.

A pack fits one version of Python, of numba and of numpy, and one kind of machine, so a wheel with a pack has a tag that
says so. Without packs the wheel is for everyone, as an editable install and the source distribution always are.
"""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelsHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = os.environ.get("CEPHEID_PACKS")
        if self.target_name != "wheel" or version == "editable" or not folder:
            return
        packs = sorted(Path(folder).glob("*.pack"))
        if not packs:
            raise FileNotFoundError(f"CEPHEID_PACKS names a folder without packs: {folder}")
        for pack in packs:
            build_data["force_include"][str(pack)] = f"cepheid/kernels/shipped/{pack.name}"
        build_data["pure_python"] = False
        build_data["tag"] = tag()


def tag() -> str:
    """Python, its ABI and the platform. Packs hold no shared library, so any Linux that numba runs on is fine."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if sys.platform == "linux":
        system = f"manylinux_2_17_{platform.machine()}"
    return f"{python}-{python}-{system}"
