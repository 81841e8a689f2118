"""Killed with SIGKILL over and over, a stream gives the matches of an uninterrupted run, each once, ids included.

A driver runs in a session of its own (`killed_stream`), on files that make a micro-batch each. Its Python workers are
killed inside what they do for Cepheid (`deadly_workers`), and from outside at any moment, and so is their daemon: Spark
runs the task again, or the query fails and is started again. And everything at once is killed just when a file of the
checkpoint or of the sink is written: the driver is started again on the checkpoint. CEPHEID_TEST_SEED repeats a run.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import cepheid
from programs.deadly_workers import FOLDER, POINTS
from programs.killed_stream import DELAY_SECONDS, QUERIES
from support.late_stream import files_of, micro_batches, split_late, write_files
from support.session_processes import Process, end_session, kill, processes_in, python_path

pytestmark = [pytest.mark.spark, pytest.mark.own_driver]

FILES, ROWS = 22, 50
EACH_POINT = 2
OUTSIDE = ("a worker", "the daemon", "a worker")
EVERYTHING = ("offsets", "state", "sink", "commits")
"""When all processes are killed: as a micro-batch's file appears among these."""
SECONDS = 1200
"""For the whole run, on a machine that is busy with other things; alone it takes a small part of that."""


@dataclass
class Run:
    """The driver, and the kills that are still to come, each with the micro-batch from which on it is due; `query` is
    the name of what it runs."""

    folder: Path
    query: str
    choice: random.Random
    session: int = 0
    done: Counter[str] = field(default_factory=Counter)
    passed_over: set[int] = field(default_factory=set)
    """Micro-batches that the sink had and the checkpoint did not when all was killed: Spark does not run them again."""
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": python_path(),
            "OPENBLAS_NUM_THREADS": "1",
            "TMPDIR": str(self.folder / "tmp"),  # what is killed leaves files behind
            FOLDER: str(self.folder),
        }
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "programs.killed_stream", str(self.folder), self.query],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.session = self._process.pid

    def stop(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.session, signal.SIGKILL)  # the driver and its JVM, at once
            end_session(self.session)
            self._process.wait(30)

    @property
    def code(self) -> int | None:
        """What the driver ended with; None while it runs."""
        assert self._process is not None
        return self._process.poll()

    def follow(self) -> Iterator[int]:
        """The last micro-batch that was begun, again and again until the driver has ended by itself."""
        end = time.monotonic() + SECONDS
        while self.code is None:
            assert time.monotonic() < end, f"not done after {SECONDS} s; {self.done} were killed"
            yield max(self.written("checkpoint/offsets"), default=-1)
            time.sleep(0.004)

    def written(self, log: str) -> set[int]:
        """The micro-batches that have a file in a log of Spark's."""
        try:
            names = [name.removesuffix(".compact") for name in os.listdir(self.folder / log)]
        except FileNotFoundError:
            return set()
        return {int(name) for name in names if name.isdigit()}

    def kill_everything(self, moment: str) -> None:
        self.stop()
        self.passed_over |= self.written("sink/_spark_metadata") - self.written("checkpoint/commits")
        self.done[moment] += 1
        self.start()

    def kill_python(self, which: str) -> bool:
        """Kills the daemon, or some worker. False if there is none now."""
        running = processes_in(self.session)
        daemons = [process for process in running if is_daemon(process, running)]
        workers = [process for process in running if process.parent in {daemon.number for daemon in daemons}]
        among = daemons if which == "the daemon" else workers
        if among:
            kill(self.choice.choice(among))
            self.done[which] += 1
        return bool(among)


def is_daemon(process: Process, running: list[Process]) -> bool:
    java = {other.number for other in running if "java" in other.command.split(" ")[0]}
    return "programs.deadly_workers" in process.command and process.parent in java


