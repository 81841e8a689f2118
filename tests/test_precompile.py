"""What is compiled ahead is all that queries need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cepheid.kernels.cache.store import store
from cepheid.precompile import EXERCISES, OF_EVALUATOR, PROCESSORS, exercise


def test_the_queries_of_the_language_reference_find_every_kernel_compiled() -> None:
    program = Path(__file__).parent / "programs/missing_kernels.py"
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_an_exercise_is_run_once() -> None:
    calls = []

    def counted() -> None:
        calls.append(1)

    counted.__name__ = "counted_in_a_test"
    store().folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        exercise(counted)
        exercise(counted)
    finally:
        for stamp in store().folder.path.glob("counted_in_a_test-*"):
            stamp.unlink()
    assert len(calls) == 1


def test_every_exercise_of_an_evaluator_is_one_of_all() -> None:
    assert {one for some in OF_EVALUATOR.values() for one in some} <= set(EXERCISES.values())


def test_packs_are_made_for_processors_of_both_kinds() -> None:
    assert PROCESSORS["x86_64"][0] == "x86-64-v3"
    assert {"x86_64", "aarch64"} <= set(PROCESSORS)
