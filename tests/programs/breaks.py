"""Breaks a copy of the kernels in one place at a time and looks whether the tests notice.

`python tests/programs/breaks.py [WORD…]`: all breaks of `tests/kernels/breaks.toml`, or those whose file or description
contains one of the words. Prints a line per break and fails when one survives.

Compiled kernels are cached by the content of their sources and of all that these import, so that all breaks share one
cache, a copy of that of this machine, and none is hidden by it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

from cepheid.kernels.cache.folders import cache_folder

PROJECT = Path(__file__).parents[2]
KERNELS = Path("src/cepheid/kernels")
SECONDS = 300


@dataclass(frozen=True, slots=True)
class Break:
    """In `file` of the kernels, `old` becomes `new`; `what` is no longer true, and one of `tests` fails."""

    file: str
    old: str
    new: str
    what: str
    tests: list[str]

    @property
    def fits(self) -> bool:
        return (PROJECT / KERNELS / self.file).read_text(encoding="utf-8").count(self.old) == 1


def breaks() -> list[Break]:
    text = (PROJECT / "tests/kernels/breaks.toml").read_text(encoding="utf-8")
    return [Break(**item) for item in tomllib.loads(text)["break"]]


def main() -> int:
    words = sys.argv[1:]
    chosen = [
        item for item in breaks() if not words or any(word in f"{item.file} {item.what}" for word in words)
    ]
    unfit = [item for item in chosen if not item.fits]
    for item in unfit:
        say(f"not found (exactly once): {item.old!r} in {item.file}")
    if unfit or not chosen:
        return 2
    with tempfile.TemporaryDirectory(prefix="cepheid-breaks-") as directory:
        return run_all(chosen, Copy(Path(directory)))


def run_all(chosen: list[Break], copy: Copy) -> int:
    begin = time.monotonic()
    whole = copy.test(sorted({test for item in chosen for test in item.tests}), 6 * SECONDS)
    say(f"unbroken: {whole}, {time.monotonic() - begin:.0f} s")
    if whole != "passed":
        return 2
    survivors = 0
    for number, item in enumerate(chosen, 1):
        begin = time.monotonic()
        result = copy.broken(item)
        survivors += result == "passed"
        verdict = "SURVIVED" if result == "passed" else "noticed"
        took = time.monotonic() - begin
        say(f"{number:3}  {verdict:8} {took:4.0f} s  {item.file:36} {item.what}  [{result}]")
    say(f"{len(chosen) - survivors} of {len(chosen)} breaks noticed")
    return 1 if survivors else 0


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the project in a directory of its own."""

    directory: Path

    def __post_init__(self) -> None:
        for name in ("src", "tests"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(PROJECT / name, self.directory / name, ignore=ignored)
        shutil.copy2(PROJECT / "pyproject.toml", self.directory)
        shutil.copytree(cache_folder(), self.directory / "cache")

    def broken(self, item: Break) -> str:
        """What the tests say with this break; the copy is whole again afterwards."""
        path = self.directory / KERNELS / item.file
        before, text = path.stat(), path.read_text(encoding="utf-8")
        path.write_text(text.replace(item.old, item.new), encoding="utf-8")
        try:
            return self.test(item.tests, SECONDS)
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def test(self, selection: list[str], seconds: float) -> str:
        """`passed`, or the first test that failed, or what else went wrong."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.directory / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "CEPHEID_CACHE_DIR": str(self.directory / "cache"),
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no"]
        command += ["--hypothesis-profile=found", "--hypothesis-seed=1"]
        command += [f"tests/{test}" for test in selection]
        try:
            done = subprocess.run(
                command,
                cwd=self.directory,
                env=environment,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"nothing within {seconds:.0f} s"
        if done.returncode == 0:
            return "passed"
        if done.returncode < 0:
            return f"crashed with signal {-done.returncode}"
        failed = re.search(r"^FAILED \S*?::(.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
        if failed is None:
            raise SystemExit(f"no test failed, but pytest did:\n{done.stdout}\n{done.stderr}")
        return failed[1]


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
