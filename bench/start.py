"""The first query in a new process: from before the import to the first match, kernels compiled before.

Also where the package cannot be written, so that kernels are cached elsewhere.
"""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import cepheid
from bench.results import Row
from bench.timing import Timing, require

PACKAGE = Path(cepheid.__file__).parent
QUERY = "SELECT * FROM s WHERE A AS x ; B AS y WITHIN 10"
PROGRAM = f"""
import time
wall, cpu = time.perf_counter(), time.process_time()
import cepheid
import pyarrow as pa
found = cepheid.match(pa.table({{"ts": [1, 2, 3], "type": ["A", "B", "B"]}}), {QUERY!r})
seconds = time.perf_counter() - wall, time.process_time() - cpu
import json
from bench.timing import peak_mb
print(json.dumps([*seconds, found.num_rows, peak_mb()]))
"""


def first_query(repeats: int) -> Row:
    """With the package as it is installed."""
    return _measured("first query", PACKAGE.parent, {}, repeats)


def first_query_read_only(repeats: int) -> Row:
    """With a copy that may not be written. Its first run compiles: that is its warm-up."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "site" / "cepheid"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(copy, quiet=2)
        _set_writable(copy, False)
        try:
            environment = {"XDG_CACHE_HOME": str(Path(folder) / "cache")}
            if os.access(copy, os.W_OK):  # permissions do not bind the superuser
                environment["CEPHEID_CACHE_DIR"] = str(Path(folder) / "cache")
            row = _measured("first query, read-only", copy.parent, environment, repeats)
            assert not list(copy.rglob("*.kernel")), "kernels were cached in a package that is read-only"
        finally:
            _set_writable(copy, True)
    return row


def _measured(name: str, site: Path, environment: dict[str, str], repeats: int) -> Row:
    environment = os.environ | {"PYTHONPATH": f"{site}{os.pathsep}{Path(__file__).parents[1]}"} | environment
    runs = [_new_process(environment) for _ in range(repeats + 1)]
    for run in runs:
        require(int(run[2]), 2, name)
    wall_s, cpu_s = (tuple(run[i] for run in runs[1:]) for i in (0, 1))
    timing = Timing(wall_s, cpu_s, runs[0][0], max(run[3] for run in runs[1:]))
    return Row(name, 3, 2, 1, "by hand", timing, {"query": QUERY})


def _new_process(environment: dict[str, str]) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    numbers: list[float] = json.loads(done.stdout)
    return numbers


def _set_writable(folder: Path, writable: bool) -> None:
    for path in (folder, *folder.rglob("*")):
        mode = path.stat().st_mode
        path.chmod(mode | 0o200 if writable else mode & ~0o222)
