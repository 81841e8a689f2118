"""The demonstration: a made-up stream, two queries on Spark through the public API, their matches.

In: how many readings, where to write. Out: a table of the first matches per query on the terminal; the stream
and all matches as Parquet. The timings shown are of whole steps, Spark's own start included where it says so.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from rich.console import Console

import cepheid
from cepheid.cli.failures import debugging
from cepheid.cli.farm import SENSORS, farm_stream
from cepheid.cli.table import matches_table
from cepheid.spark.files import read, write
from cepheid.spark.session import local_session

SHOWN = 3


@dataclass(frozen=True, slots=True)
class Example:
    name: str
    says: str
    query: str


EXAMPLES = (
    Example(
        "fires",
        "A fire: more than 40 °C, then at most 25 % humidity, at one sensor (φ1 of the paper).",
        """SELECT * FROM farm
WHERE (T AS x ; H AS y) FILTER (x.tmp > 40 AND y.hum <= 25)
PARTITION BY id WITHIN 5 minutes""",
    ),
    Example(
        "rains",
        "Rain: humidity from below 30 % to above 60 %, and all temperatures between (φ3 of the paper).",
        """SELECT MAX * FROM farm
WHERE (H AS x ; (T AS y)+ ; H AS z) FILTER (x.hum < 30 AND z.hum > 60)
PARTITION BY id WITHIN 20 minutes""",
    ),
)


def show_demo(events: int, output: Path, master: str) -> None:
    """Makes the stream, runs the examples, and says where everything is."""
    screen = Console(highlight=False)
    stream = output / "farm.parquet"
    with _step(screen, f"making {events:,} readings of {SENSORS} sensors"):
        output.mkdir(parents=True, exist_ok=True)
        pq.write_table(farm_stream(events), stream)
    with _step(screen, f"starting Spark on {master}"):
        session = local_session(master, name="cepheid demo", loud=debugging())
        farm = read(session, [str(stream)], "parquet")
    for example in EXAMPLES:
        screen.print(f"\n[bold]{example.says}[/bold]\n\n{example.query}\n")
        target = str(output / example.name)
        with _step(screen, "matching and writing Parquet"):
            write(cepheid.match(farm, example.query, time="ts"), target, "parquet", "overwrite")
        matches = read(session, [target], "parquet").orderBy("start", "end", "match_id")
        first = matches.limit(SHOWN).toArrow()
        screen.print(matches_table(first, "ts", hide=("id", "type")))
        screen.print(f"{matches.count():,} matches in {target}; the first {first.num_rows} above.")
    screen.print(f"\nThe stream is {stream}. Ask it something else:")
    ask = "SELECT * FROM farm WHERE T AS x FILTER x.tmp > 60"
    command = [*program(), "run", "-e", ask, "--input", str(stream), "--time", "ts"]
    screen.print(f"  {shlex.join(command)}", soft_wrap=True, markup=False)


def program() -> list[str]:
    """What this program is called by: its name where the shell finds it, else its path, else the module."""
    called = Path(sys.argv[0])
    found = shutil.which("cepheid")
    if found is not None and Path(found).resolve() == called.resolve():
        return ["cepheid"]
    if called.name == "cepheid" and called.is_file():
        return [str(called)]
    return [sys.executable, "-m", "cepheid"]


@contextmanager
def _step(screen: Console, what: str) -> Iterator[None]:
    begin = time.perf_counter()
    with screen.status(f"{what} …"):
        yield
    screen.print(f"{what}: {time.perf_counter() - begin:.1f} s")
