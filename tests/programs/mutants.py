"""Runs mutmut on modules of the pure passes: `python tests/programs/mutants.py MODULE… [TEST…]`, for example
`rewrite/push.py automata/trim.py tests/rewrite/test_rules.py`.

Each function is changed in one place at a time, in a copy of the project below `out/mutants`. Of the tests given, or
else those of the modules' folders, the ones that reach the function run. Prints what survived, as differences; ends
with 1 if anything did. An `assert_never` that nothing reaches, or a short cut, survives whatever tests say.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
FOLDER = PROJECT / "out/mutants"
MUTMUT = [sys.executable, "-m", "mutmut"]
OPTIONS = ["-q", "-x", "-p", "no:cacheprovider", "--hypothesis-profile=found", "--hypothesis-seed=1"]


def main(modules: list[str], tests: list[str]) -> int:
    """mutmut is told by `setup.cfg` what to do; the project has none of its own."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name in ("src", "tests"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT / name, FOLDER / name, ignore=ignored)
    shutil.copy2(PROJECT / "pyproject.toml", FOLDER)
    settings = {
        "source_paths": ["src"],
        "only_mutate": [f"src/cepheid/{module}" for module in modules],
        "pytest_add_cli_args": OPTIONS,
        "pytest_add_cli_args_test_selection": tests
        or sorted({f"tests/{Path(name).parts[0]}" for name in modules}),
    }
    lines = [f"{name}=\n    " + "\n    ".join(values) for name, values in settings.items()]
    (FOLDER / "setup.cfg").write_text("\n".join(["[mutmut]", *lines, ""]), encoding="utf-8")
    subprocess.run([*MUTMUT, "run"], cwd=FOLDER, check=True)
    survived = [line.split(":")[0].strip() for line in said("results").splitlines() if "survived" in line]
    for mutant in survived:
        print(said("show", mutant))  # noqa: T201
    print(f"{len(survived)} survived")  # noqa: T201
    return 1 if survived else 0


def said(*arguments: str) -> str:
    return subprocess.run(
        [*MUTMUT, *arguments], cwd=FOLDER, check=True, capture_output=True, text=True
    ).stdout


if __name__ == "__main__":
    chosen = [name for name in sys.argv[1:] if name.startswith("tests/")]
    sys.exit(main([name for name in sys.argv[1:] if name not in chosen], chosen))