def appeared(folder: Path, moment: str, batch: int, *, begun: bool) -> bool:
    """Whether the micro-batch's file is there; with `begun`, also one that is not finished."""
    places = {
        "offsets": (["checkpoint/offsets"], f"{batch}"),
        "state": (["checkpoint/state/0/0", "checkpoint/state/0/1"], f"{batch + 1}.changelog"),
        "sink": (["sink/_spark_metadata"], f"{batch}"),
        "commits": (["checkpoint/commits"], f"{batch}"),
    }
    folders, wanted = places[moment]
    for place in folders:
        with suppress(FileNotFoundError):
            for name in os.listdir(folder / place):
                if name in (wanted, f"{wanted}.compact") or (begun and name.startswith(f".{wanted}.")):
                    return True
    return False


@pytest.fixture(params=QUERIES)
def run(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Run]:
    seed = int(os.environ.get("CEPHEID_TEST_SEED") or time.time_ns() % 1_000_000)
    print(f"CEPHEID_TEST_SEED={seed}")  # noqa: T201
    for name in ("orders", "deaths", "tmp"):
        (tmp_path / name).mkdir()
    made = Run(tmp_path, request.param, random.Random(seed))
    try:
        yield made
    finally:
        made.stop()
    assert processes_in(made.session) == []


def kill_and_start_again(run: Run) -> None:
    """Runs the driver to its end, with all kills on the way."""
    choice = run.choice
    last = FILES - 4  # rows that are late come until then, and later
    orders = [(choice.uniform(0, last), point) for point in POINTS * EACH_POINT]
    outside = [(choice.uniform(1, last), which) for which in OUTSIDE]
    moments = choice.sample(EVERYTHING, len(EVERYTHING))
    everything = [
        (choice.randint(first, first + last // len(moments) - 2), moment)
        for first, moment in zip(range(1, last, last // len(moments)), moments, strict=False)
    ]
    begun = choice.random() < 0.5
    later = 0.0
    run.start()
    for batch in run.follow():
        for due, point in sorted(orders):
            if batch >= due and not (run.folder / "orders" / point).exists():
                orders.remove((due, point))
                (run.folder / "orders" / point).touch()
        if outside and batch >= min(outside)[0]:
            # Not just when a micro-batch begins, but at any moment of it.
            later = later or time.monotonic() + choice.uniform(0, 1)
            if time.monotonic() >= later and run.kill_python(min(outside)[1]):
                outside.remove(min(outside))
                later = 0.0
        if everything and appeared(run.folder, everything[0][1], everything[0][0], begun=begun):
            run.kill_everything(everything.pop(0)[1])
            begun = choice.random() < 0.5
    for death in os.listdir(run.folder / "deaths"):
        run.done[death.rpartition(" ")[0]] += 1


def test_a_killed_stream_gives_each_match_once(run: Run) -> None:
    files = files_of(run.choice.randrange(1 << 30), FILES, ROWS, DELAY_SECONDS)
    write_files(files, run.folder / "rows")

    kill_and_start_again(run)

    failures = (run.folder / "failures").read_text() if (run.folder / "failures").exists() else ""
    print(f"{run.done.total()} kills: {dict(run.done)}")  # noqa: T201
    print(f"{failures.count('[STREAM_FAILED]')} failed queries; passed over: {run.passed_over or 'none'}")  # noqa: T201
    assert run.code == 0, (run.folder / "log").read_text()[-5000:]
    assert "CepheidError" not in failures
    batches = micro_batches(files, run.folder / "checkpoint")
    in_time, late = split_late(batches, DELAY_SECONDS, run.passed_over)
    expected = cepheid.match(in_time, QUERIES[run.query], order="n")
    assert len(expected) > 100
    assert len(late) > FILES
    found, rest = table_in(run.folder / "found.arrow"), table_in(run.folder / "finish.arrow")
    assert len(found) > 0
    assert len(rest) > 0
    assert rows_of(pa.concat_tables([found, rest])) == rows_of(expected)
    kept = pa.concat_tables([pa.parquet.read_table(path) for path in (run.folder / "late").glob("*.parquet")])
    assert rows_of(kept.select(late.column_names)) == rows_of(late)
    assert run.done == {
        **dict.fromkeys(POINTS, EACH_POINT),
        **dict.fromkeys(EVERYTHING, 1),
        **Counter(OUTSIDE),
    }
    assert run.done.total() >= 20


def table_in(path: Path) -> pa.Table:
    with pa.ipc.open_file(path) as file:
        return file.read_all()


def rows_of(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))
