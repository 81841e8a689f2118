"""What is imported when: `import cepheid` imports no library, and reading a query imports no kernels.

Each case runs in a fresh interpreter, since this one has imported everything.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import cepheid

HEAVY = ("lark", "llvmlite", "numba", "numpy", "pandas", "polars", "pyarrow", "pyspark", "rich", "typer")
IN_PROCESS = {"lark", "numpy", "pyarrow"}
LONGEST_CPU_S = 0.3  # a tenth of it is used; that of a whole interpreter's start is not counted
REPORT = f"""
import json, sys
print(json.dumps([name for name in {HEAVY} if name in sys.modules]))
"""
QUERY = "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.v = y.v WITHIN 10"


def imported_by(program: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", program + REPORT], capture_output=True, text=True, timeout=120, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_package_alone_imports_no_library_and_takes_no_time() -> None:
    program = f"""
import time
begin = time.process_time()
import cepheid
assert time.process_time() - begin < {LONGEST_CPU_S}, time.process_time() - begin
assert cepheid.__version__
"""
    assert imported_by(program) == set()


@pytest.mark.parametrize(
    "call",
    [
        f"cepheid.query({QUERY!r})",
        f"cepheid.explain({QUERY!r})",
        f"cepheid.explain({QUERY!r}, pa.schema({{'ts': pa.int64(), 'type': pa.string(), 'v': pa.int64()}}))",
    ],
)
def test_reading_and_explaining_a_query_imports_no_kernels(call: str) -> None:
    assert imported_by(f"import cepheid; import pyarrow as pa; {call}") == IN_PROCESS


def test_checking_a_query_on_the_command_line_imports_no_kernels_and_no_spark() -> None:
    program = f"""
import sys
from cepheid.cli import main
sys.argv = ["cepheid", "check", "-e", {QUERY!r}]
try:
    main()
except SystemExit as end:
    assert not end.code
"""
    assert not imported_by(program) & {"numba", "pyspark"}


def test_every_public_name_is_there_and_no_other() -> None:
    assert set(cepheid.__all__) <= set(dir(cepheid))
    assert all(getattr(cepheid, name) is not None for name in cepheid.__all__)
    with pytest.raises(AttributeError, match="module 'cepheid' has no attribute 'matches_of'"):
        cepheid.matches_of  # type: ignore[attr-defined]  # noqa: B018


def test_type_checkers_see_the_names_that_are_imported_late() -> None:
    tree = ast.parse(Path(cepheid.__file__).read_text(encoding="utf-8"))
    (branch,) = [node for node in tree.body if isinstance(node, ast.If)]
    declared = {
        alias.name: node.module
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert declared == cepheid._PLACES
