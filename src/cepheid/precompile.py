"""Compiles all kernels ahead, for this machine or into a pack for a wheel: `python -m cepheid.precompile`.

Each *exercise* runs queries of one kind over a small stream, in pieces, saved and loaded in between, with keys, times
and texts of all types, and so compiles their kernels. A test checks that the queries of the language reference then
find every kernel compiled. Exercises run in processes of their own, as many at a time as there are cores.

    python -m cepheid.precompile                        into the cache folder of this machine
    python -m cepheid.precompile --pack FILE            into a pack, for any processor like the common ones of today
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
import pyarrow as pa

from cepheid import kernels
from cepheid.engine import Engine
from cepheid.kernels.cache.sources import digest_of
from cepheid.kernels.cache.store import store
from cepheid.pipeline import load, parse_query, plan_for
from cepheid.schema import schema_of
from cepheid.streams.order import sort_stream

PROCESSORS = {
    "x86_64": (
        "x86-64-v3",
        "+64bit,+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,"
        "+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+xsave",
    ),
    "aarch64": ("generic", "+fp-armv8,+neon"),
    "arm64": ("generic", "+fp-armv8,+neon"),
}
"""The processor for which a pack is compiled, by machine: LLVM's name and features."""

_ROWS = 600
FEW_OF_MANY = "SELECT * FROM s WHERE A+ ; B AS y FILTER y.v = 49 LIMIT 9"


def stream(time: pa.DataType | None = None, text: pa.DataType | None = None) -> pa.Table:
    """A small stream with columns of many types.

    >>> stream().num_rows
    600
    """
    random = np.random.default_rng(1)
    seconds = pa.array(np.arange(_ROWS))
    times = seconds
    if time is None or pa.types.is_temporal(time):
        times = seconds.cast(pa.timestamp("s"))
    times = times.cast(time or pa.timestamp("us"), safe=False)
    types = pa.array(random.choice(["A", "B", "C", "D"], _ROWS)).cast(text or pa.string())
    names = [f"name {number}, quite a long one" for number in range(9)]
    return pa.table(
        {
            "ts": times,
            "type": types,
            "id": random.integers(0, 7, _ROWS),
            "small": pa.array(random.integers(0, 5, _ROWS), pa.int32()),
            "v": random.integers(0, 50, _ROWS),
            "x": pa.array(random.normal(size=_ROWS), mask=random.random(_ROWS) < 0.1),
            "s": pa.array(random.choice(names, _ROWS), mask=random.random(_ROWS) < 0.1).cast(
                text or pa.string()
            ),
            "word": pa.array(random.choice(["a", "b", "c"], _ROWS)).cast(text or pa.string()),
            "money": pa.array(random.integers(0, 9_999, _ROWS))
            .cast(pa.decimal128(19, 0))
            .cast(pa.decimal128(20, 2)),
            "flag": random.random(_ROWS) < 0.5,
        }
    )


def _run(table: pa.Table, evaluator: str, *texts: str) -> None:
    """Each query over a table: matched and counted, at once and in pieces with the state saved in between."""
    for text in texts:
        _whole(table, text, evaluator)
        for counting in (False, True):
            _in_pieces(table, evaluator, text, counting)


def _whole(table: pa.Table, text: str, evaluator: str = "auto", order: str | None = None) -> None:
    query = parse_query(text)
    schema = schema_of(table.schema, time="ts", order=order, stream=query.stream)
    plan, rows = plan_for(query, schema, evaluator), sort_stream(table, schema)
    for engine in (Engine(plan), Engine(plan, columns=["positions"]), Engine(plan, counting=True)):
        engine.push(rows)
        engine.finish()
    for _ in Engine(plan).whole(rows):
        pass


def _in_pieces(table: pa.Table, evaluator: str, text: str, counting: bool) -> None:
    query = parse_query(text)
    schema = schema_of(table.schema, time="ts", stream=query.stream)
    engine = Engine(plan_for(query, schema, evaluator), counting=counting)
    for begin, end in ((0, 200), (200, 350), (350, 400), (400, _ROWS)):
        engine.push(table.slice(begin, end - begin))
        engine = load(engine.save())
        engine.expire((end - 1) * 1_000_000)
    engine.finish()


