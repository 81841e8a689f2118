"""A program that interrupts itself while kernels run, once for each query: `python tests/interrupted.py [SEED]`.

Every query would run for minutes. A thread sends SIGINT at a random moment, which it can do only if the kernel has
released the interpreter lock. Prints for each query what ended it, and how much processor time that took.
"""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import sys
import threading
import time

import numpy as np
import pyarrow as pa

import cepheid

ROWS = 150_000
QUERIES = {
    "compact": ("match", "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z"),
    "compact, one event ends all": ("match", "SELECT * FROM s WHERE A AS x ; B AS y ; B AS w ; D AS z"),
    "compact, counted": ("count", "SELECT * FROM s WHERE (A+ ; B)+ ; C"),
    "compact, counted in windows": ("count", "SELECT * FROM s WHERE (A+ ; B)+ ; C WITHIN 50000 EVENTS"),
    "chain": ("match", "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z PARTITION BY id WITHIN 50000"),
    "chain, counted": (
        "count",
        "SELECT * FROM s WHERE (A AS x ; B AS y) FILTER x.id <> y.id AND x.v <> y.v WITHIN 50000",
    ),
    "configurations": ("match", "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.v < z.v"),
    "configurations, counted": (
        "count",
        "SELECT * FROM s WHERE A AS x ; (B AS y)+ ; C AS z FILTER x.v < z.v",
    ),
    "configurations, counted in windows": (
        "count",
        "SELECT * FROM s WHERE A AS x ; (B AS y)+ ; C AS z FILTER x.v < z.v WITHIN 50000 EVENTS",
    ),
    "checked": (
        "match",
        "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z FILTER x.v + z.v <> y.v WITHIN 9000",
    ),
    "semantics": ("match", "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z"),
}


def stream() -> pa.Table:
    made = np.random.default_rng(1)
    return pa.table(
        {
            "ts": np.arange(ROWS),
            "type": [*made.choice(["A", "B", "C"], ROWS - 1), "D"],
            "id": made.integers(0, 50, ROWS),
            "v": made.integers(0, 1_000_000, ROWS),
            "s": [f"x{number}" for number in made.integers(0, 9_000, ROWS)],
        }
    )


def run(table: pa.Table, how: str, query: str, evaluator: str) -> None:
    """Matches are made piece by piece: `cepheid.match` would refuse so many."""
    if how == "count":
        cepheid.count(table, query, evaluator=evaluator)
        return
    for _ in cepheid.query(query).engine(table.schema, evaluator=evaluator).pieces(table):
        pass


def interrupted(table: pa.Table, name: str, delay_s: float) -> tuple[str, float]:
    """What ended a query that was interrupted so long after it began, and after how many seconds of this process."""
    how, query = QUERIES[name]
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay_s, interrupt)
    try:
        timer.start()
        run(table, how, query, "semantics" if name == "semantics" else "auto")
        ended = "nothing"
        timer.join()
    except BaseException as error:
        ended = type(error).__name__
    return ended, time.process_time() - sent[0]


def main() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    delays = random.Random(seed)
    table = stream()
    for name, (how, query) in QUERIES.items():
        run(table.slice(0, 300), how, query, "auto")  # loads the kernels
        gc.collect()  # Python drops what is raised while garbage is collected
        found = interrupted(table, name, delays.uniform(0.05, 0.2))
        print(json.dumps([name, *found]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
