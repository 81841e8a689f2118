"""Functions that only kernels call are compiled once, as parts of these, for whatever value they are called with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core.compiler import Compiler

from cepheid.kernels import compiled as decorators
from cepheid.kernels.compiled import Inner, compiled, inlined, inner
from cepheid.kernels.compiler import SERIES, InnerLibrary, KernelCompiler, KernelLibrary, callers_first


class Cells(NamedTuple):
    numbers: np.ndarray
    squares: np.ndarray
    width: int


@inlined
def square(number):
    return number * number


@inner
def add_squares(cells, begin, is_doubled):
    total = 0
    for i in range(begin, len(cells.numbers)):
        number = cells.numbers[i]
        if is_doubled:
            number = number * 2
        cells.squares[i, 0] = square(number)
        total += cells.squares[i, 0]
    return total


@compiled
def work(cells, upto):
    found = add_squares(cells, 0, False)
    while found < upto:
        before = found
        found += add_squares(cells, 1, True) + cells.width
        if found == before:
            break
    return found


def cells() -> Cells:
    return Cells(np.arange(4), np.zeros((4, 1), np.int64), 3)


def libraries_of(function: Inner | decorators.Kernel) -> list[Any]:
    return [one.library for one in function.dispatcher.overloads.values()]


def test_a_kernel_runs_as_its_source_says() -> None:
    one, other = cells(), cells()
    assert work(one, 50) == 14 + 56 + 3
    assert one.squares[:, 0].tolist() == [0, 4, 16, 36]
    with pytest.MonkeyPatch.context() as patch:  # as Python runs it
        for name in ("square", "add_squares"):
            patch.setitem(globals(), name, globals()[name].py_func)
        assert work.py_func(other, 50) == 14 + 56 + 3
    assert other.squares.tolist() == one.squares.tolist()


def test_only_what_python_calls_becomes_machine_code() -> None:
    work(cells(), 1)
    (kernel,) = libraries_of(work)
    assert type(kernel) is KernelLibrary
    for function in (square, add_squares):
        (library,) = libraries_of(function)
        assert type(library) is InnerLibrary
    (name,) = (one.name for one in library_functions(square) if "NumbaEnv" not in one.name)
    assert not kernel._codegen._engine.is_symbol_defined(name)  # inlined, and nowhere else


def library_functions(function: Inner) -> list[Any]:
    (library,) = libraries_of(function)
    return [one for one in library._final_module.functions if not one.is_declaration]


def test_constants_do_not_make_another_function() -> None:
    work(cells(), 1)
    assert len(add_squares.dispatcher.overloads) == 1


def test_a_part_called_from_python_is_a_kernel() -> None:
    assert square(np.int64(5)) == 25


def test_callers_come_before_what_they_call() -> None:
    work(cells(), 1)
    codegen = libraries_of(work)[0]._codegen
    first, second, third = (InnerLibrary(codegen, name) for name in "abc")
    first._linking_libraries = [third, second]
    second._linking_libraries = [third]
    assert callers_first([third, first]) == [first, second, third]
    assert callers_first([second, first]) == [first, second, third]


def test_numbas_own_compiler_does_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a numba that `compiler.py` was not written for, results are the same."""
    monkeypatch.setattr(decorators, "KernelCompiler", Compiler)
    by_numba = {}
    for function, make in ((square, inlined), (add_squares, inner), (work, compiled)):
        by_numba[function.py_func.__name__] = make(plain(function.py_func, by_numba))
    assert by_numba["work"](cells(), 50) == work(cells(), 50)


def plain(function, names):
    """A copy of a function that calls those of these names instead."""
    return type(function)(function.__code__, {**function.__globals__, **names}, function.__name__)


def test_the_versions_it_is_for_are_those_installed() -> None:
    assert numba.__version__.startswith(SERIES)
    assert decorators.KernelCompiler is KernelCompiler
