"""Spark's Python daemon with workers that kill themselves where they are told to: `python -m programs.deadly_workers`.

In: a folder, by the environment. A file `orders/POINT` in it says that the next worker to come to this point is to die
there. Out: the file is in `deaths` then. Renaming is atomic, so one order kills one worker.

The points are put round the functions of `cepheid.spark.live` in the workers; nothing there knows of them.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER = "CEPHEID_TEST_DEADLY"
POINTS = (
    "pack",
    "take",
    "before the pages",
    "between two pages",
    "before the head",
    "after the head",
    "half of the late rows",
    "all late rows",
    "unpack",
)


def die_at(point: str) -> None:
    """Kills this process if there is an order to."""
    if ordered(point):
        os.kill(os.getpid(), signal.SIGKILL)


def ordered(point: str) -> bool:
    folder = Path(os.environ[FOLDER])
    with suppress(FileNotFoundError):
        (folder / "orders" / point).rename(folder / "deaths" / f"{point} {os.getpid()}")
        return True
    return False


class DeadlyStore:
    """A store of one call, as `cepheid.spark.live.store` has it."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._written = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def put_page(self, number: int, content: bytes) -> None:
        die_at("between two pages" if self._written else "before the pages")
        self._written += 1
        self._store.put_page(number, content)

    def put_head(self, head: bytes) -> None:
        die_at("before the head")
        self._store.put_head(head)
        die_at("after the head")


def arm() -> None:
    """Puts the points into this process."""
    import pyarrow.parquet

    from cepheid.spark.live import bucket, operator, pack

    plain_init, plain_take = bucket.Bucket.__init__, bucket.Bucket.take
    plain_pack, plain_unpack = pack.PackTask.__call__, operator.unpack
    plain_write, plain_late = pyarrow.parquet.write_table, operator.write_late

    def init(self: Any, job: Any, store: Any) -> None:
        plain_init(self, job, DeadlyStore(store))

    def take(self: Any, arrived: Any) -> None:
        plain_take(self, arrived)
        die_at("take")

    def packed(self: Any, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in plain_pack(self, batches):
            yield batch
            die_at("pack")

    def unpacked(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
        for batch in plain_unpack(batches, schema):
            yield batch
            die_at("unpack")

    def write(table: Any, where: Any, *arguments: Any, **options: Any) -> None:
        plain_write(table, where, *arguments, **options)
        if ordered("half of the late rows"):
            system = options["filesystem"]
            with system.open_input_stream(where) as file:
                content = file.read()
            with system.open_output_stream(where) as file:
                file.write(content[: len(content) // 2])
            os.kill(os.getpid(), signal.SIGKILL)

    def write_late(*arguments: Any) -> None:
        plain_late(*arguments)
        die_at("all late rows")

    bucket.Bucket.__init__, bucket.Bucket.take = init, take  # type: ignore[method-assign]
    pack.PackTask.__call__, operator.unpack = packed, unpacked  # type: ignore[method-assign]
    pyarrow.parquet.write_table, operator.write_late = write, write_late


def main() -> None:
    # Before the fork, so that a new worker is there at once. Spark's own daemon loads nothing that might start a
    # thread; what is loaded here starts none that a fork disturbs, if OPENBLAS_NUM_THREADS is 1.
    from pyspark import daemon

    arm()
    daemon.manager()


if __name__ == "__main__":
    main()
