"""What works without the packages of the extras, and what the error says where it does not."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepheid.errors import CepheidError
from cepheid.extras import EXTRAS, require

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
QUERY = "SELECT * FROM farm WHERE T AS x ; H AS y WITHIN 300"

SPARK = ("pyspark", "py4j", "pandas", "google", "grpc")
COMMAND_LINE = ("typer", "rich")
WITHOUT = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""


def run(program: str, *arguments: str, without: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Runs a program in an interpreter in which these packages cannot be imported."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT.format(names=without) + program, *arguments],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def command(*arguments: str, without: tuple[str, ...]) -> tuple[int, str, str]:
    done = run("from cepheid.cli import main; main()", *arguments, without=without)
    return done.returncode, done.stdout, done.stderr


def test_the_example_of_the_readme_runs_on_the_core_alone() -> None:
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert example is not None
    done = run(example[1], without=(*SPARK, *COMMAND_LINE, "polars"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "2"


def test_without_its_packages_the_command_says_what_to_install() -> None:
    code, out, err = command("check", "-e", QUERY, without=("typer",))
    assert (code, out) == (1, "")
    assert err == (
        "error[not-installed]: the command `cepheid` needs the `cli` extra; not installed: typer\n"
        "  hint: pip install 'cepheid[cli]'\n"
    )


def test_without_spark_queries_are_checked_and_explained(tmp_path: Path) -> None:
    table = pa.table({"ts": [1], "type": ["T"], "v": [1.0]})
    pq.write_table(table, tmp_path / "farm.parquet")
    given = ("--input", str(tmp_path / "farm.parquet"), "--time", "ts")
    assert command("check", "-e", QUERY, without=SPARK)[:2] == (0, "ok\n")
    code, out, err = command("explain", "-e", QUERY, *given, without=SPARK)
    assert code == 0, err
    assert "evaluator" in out


@pytest.mark.parametrize("arguments", [("run", "-e", QUERY, "-i", "farm.parquet", "--time", "ts"), ("demo",)])
def test_without_spark_what_runs_on_it_says_what_to_install(arguments: tuple[str, ...]) -> None:
    code, out, err = command(*arguments, without=SPARK)
    assert (code, out) == (1, "")
    assert (
        f"`cepheid {arguments[0]}` needs the `spark` extra; not installed: pyspark, pandas, protobuf" in err
    )
    assert "hint: pip install 'cepheid[spark]'" in err


def test_a_missing_package_has_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    require("spark", "this")
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(CepheidError) as caught:
        require("spark", "this")
    assert caught.value.code == "not-installed"


def names_in(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=~!; ]", requirement, maxsplit=1)[0] for requirement in requirements}


def test_the_extras_are_those_of_the_project() -> None:
    extras = PROJECT["optional-dependencies"]
    for name, packages in EXTRAS.items():
        assert names_in(extras[name]) == set(packages)
    assert extras["all"] == ["cepheid[cli,pandas,spark]"]
    assert "cepheid[all]" in extras["dev"]


def test_the_core_is_small() -> None:
    assert names_in(PROJECT["dependencies"]) == {"lark", "numba", "numpy", "pyarrow"}
