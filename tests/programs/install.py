"""Builds the sdist and from it the wheel, installs the wheel into fresh environments, and uses it there as users would.

`python tests/programs/install.py FOLDER` (`make test-install`) takes some minutes and needs a package index, so it is
no part of the suite. First without extras: the README's example runs, nothing that only Spark or the command line needs
is installed, and the command says how to install it. Then with the extra `cli`: queries are checked, and `run` says
that it needs Spark. Everything is made in FOLDER, which is emptied first.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

PROJECT = Path(__file__).parents[2]
NOT_IN_THE_CORE = ("pandas", "polars", "pyspark", "rich", "typer")
QUERY = "SELECT * FROM farm WHERE T AS x ; H AS y"


class Environment:
    """A fresh environment that sees nothing of this one."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self.folder = folder
        hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        self.variables = {name: value for name, value in os.environ.items() if name not in hidden}

    def run(self, program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.folder / "bin" / program, *arguments],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def python(self, *arguments: str | Path) -> str:
        done = self.run("python", *arguments)
        expect(done.returncode == 0, f"python {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
        return done.stdout

    def install(self, *packages: str | Path) -> None:
        self.python("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)


def expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise SystemExit(f"install: {otherwise}")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def built(folder: Path) -> Path:
    """The wheel, with all that should be in it."""
    builder = Environment(folder / "builder")
    builder.install("build")
    builder.python("-m", "build", "--outdir", folder / "dist", PROJECT)
    (source,) = (folder / "dist").glob("*.tar.gz")
    (wheel,) = (folder / "dist").glob("*.whl")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"LICENSE", "CHANGELOG.md", "README.md", "pyproject.toml", "src/cepheid/__init__.py"}
    expect(wanted <= names, f"the sdist lacks {sorted(wanted - names)}")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        grammars = {f"cepheid/{file.relative_to(PROJECT / 'src/cepheid')}" for file in _grammars()}
    wanted = {"cepheid/py.typed", "cepheid/api.py", *grammars}
    expect(wanted <= names, f"the wheel lacks {sorted(wanted - names)}")
    expect(any(name.endswith(".dist-info/licenses/LICENSE") for name in names), "the wheel has no licence")
    expect(not any(name.startswith("tests") for name in names), "the wheel has tests in it")
    say(f"built {source.name} and {wheel.name}")
    return wheel


def _grammars() -> list[Path]:
    return sorted((PROJECT / "src/cepheid").rglob("*.lark"))


def use_the_core(environment: Environment) -> None:
    listed = environment.python("-m", "pip", "list", "--disable-pip-version-check").lower().split()
    there = [name for name in NOT_IN_THE_CORE if name in listed]
    expect(not there, f"`pip install cepheid` brings {there}")
    version = environment.python(
        "-c",
        "import cepheid, importlib.metadata as m; assert m.version('cepheid') == cepheid.__version__;"
        "print(cepheid.__version__)",
    )
    example = re.search(r"```python\n(.*?)```", (PROJECT / "README.md").read_text(), re.DOTALL)
    assert example is not None
    said = environment.python("-c", example[1]).splitlines()
    expect(said[0] == "2", f"the README's example printed {said}")
    done = environment.run("cepheid", "--version")
    expect(done.returncode == 1 and "pip install 'cepheid[cli]'" in done.stderr, done.stdout + done.stderr)
    say(f"cepheid {version.strip()} without extras: the README's example runs")


def use_the_command_line(environment: Environment) -> None:
    done = environment.run("cepheid", "check", "-e", QUERY)
    expect((done.returncode, done.stdout) == (0, "ok\n"), done.stdout + done.stderr)
    done = environment.run("cepheid", "run", "-e", QUERY, "--input", "farm.parquet", "--time", "ts")
    expect(done.returncode == 1 and "pip install 'cepheid[spark]'" in done.stderr, done.stdout + done.stderr)
    say("with the extra cli: queries are checked, and `cepheid run` says that it needs Spark")


def main(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wheel = built(folder)
    environment = Environment(folder / "user")
    environment.install(wheel)
    use_the_core(environment)
    environment.install(f"{wheel}[cli]")
    use_the_command_line(environment)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
