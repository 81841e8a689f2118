"""The folders are the pipeline: imports go one way, and heavy parts stay where they belong."""

from __future__ import annotations

import ast
from pathlib import Path

import cepheid

SOURCE = Path(cepheid.__file__).parent
LAYERS = [
    *("errors", "state_checks", "extras", "memory", "schema", "algebra", "languages", "semantics", "rewrite"),
    *(
        "automata",
        "plan",
        "kernels",
        "streams",
        "matches",
        "evaluators",
        "saved",
        "options",
        "piece_sizes",
        "engine",
        "whole",
        "pipeline",
        "scripts",
    ),
    *("precompile", "files", "frames", "spark", "feeds", "piecewise", "api", "__init__", "demo", "cli"),
    "__main__",
]
ONLY_IN = {"numba": {"kernels"}, "pyspark": {"spark"}, "typer": {"cli"}, "lark": {"languages"}}


def layer(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def test_imports_go_one_way() -> None:
    wrong = []
    for path in SOURCE.rglob("*.py"):
        for name in imported(path):
            if name.startswith("cepheid."):
                other = name.split(".")[1]
                if LAYERS.index(other) > LAYERS.index(layer(path)) and (layer(path), other) != (
                    "api",
                    "spark",
                ):
                    wrong.append(f"{path.relative_to(SOURCE)} imports {name}")
    assert wrong == []


ROOMS = ["interrupts", "compiled", "memory", "columns", "conditions", "matches", "loops"]
"""Of `kernels/`, in the order in which they may import each other."""


def test_the_rooms_of_the_kernels_import_one_way() -> None:
    wrong = []
    for path in (SOURCE / "kernels").rglob("*.py"):
        room = path.relative_to(SOURCE / "kernels").parts[0].removesuffix(".py")
        for name in imported(path) if room in ROOMS else ():
            other = name.removeprefix("cepheid.kernels.").split(".")[0]
            if other in ROOMS and ROOMS.index(other) > ROOMS.index(room):
                wrong.append(f"{path.relative_to(SOURCE)} imports {name}")
    assert wrong == []


def test_heavy_libraries_stay_in_their_folders() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)} imports {name}"
        for path in SOURCE.rglob("*.py")
        for name in imported(path)
        if name.split(".")[0] in ONLY_IN and layer(path) not in ONLY_IN[name.split(".")[0]]
    ]
    assert wrong == []


def test_what_differs_between_releases_of_spark_is_asked_in_one_place() -> None:
    users = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for name in imported(path)
        if name.startswith("pyspark.sql.pandas")
    }
    assert users == {"spark/types.py"}


def test_the_definition_of_right_knows_no_automata_and_no_kernels() -> None:
    for path in (SOURCE / "semantics").glob("*.py"):
        assert not {
            name for name in imported(path) if name.startswith(("cepheid.automata", "cepheid.kernels"))
        }


def test_rules_and_constructions_do_not_call_each_other() -> None:
    calls = [
        f"{path.relative_to(SOURCE)} imports {name}"
        for folder, other in (("rewrite", "automata"), ("automata", "rewrite"))
        for path in (SOURCE / folder).rglob("*.py")
        for name in imported(path)
        if name.startswith(f"cepheid.{other}")
    ]
    assert calls == []
