"""Installs a wheel with compiled kernels into a fresh environment and looks whether it is ready at once.

`python tests/programs/wheel.py FOLDER`: the wheel is the newest in the folder. In a home without a cache, the first
match and count of a process must compile nothing; how long they take from before the import is printed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 3.0
PROGRAM = """
import json, os, time
wall, cpu = time.perf_counter(), time.process_time()
before = dict(os.environ)
import cepheid
import pyarrow as pa
table = pa.table({"ts": [1, 2, 3], "type": ["A", "B", "B"], "v": [1, 2, 3]})
found = cepheid.match(table, "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.v < y.v WITHIN 10").num_rows
seconds = time.perf_counter() - wall, time.process_time() - cpu
found += cepheid.match(table, "SELECT * FROM s WHERE A AS x ; B AS y WITHIN 10").num_rows
found += cepheid.count(table, "SELECT * FROM s WHERE A AS x ; B AS y WITHIN 10")
from cepheid.kernels.cache.progress import PROGRESS
assert dict(os.environ) == before
print(json.dumps([found, PROGRESS.compiled, *seconds]))
"""


def main() -> None:
    wheel = max(Path(sys.argv[1]).absolute().glob("cepheid-*.whl"), key=lambda path: path.stat().st_mtime)
    with tempfile.TemporaryDirectory(prefix="cepheid-wheel-") as folder:
        python = Path(folder) / "env" / "bin" / "python"
        run([sys.executable, "-m", "venv", str(python.parents[1])])
        # with the versions that its kernels were compiled with
        versions = json.loads(run([sys.executable, "-c", VERSIONS]).stdout)
        run([str(python), "-m", "pip", "install", "--quiet", str(wheel), *versions])
        home = Path(folder) / "home"
        home.mkdir()
        environment = {"HOME": str(home), "PATH": os.environ["PATH"], "TMPDIR": str(home)}
        for _ in range(2):  # the first one also compiles Python's own modules
            done = run([str(python), "-c", PROGRAM], environment)
            assert done.stderr == "", done.stderr
            found, compiled, wall_s, cpu_s = json.loads(done.stdout)
            assert (found, compiled) == (6, []), (found, compiled)
            print(f"{wheel.name}: first match after {wall_s:.2f} s, {cpu_s:.2f} s of them computing")  # noqa: T201
        assert cpu_s < SECONDS


VERSIONS = """
import json
from importlib.metadata import version
print(json.dumps([f"{name}=={version(name)}" for name in ("numba", "llvmlite", "numpy")]))
"""


def run(command: list[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        env=environment or {name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


if __name__ == "__main__":
    main()
