"""Which kernels the queries of the language reference need beyond those that `cepheid.precompile` compiles.

`python tests/programs/missing_kernels.py` prints their names, one to a line: none, if all is well. First all exercises
run, then all queries of `tests/spec`; what the latter load or compile was missing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cepheid
from cepheid.kernels.cache.progress import PROGRESS
from cepheid.kernels.cache.store import store
from cepheid.precompile import EXERCISES

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.spec_files import examples


def known() -> set[str]:
    return store().loaded | {f"{name} (compiled)" for name in PROGRESS.compiled}


def main() -> None:
    for exercise in EXERCISES.values():
        exercise()
    before = known()
    for path in sorted((Path(__file__).parents[1] / "spec").glob("*.md")):
        for example in examples(path):
            if example.error is None:
                cepheid.match(example.stream, example.query, positions=True)
                cepheid.count(example.stream, example.query)
    for name in sorted(known() - before):
        print(name)  # noqa: T201


if __name__ == "__main__":
    main()
