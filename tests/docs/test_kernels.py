"""`docs/kernels.md` names every kernel that Python calls, its arguments, and every bundle with its fields."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import cepheid

SOURCE = Path(cepheid.__file__).parent
KERNELS = SOURCE / "kernels"
TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs/kernels.md").read_text(encoding="utf-8")
NAME = re.compile(r"`(\w+)")
MOST_ARGUMENTS = 10
LONGER = {
    "loops.linked.rebuild.rebuild",
    "loops.sliding.loop.run_partition",
    "loops.sliding.move_pivot.fold",
}
"""Functions with more arguments: none but these."""


def rows(columns: int) -> list[list[str]]:
    """The lines of tables with so many columns, without their heads."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [line for line in cells if len(line) == columns]


def sources() -> dict[str, ast.Module]:
    return {
        ".".join(path.relative_to(KERNELS).with_suffix("").parts): ast.parse(path.read_text(encoding="utf-8"))
        for path in KERNELS.rglob("*.py")
        if path.relative_to(KERNELS).parts[0] != "cache"
    }


def arguments(*decorators: str) -> dict[str, list[str]]:
    """Those of all functions of the kernels' folder that have one of these decorators; without any named, any."""
    return {
        f"{module}.{function.name}": [argument.arg for argument in function.args.args]
        for module, tree in sources().items()
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        and any(not decorators or ast.unparse(name) in decorators for name in function.decorator_list)
    }


def imported() -> set[str]:
    """What the other folders import from the kernels."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        if KERNELS in path.parents:
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cepheid.kernels."):
                module = (node.module or "").removeprefix("cepheid.kernels.")
                for alias in node.names:
                    inside = re.findall(rf"\b{alias.asname or alias.name}\.(\w+)", text)
                    found |= {f"{module}.{alias.name}", *(f"{module}.{alias.name}.{name}" for name in inside)}
    return found


def test_every_kernel_that_python_calls_is_there_with_its_arguments() -> None:
    known = arguments("compiled", "allocating")
    called = {name: known[name] for name in imported() & set(known)}
    shown = {row[0].strip("`"): NAME.findall(" ".join(row[1:4])) for row in rows(6)}
    assert {name: sorted(names) for name, names in shown.items()} == {
        name: sorted(names) for name, names in called.items()
    }


def test_every_bundle_is_there_with_its_fields() -> None:
    bundles = {
        f"{module}.{node.name}": [
            field.target.id
            for field in node.body
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        ]
        for module, tree in sources().items()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "NamedTuple" for base in node.bases)
    }
    assert {row[0].strip("`"): NAME.findall(row[1]) for row in rows(2)} == bundles


def test_the_tests_that_it_names_exist() -> None:
    named = [re.findall(r"`([\w/]+\.py)`", row[5]) for row in rows(6)]
    assert all(named)
    assert [test for tests in named for test in tests if not (TESTS / test).exists()] == []


def test_kernels_have_few_arguments() -> None:
    assert {name for name, names in arguments().items() if len(names) > MOST_ARGUMENTS} == LONGER
