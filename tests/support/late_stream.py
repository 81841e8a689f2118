"""A stream as files: rows arrive in disorder, some of them late, and it is known which.

A row is late when its time is at or before the watermark of an earlier micro-batch than its own. The watermark of a
micro-batch is the largest time in those before it, in whole milliseconds, less the delay. One that Spark *passes over*
counts for no watermark: killed when the sink had it and the checkpoint did not yet say so, it is not read again, and
its times are not known to the run that goes on. These are Spark's rules; here they are written out over the
micro-batches, one by one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

US = 1_000_000
START = 1_700_000_000 * US  # some time that is not 1970, the watermark that Spark begins with


def files_of(seed: int, files: int, rows: int, delay_seconds: int) -> list[pa.Table]:
    """Rows of some keys, `rows` to a file and about a second for five of them. Many have the same time. A row arrives
    less than the delay after its time; one in twelve much later, and a few just at the watermark or just after it."""
    rng = np.random.default_rng(seed)
    delay = delay_seconds * US
    count = files * rows
    times = START + np.sort(rng.integers(0, count * 4, count)) * 50_000
    arrival = times + rng.integers(0, delay, count)
    arrival += np.where(rng.random(count) < 1 / 12, delay + rng.integers(0, 2 * delay, count), 0)
    times = times[np.argsort(arrival, kind="stable")]
    made, largest = [], []
    for number in range(files):
        own = times[number * rows : (number + 1) * rows]
        if number >= 2:
            edge = max(largest[: number - 1]) // 1000 * 1000 - delay
            own = np.concatenate([own, [edge, edge + 1]])
        largest.append(int(own.max()))
        made.append(_table(rng, own, first=number * (rows + 2)))
    return made


def split_late(
    batches: list[pa.Table], delay_seconds: int, passed_over: Collection[int] = ()
) -> tuple[pa.Table, pa.Table]:
    """The rows of micro-batches that are in time, and those that are late."""
    in_time, late = [], []
    watermark, earlier = 0, 0  # of this micro-batch, and the largest of those before it
    for number, table in enumerate(batches):
        times = table["ts"].cast(pa.int64()).to_numpy()
        is_late = times <= earlier
        in_time.append(table.filter(pa.array(~is_late)))
        late.append(table.filter(pa.array(is_late)))
        earlier = watermark
        if len(times) and number not in passed_over:
            watermark = max(watermark, (int(times.max()) // 1000 - delay_seconds * 1000) * 1000)
    return pa.concat_tables(in_time), pa.concat_tables(late)


def micro_batches(files: list[pa.Table], checkpoint: Path) -> list[pa.Table]:
    """The rows of each micro-batch, as its checkpoint has it: a file. But one that Spark has noted as read when it is
    killed, before it has noted in which micro-batch, comes in one with the next."""
    logs = [
        checkpoint / "offsets" / str(number) for number in range(len(list(checkpoint.glob("offsets/[0-9]*"))))
    ]
    ends = [json.loads(log.read_text().splitlines()[-1])["logOffset"] + 1 for log in logs]
    assert ends[-1] == len(files)
    return [
        pa.concat_tables([files[0].slice(0, 0), *files[begin:end]]) for begin, end in pairwise([0, *ends])
    ]


def write_files(files: list[pa.Table], folder: Path) -> None:
    """Spark takes files in the order of their modification: one second apart."""
    folder.mkdir()
    for number, table in enumerate(files):
        path = folder / f"{number:04}.parquet"
        pyarrow.parquet.write_table(table, path)
        os.utime(path, (START // US + number, START // US + number))


def _table(rng: np.random.Generator, times: np.ndarray, first: int) -> pa.Table:
    count = len(times)
    return pa.table(
        {
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "n": pa.array(rng.permutation(count) + first),  # decides between rows of one time
            "type": pa.array(rng.choice(["A", "B", "C", "D"], count)),
            "k": pa.array(rng.choice(["a", "b", "c", "ü", "d", None], count)),
            "v": pa.array(rng.random(count), mask=rng.random(count) < 0.1),
        }
    )
