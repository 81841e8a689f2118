"""Which kernels the queries of the language reference need beyond those that `cepheid.precompile` compiles.

`python tests/programs/missing_kernels.py` prints their names, one to a line: none, if all is well. First all exercises
run, then all queries of `tests/spec`, on tables made here and on those that another process sent; what these queries
load or compile was missing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa

import cepheid
from cepheid.kernels.cache.progress import PROGRESS
from cepheid.kernels.cache.store import store
from cepheid.precompile import EXERCISES

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.spec_files import examples


def known() -> set[str]:
    return store().loaded | {f"{name} (compiled)" for name in PROGRESS.compiled}


def sent(stream: pa.Table) -> pa.Table:
    """The table as a worker of Spark gets it, in buffers that nobody may write to."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, stream.schema) as writer:
        writer.write_table(stream)
    return pa.ipc.open_stream(sink.getvalue()).read_all()


def main() -> None:
    for exercise in EXERCISES.values():
        exercise()
    before = known()
    for path in sorted((Path(__file__).parents[1] / "spec").glob("*.md")):
        for example in examples(path):
            if example.error is None:
                cepheid.match(example.stream, example.query, positions=True)
                cepheid.count(example.stream, example.query)
                cepheid.match(sent(example.stream), example.query)
    for name in sorted(known() - before):
        print(name)  # noqa: T201


if __name__ == "__main__":
    main()
