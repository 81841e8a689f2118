"""Passes name the nodes: a new operator or condition form is listed by the type checker, not swallowed by a default."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args, get_origin

import pytest

import cepheid
from cepheid.algebra.conditions import Expression
from cepheid.algebra.nodes import Pattern, Reading
from cepheid.automata.derivative_states import Item

SOURCE = Path(cepheid.__file__).parent
SCOPES = (ast.FunctionDef, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.Lambda)


def members(union: object) -> set[type]:
    """The classes of a union of nodes."""
    return {get_origin(item) or item for item in get_args(union)}


UNIONS = (Pattern, Reading, Expression, Item)
NODES = {kind.__name__ for union in UNIONS for kind in members(union)}


@cache
def modules() -> list[tuple[str, ast.Module]]:
    paths = sorted(SOURCE.rglob("*.py"))
    return [(str(path.relative_to(SOURCE)), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def named(pattern: ast.pattern) -> set[str]:
    """The nodes that an arm names anywhere."""
    return {
        kind.cls.id for kind in ast.walk(pattern) if isinstance(kind, ast.MatchClass) and _is_node(kind.cls)
    }


def _is_node(name: ast.expr) -> bool:
    return isinstance(name, ast.Name) and name.id in NODES


def is_exhaustive(match: ast.Match) -> bool:
    """Whether the last arm is `case _: assert_never(…)`, and no other takes what it does not name."""
    *others, last = match.cases
    return ast.unparse(last).startswith("case _:\n    assert_never(") and not any(
        isinstance(arm.pattern, ast.MatchAs) and arm.pattern.pattern is None for arm in others
    )


def test_no_default_arm_swallows_a_node() -> None:
    wrong = [
        f"{name}:{match.lineno}"
        for name, tree in modules()
        for match in ast.walk(tree)
        if isinstance(match, ast.Match) and any(named(arm.pattern) for arm in match.cases)
        if not is_exhaustive(match)
    ]
    assert wrong == []


def asked(scope: ast.AST) -> Iterator[tuple[str, set[str]]]:
    """What `isinstance` asks of whom directly in a scope."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            subject, kinds = node.args
            asked_for = {kind.id for kind in ast.walk(kinds) if isinstance(kind, ast.Name)} & NODES
            if asked_for:
                yield ast.unparse(subject), asked_for
        if not isinstance(node, SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def is_ladder(questions: list[set[str]]) -> bool:
    """One question, for one node or for two that are alike, is none."""
    asked_for = set().union(*questions)
    return len(asked_for) > 2 or len(questions) > 1 < len(asked_for)


def test_no_ladder_of_isinstance_stands_where_a_match_would_do() -> None:
    wrong = []
    for name, tree in modules():
        for scope in ast.walk(tree):
            if isinstance(scope, SCOPES):
                questions: dict[str, list[set[str]]] = {}
                for subject, kinds in asked(scope):
                    questions.setdefault(subject, []).append(kinds)
                ladders = [subject for subject, of_it in questions.items() if is_ladder(of_it)]
                wrong += [f"{name}:{scope.lineno} asks of {subject}" for subject in ladders]
    assert wrong == []


def named_first(pattern: ast.pattern) -> set[str]:
    """The nodes that an arm takes, not those that it finds inside of them."""
    match pattern:
        case ast.MatchOr(patterns):
            return set().union(*map(named_first, patterns))
        case ast.MatchAs(ast.pattern() as inner):
            return named_first(inner)
        case ast.MatchClass(cls=ast.Name(name)):
            return {name}
        case _:
            return set()


def passes_over(union: object) -> set[tuple[str, str]]:
    """Every function that says what it does with each node of a union: its file and its name."""
    every = {kind.__name__ for kind in members(union)}
    return {
        (name, function.name)
        for name, tree in modules()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for match in own_matches(function)
        if every <= set().union(*(named_first(arm.pattern) for arm in match.cases))
    }


def own_matches(function: ast.FunctionDef) -> Iterator[ast.Match]:
    """The matches of a function, without those of functions inside of it."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Match):
            yield node
        if not isinstance(node, ast.FunctionDef):
            waiting.extend(ast.iter_child_nodes(node))


ROOMS = (Path(__file__).parents[2] / "ARCHITECTURE.md").read_text(encoding="utf-8").split("room by room\n")[1]
LISTS = {"A node of `Pattern`": Pattern, "A node of `Reading`": Reading, "A form of condition": Expression}


def listed(title: str) -> tuple[int, list[tuple[str, str]]]:
    """The number of functions that the page says there are, and each with its file."""
    found = re.search(rf"^{title}[^(]*\((\d+) functions\):\n\n((?:[- ] .*\n)+)", ROOMS, re.MULTILINE)
    assert found is not None, title
    functions = []
    for room in re.split(r"^- ", found[2], flags=re.MULTILINE)[1:]:
        folder, _, files = room.partition(": ")
        for file, *names in (re.findall(r"`([^`]+)`", item) for item in files.split(";")):
            functions += [(folder + file, name) for name in names]
    return int(found[1]), functions


@pytest.mark.parametrize("title", LISTS)
def test_the_architecture_page_lists_the_functions_that_know_every_node(title: str) -> None:
    count, functions = listed(title)
    assert sorted(functions) == sorted(passes_over(LISTS[title]))
    assert len(functions) == count