def compact_matches() -> None:
    _run(
        stream(),
        "compact",
        "SELECT * FROM s WHERE A AS x ; B AS y WITHIN 9 seconds",
        "SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY id WITHIN 9 seconds",
        "SELECT NXT * FROM s WHERE A AS x ; (B AS y)+ ; C AS z WITHIN 9 EVENTS",
        "SELECT MAX * FROM s WHERE A AS x ; (B AS y)+ ; C AS z PARTITION BY s, small WITHIN 9 EVENTS",
        "SELECT STRICT * FROM s WHERE A AS x ; B AS y LIMIT 9",
        "SELECT LAST * FROM s WHERE A AS x ; B AS y WITHIN 5 seconds CONSUME",
        FEW_OF_MANY,
        "SELECT * FROM s WHERE A+ ; B LIMIT 9",
        "SELECT * FROM s WHERE A AS x ; (B ; C)+ ; D FILTER x.v > 10 AND x.s LIKE '%1%' WITHIN 8 seconds",
        "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.s = 'name 1' AND y.word = 'b' WITHIN 9 seconds",
        "SELECT * FROM s WHERE A AS x ; NOT B PARTITION BY id WITHIN 9 seconds",
        "SELECT * FROM s WHERE NOT B FOR 9 seconds ; A AS x",
        "SELECT * FROM s WHERE A AS x ; MAX(B+) WITHIN 9 seconds",
    )


def compact_counts() -> None:
    table = stream()
    for text in (
        "SELECT * FROM s WHERE A ; B ; C WITHIN 20 seconds",
        "SELECT * FROM s WHERE (A+ ; B)+ ; C",
        "SELECT * FROM s WHERE (A+ ; B)+ ; C WITHIN 300 seconds",
        "SELECT * FROM s WHERE (A+ ; B)+ ; C PARTITION BY small WITHIN 300 EVENTS",
        "SELECT STRICT * FROM s WHERE A ; B WITHIN 9 seconds CONSUME",
        f"SELECT * FROM s WHERE (A {' ; B' * 70})+ WITHIN 500 seconds",
        f"SELECT * FROM s WHERE (A {' ; (B OR C)+' * 8})+",
    ):
        _in_pieces(table, "compact", text, True)


def chains() -> None:
    _run(
        stream(),
        "chain",
        "SELECT * FROM s WHERE (A : B PART-BY [id])+ ; C AS z WITHIN 20 seconds",
        "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z PARTITION BY id WITHIN 20 seconds",
        "SELECT * FROM s WHERE A AS x : B AS y FILTER x.id <> y.id AND x.s = y.s WITHIN 20 EVENTS CONSUME",
        "SELECT * FROM s WHERE (A AS x : B AS y) FILTER x.id <> y.id LIMIT 5",
        "SELECT * FROM s WHERE (A : B PART-BY [small]) ; D",
        FEW_OF_MANY,
    )


def configurations() -> None:
    _run(
        stream(),
        "configurations",
        "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.v < y.v WITHIN 9 seconds",
        "SELECT * FROM s WHERE A AS x ; (B AS y)+ ; C AS z FILTER x.v < z.v AND x.id = z.id WITHIN 20 EVENTS",
        "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.x < y.x AND x.s <= y.s PARTITION BY id WITHIN 20 seconds",
        "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.v + y.v = z.v AND x.s = z.s LIMIT 9",
        "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.small = y.small AND x.x > y.x CONSUME",
        "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.money + x.v < y.money * 2 WITHIN 9 seconds",
        FEW_OF_MANY,
    )


def configurations_that_check() -> None:
    _run(
        stream(),
        "configurations",
        "SELECT MAX * FROM s WHERE A AS x ; (B AS y)+ ; C AS z FILTER x.v < z.v WITHIN 9 EVENTS",
        "SELECT NXT * FROM s WHERE A AS x ; B AS y FILTER x.v < y.v WITHIN 9 seconds CONSUME",
        "SELECT * FROM s WHERE A AS x ; (B+ IN Y) ; C AS z FILTER Y.v <> z.v WITHIN 7 EVENTS CONSUME",
        "SELECT * FROM s WHERE A AS x ; B AS y FILTER concat(x.s, y.s) LIKE '%1%' WITHIN 9 seconds",
        "SELECT * FROM s WHERE A AS x ; NOT B AS b ; C AS c FILTER b.v < c.v PARTITION BY id WITHIN 9 seconds",
        "SELECT * FROM s WHERE NOT B ; A AS x ; C AS y ; NOT B WITHIN 9 seconds",
        "SELECT * FROM s WHERE A AS x ; B AS y FILTER length(x.s) * x.x > round(y.x, 1) WITHIN 9 seconds",
    )
    _run(stream(), "auto", "#([type = 'A'] > r, [type = 'B']+, [type = 'C' AND v > r.v]) WITHIN 9 EVENTS")


