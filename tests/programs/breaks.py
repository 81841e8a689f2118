"""Breaks a copy of the project in one place at a time and looks whether the tests notice.

`python tests/programs/breaks.py [--spark] [WORD...]`: all breaks of `breaks.py`, or those whose description contains
one of the words; `--spark` runs those that need a Spark session, and only them. Prints a line per break and fails when
one survives.

Compiled kernels are cached by the content of their sources and of all that these import, so that all breaks share one
cache and none is hidden by it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from breaks import BREAKS, Break

PROJECT = Path(__file__).parents[2]
SECONDS = 300


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--spark", action="store_true", help="the breaks that need a Spark session")
    arguments.add_argument("words", nargs="*", help="only breaks whose description contains one of these")
    given = arguments.parse_args()
    breaks = [item for item in BREAKS if item.spark == given.spark and wanted(item, given.words)]
    missing = [item for item in breaks if place(item) is None]
    for item in missing:
        say(f"not found (exactly once): {item.old!r} in {item.function or 'the top level'} of {item.file}")
    if missing or not breaks:
        say(
            f"{len(missing)} of {len(breaks)} breaks do not fit the sources: bring tests/breaks.py up to date"
        )
        return 2
    with tempfile.TemporaryDirectory(prefix="cepheid-mutants-") as directory:
        return run_all(breaks, Copy(Path(directory)))


def run_all(breaks: list[Break], copy: Copy) -> int:
    begin = time.monotonic()
    whole = copy.test(sorted({test for item in breaks for test in item.noticed_by}), 6 * SECONDS)
    say(f"unbroken: {whole}, {time.monotonic() - begin:.0f} s")
    if whole != "passed":
        return 2
    survivors = 0
    for number, item in enumerate(breaks, 1):
        begin = time.monotonic()
        result = copy.broken(item)
        survived = result == "passed"
        survivors += survived
        took = time.monotonic() - begin
        verdict = "SURVIVED" if survived else "noticed"
        say(f"{number:3}  {verdict:8} {took:4.0f} s  {item.file:36} {item.what}  [{result}]")
    say(f"{len(breaks) - survivors} of {len(breaks)} breaks noticed")
    return 1 if survivors else 0


def wanted(item: Break, words: list[str]) -> bool:
    return not words or any(word in f"{item.file} {item.what}" for word in words)


def place(item: Break, sources: Path = PROJECT / "src/cepheid") -> tuple[int, int] | None:
    """Where in its file the text is that is to be replaced; None unless it is there exactly once."""
    text = (sources / item.file).read_text(encoding="utf-8")
    found = [
        begin + match.start()
        for begin, end in bodies(text, item.function)
        for match in re.finditer(re.escape(item.old), text[begin:end])
    ]
    return (found[0], found[0] + len(item.old)) if len(found) == 1 else None


def bodies(text: str, function: str) -> Iterator[tuple[int, int]]:
    """Where the functions of this name begin and end; the whole text if there is no name."""
    if not function:
        yield 0, len(text)
        return
    for found in re.finditer(rf"^( *)def {function}\(", text, re.MULTILINE):
        # It ends at the next line that is indented no deeper and is not its own closing bracket.
        after = re.compile(rf"^ {{0,{len(found[1])}}}[^\s)]", re.MULTILINE).search(text, found.end())
        yield found.start(), after.start() if after else len(text)


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the project in a directory of its own."""

    directory: Path

    def __post_init__(self) -> None:
        ignored = shutil.ignore_patterns("__pycache__")
        for name in ("src", "tests"):
            shutil.copytree(PROJECT / name, self.directory / name, ignore=ignored)
        shutil.copy2(PROJECT / "pyproject.toml", self.directory)

    @property
    def cache(self) -> Path:
        return self.directory / "cache"

    @property
    def sources(self) -> Path:
        return self.directory / "src/cepheid"

    def broken(self, item: Break) -> str:
        """What the tests say with this break; the copy is whole again afterwards."""
        path, found = self.sources / item.file, place(item, self.sources)
        assert found is not None
        before = path.stat()
        text = path.read_text(encoding="utf-8")
        path.write_text(text[: found[0]] + item.new + text[found[1] :], encoding="utf-8")
        try:
            return self.test(list(item.noticed_by), SECONDS)
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def test(self, selection: list[str], seconds: float) -> str:
        """`passed`, or the first test that failed, or what else went wrong."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.directory / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "CEPHEID_CACHE_DIR": str(self.cache),
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no"]
        command += ["--hypothesis-profile=found", "--hypothesis-seed=1", *selection]
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
