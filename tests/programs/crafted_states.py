"""Saved states that were tampered with, in processes of their own: a crash, a hang or hunger for memory is a finding.

`python tests/programs/crafted_states.py COUNT [FIRST_SEED]`. With NUMBA_BOUNDSCHECK=1 and a CEPHEID_CACHE_DIR of its
own it finds every index outside of its array.
"""

from __future__ import annotations

import faulthandler
import json
import random
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.crafted_states import OPTIONS, QUERIES, crafted, outcome, real

SECONDS = 20  # that one case may take
COLD_SECONDS = 300  # … where kernels may have to be compiled
MEMORY = 6 << 30  # bytes of address space that a process may have


def outcome_apart(state: bytes, rest: pa.Table, folder: Path) -> str:
    """`outcome` in a process of its own, or how that ended."""
    (folder / "state").write_bytes(state)
    with pa.OSFile(str(folder / "rest"), "wb") as sink, pa.ipc.new_stream(sink, rest.schema) as writer:
        writer.write_table(rest)
    command = [sys.executable, __file__, "--file", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else f"{done.returncode}: {done.stderr[-1500:]}"


def _outcome_of_files(folder: Path) -> str:
    faulthandler.dump_traceback_later(COLD_SECONDS, exit=True)
    with pa.OSFile(str(folder / "rest")) as source:
        return outcome((folder / "state").read_bytes(), pa.ipc.open_stream(source).read_all())


def run(first: int, count: int, warm: bool) -> Counter[str]:
    """So many cases in this process; a line for each finding. The kernels are compiled before the time counts."""
    results: Counter[str] = Counter()
    for text, evaluators in QUERIES if warm else ():
        for evaluator in evaluators.split():
            for options in OPTIONS[:2]:
                outcome(*real(random.Random(0), text, evaluator, options))
    for seed in range(first, first + count):
        faulthandler.dump_traceback_later(SECONDS if warm else COLD_SECONDS, exit=True)
        print(seed, file=sys.stderr, flush=True)  # noqa: T201
        try:
            results[outcome(*crafted(seed))] += 1
        except BaseException as error:
            results["finding"] += 1
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)  # noqa: T201
    faulthandler.cancel_dump_traceback_later()
    return results


def run_apart(first: int, count: int, warm: bool = True) -> tuple[Counter[str], list[str]]:
    """The same in processes of their own: how often each outcome was, and what was found."""
    results: Counter[str] = Counter()
    found: list[str] = []
    end = first + count
    while first < end:
        command = [sys.executable, __file__, "--here" if warm else "--cold", str(end - first), str(first)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        found += [line for line in lines if line.startswith("seed ")]
        seeds = [int(line) for line in done.stderr.splitlines() if line.isdigit()]
        if done.returncode == 0:
            results.update(json.loads(lines[-1]))
            break
        first = seeds[-1] + 1 if seeds else end
        results["in a process that ended"] += len(seeds)
        found.append(f"seed {first - 1}: the process ended with {done.returncode}\n{done.stderr[-1500:]}")
    return results, found


def main() -> int:
    if sys.argv[1] == "--file":
        print(_outcome_of_files(Path(sys.argv[2])))  # noqa: T201
        return 0
    here = [argument for argument in sys.argv if argument.startswith("--")]
    count, *rest = [int(argument) for argument in sys.argv[1:] if not argument.startswith("--")]
    first = rest[0] if rest else time.time_ns() % 1_000_000_000
    if here:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        print(json.dumps(run(first, count, here == ["--here"])))  # noqa: T201
        return 0
    results, found = run_apart(first, count)
    for line in found:
        print(line)  # noqa: T201
    print(f"{count} states from seed {first}: {dict(results)}, {len(found)} findings")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