def types() -> None:
    """Times, texts and keys of other types, given in other ways."""
    texts = (
        "SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY s WITHIN 3",
        "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.s = y.s WITHIN 3",
        "SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY small, flag WITHIN 9 EVENTS",
    )
    for clock in (pa.int64(), pa.float64()):
        for text in (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
            table = stream(clock, text)
            pieces = pa.concat_tables([table.slice(0, 300), table.slice(300)])
            for query in texts:
                _whole(table, query)
                _whole(pieces, query)
    for clock in (pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.date32()):
        _whole(stream(clock), texts[0].replace("WITHIN 3", "WITHIN 3 seconds"))
    shuffled = stream().take(np.random.default_rng(2).permutation(_ROWS))
    _whole(shuffled, "SELECT * FROM s WHERE A AS x ; B AS y WITHIN 3 seconds", order="v")
    _whole(shuffled, "SELECT * FROM s WHERE A AS x ; B AS y WITHIN 3 seconds")


OF_EVALUATOR = {
    "compact": (compact_matches, compact_counts, types),
    "chain": (chains, types),
    "configurations": (configurations, configurations_that_check, types),
}
"""The exercises that compile an evaluator's kernels."""

EXERCISES: dict[str, Callable[[], None]] = {
    exercise.__name__: exercise
    for exercise in (
        configurations,
        configurations_that_check,
        compact_matches,
        compact_counts,
        chains,
        types,
    )
}
"""The longest first."""


def exercise(one: Callable[[], None]) -> None:
    """Runs an exercise, unless a stamp says that its kernels are in the cache folder."""
    modules = sorted(module.name for module in walk_packages(kernels.__path__, f"{kernels.__name__}."))
    sources = " ".join(digest_of(name) or "" for name in modules)
    stamp = store().stamp(f"{one.__name__}-{hashlib.blake2b(sources.encode(), digest_size=8).hexdigest()}")
    if not stamp.exists():
        one()
        with contextlib.suppress(OSError):
            stamp.touch()


def compile_all(say: Callable[[str], None], environment: dict[str, str] | None = None) -> None:
    """Runs every exercise in a process of its own. Raises RuntimeError where one fails."""
    begin_s, waiting, done = time.monotonic(), list(EXERCISES), 0
    running: dict[str, subprocess.Popen[bytes]] = {}
    say(f"compiling kernels: {len(waiting)} exercises on {_cores()} cores")
    try:
        while waiting or running:
            while waiting and len(running) < _cores():
                name = waiting.pop(0)
                command = [sys.executable, "-m", "cepheid.precompile", "--exercise", name]
                running[name] = subprocess.Popen(
                    command, env=os.environ | (environment or {}), stderr=subprocess.PIPE
                )
            time.sleep(0.05)
            for name, process in list(running.items()):
                if process.poll() is None:
                    continue
                del running[name]
                if process.returncode != 0:
                    raise RuntimeError(f"{name}: {_errors(process)}")
                done += 1
                say(f"  {done} of {len(EXERCISES)}: {name}, {time.monotonic() - begin_s:.0f} s")
    finally:
        for process in running.values():
            process.kill()


def make_pack(file: Path, say: Callable[[str], None]) -> None:
    """Writes a pack of the kernels that the exercises load, for any processor like the common ones of today."""
    cpu, features = PROCESSORS[platform.machine()]
    with tempfile.TemporaryDirectory(prefix="cepheid-pack-") as folder:
        environment = {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": features, "CEPHEID_CACHE_DIR": folder}
        compile_all(say, environment)
        command = [sys.executable, "-m", "cepheid.precompile", "--loaded", str(file)]
        subprocess.run(command, env=os.environ | environment, check=True)
    say(f"{file}: {file.stat().st_size / 1e6:.1f} MB, for {cpu}")


def _pack_loaded(file: Path) -> None:
    """With all kernels compiled, only those that Python calls are loaded, not those that kernels call."""
    for exercise in EXERCISES.values():
        exercise()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(store().pack(store().loaded))


def _cores() -> int:
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def _errors(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    return process.stderr.read().decode(errors="replace")[-2000:]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m cepheid.precompile", description=__doc__)
    parser.add_argument("--pack", type=Path, metavar="FILE", help="compile into a pack instead")
    parser.add_argument("--exercise", choices=EXERCISES, help=argparse.SUPPRESS)
    parser.add_argument("--loaded", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.exercise is not None:
        exercise(EXERCISES[arguments.exercise])
    elif arguments.loaded is not None:
        _pack_loaded(arguments.loaded)
    elif arguments.pack is not None:
        make_pack(arguments.pack, _say)
    else:
        compile_all(_say)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
