"""A program that interrupts itself while kernels run: `python tests/programs/interrupted_queries.py [SEED [ROUNDS]]`.

Every query is run again and again. A thread sends SIGINT at a random moment, which it can do only if the kernel has
released the interpreter lock. Prints for each query what ended it, and how many seconds that took: of the clock, and of
this process.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from decimal import Decimal

import numpy as np
import pyarrow as pa

import cepheid

ROWS = 150_000
DELAY_S = 0.05, 0.6

THEN = "SELECT * FROM s WHERE A AS x ; B AS y ; C AS z"
RISING = "SELECT * FROM s WHERE A AS x ; (B AS y)+ ; C AS z FILTER x.v < z.v"
QUERIES = {  # how, the query, the evaluator
    "slide and emit": ("match", THEN, "compact"),
    "one event ends all": ("match", "SELECT * FROM s WHERE A AS x ; B AS y ; B AS w ; D AS z", "compact"),
    "dense": ("count", "SELECT * FROM s WHERE (A+ ; B)+ ; C", "compact"),
    "dense, in windows": ("count", "SELECT * FROM s WHERE (A+ ; B)+ ; C WITHIN 50000 EVENTS", "compact"),
    "slide, long numbers": ("count", "SELECT * FROM s WHERE (A+ ; B)+ ; C WITHIN 140000 EVENTS", "compact"),
    "chain and its enumeration": ("match", f"{THEN} PARTITION BY id WITHIN 50000", "chain"),
    "chain, counted": (
        "count",
        "SELECT * FROM s WHERE (A AS x ; B AS y) FILTER x.id <> y.id AND x.v <> y.v WITHIN 50000",
        "chain",
    ),
    "chain sums": (
        "count",
        "SELECT * FROM s WHERE (A AS x ; B AS y ; C AS z) FILTER x.id <> y.id AND x.v <> y.v AND y.s <> z.s",
        "chain",
    ),
    "configurations": ("match", f"{THEN} FILTER x.v < z.v", "configurations"),
    "configurations, counted": ("count", RISING, "configurations"),
    "counts": ("count", f"{RISING} WITHIN 50000 EVENTS", "configurations"),
    "MAX of configurations": ("match", f"{RISING.replace('*', 'MAX *', 1)} WITHIN 18", "configurations"),
    "decimals": ("count", f"{THEN} FILTER x.d + y.d < z.d * 3 WITHIN 20000 EVENTS", "configurations"),
    "wide decimals": ("count", f"{THEN} FILTER x.w < y.w AND x.w < z.w WITHIN 20000", "configurations"),
    "long texts": ("count", f"{THEN} FILTER x.t < z.t AND y.t <= z.t WITHIN 50000 EVENTS", "configurations"),
    "questions": (
        "count",
        "SELECT * FROM s WHERE A AS x ; B AS y FILTER concat(x.s, y.s) LIKE '%1x2%'",
        "configurations",
    ),
    "slow questions": (
        "count",
        "SELECT * FROM s WHERE A AS x ; B AS y FILTER concat(x.t, y.t) LIKE '%1x2%' WITHIN 9000",
        "configurations",
    ),
    "checked": (
        "match",
        "SELECT * FROM s WHERE A AS x ; (B AS y)+ IN Y ; C AS z FILTER Y.id <> z.id WITHIN 18",
        "configurations",
    ),
    "gathering": ("table", "SELECT * FROM s WHERE A AS x ; B AS y WITHIN 60", "auto"),
    "semantics": ("match", THEN, "semantics"),
}


def stream() -> pa.Table:
    made = np.random.default_rng(1)
    texts = ["y" * 200_000 + f"x{number}" for number in range(40)]
    wide = [Decimal(f"{number}.{number:09}") * 10**20 for number in range(900)]
    return pa.table(
        {
            "ts": np.arange(ROWS),
            "type": [*made.choice(["A", "B", "C"], ROWS - 1), "D"],
            "id": made.integers(0, 50, ROWS),
            "v": made.integers(0, 1_000_000, ROWS),
            "s": [f"x{number}" for number in made.integers(0, 9_000, ROWS)],
            "d": pa.array(made.integers(0, 10_000, ROWS)).cast(pa.decimal128(19)).cast(pa.decimal128(12, 2)),
            "w": pa.array(wide, pa.decimal128(38, 9)).take(pa.array(made.integers(0, 900, ROWS))),
            "t": pa.DictionaryArray.from_arrays(made.integers(0, 40, ROWS, np.int32), pa.array(texts)),
        }
    )


def run(table: pa.Table, how: str, query: str, evaluator: str) -> None:
    """Matches are made piece by piece: `cepheid.match` would refuse so many."""
    if how == "count":
        cepheid.count(table, query, evaluator=evaluator)
    elif how == "table":
        cepheid.match(table, query, evaluator=evaluator)
    else:
        for _ in cepheid.query(query).engine(table.schema, evaluator=evaluator).pieces(table):
            pass


def run_for_ever(table: pa.Table, how: str, query: str, evaluator: str) -> None:
    while True:
        run(table, how, query, evaluator)


def interrupted(table: pa.Table, name: str, delay_s: float) -> tuple[str, float, float]:
    """What ended a query that was interrupted so long after it began, and how many seconds later: of the clock, and of
    this process."""
    sent: list[tuple[float, float]] = []

    def interrupt() -> None:
        sent.append((time.monotonic(), time.process_time()))
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay_s, interrupt)
    try:
        timer.start()
        run_for_ever(table, *QUERIES[name])
    except BaseException as error:
        ended = type(error).__name__
    ((clock, process),) = sent
    return ended, time.monotonic() - clock, time.process_time() - process


def main(seed: int = 0, rounds: int = 1) -> None:
    delays = random.Random(seed)
    table = stream()
    for how, query, evaluator in QUERIES.values():
        run(table.slice(0, 90), how, query, evaluator)  # loads the kernels
    for _ in range(rounds):
        for name in QUERIES:
            found = interrupted(table, name, delays.uniform(*DELAY_S))
            print(json.dumps([name, *found]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
