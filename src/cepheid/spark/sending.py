"""Sends the driver's compiled kernels to executors, so that these load instead of compiling for a minute.

The driver sends a *pack* (see `kernels/cache/`) as a file of the session, which Spark copies to every executor once;
tasks carry its name and its digest. An executor with another processor, other versions or other sources than the driver
cannot use it and compiles as before, also if sending fails. Nothing is sent to workers on the driver's own machine,
which have its cache folder, nor by a driver whose kernels came in a wheel: executors have the same wheel.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark import SparkFiles
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from cepheid.kernels.cache.folders import private_folder
from cepheid.kernels.cache.store import received, store
from cepheid.precompile import OF_EVALUATOR, exercise
from cepheid.spark.interpreter import is_classic
from cepheid.spark.worker import Task

_SENT: WeakKeyDictionary[SparkSession, tuple[frozenset[str], SentKernels]] = WeakKeyDictionary()
_RECEIVED: set[str] = set()


@dataclass(frozen=True, slots=True)
class SentKernels:
    """Name and digest of the pack that was sent; empty: none was."""

    name: str = ""
    digest: str = ""

    def use(self) -> None:
        """In a worker: loads kernels from the pack from now on, where they fit."""
        if not self.name or self.digest in _RECEIVED:
            return
        _RECEIVED.add(self.digest)
        with contextlib.suppress(Exception):  # without the file, kernels are compiled
            received(Path(SparkFiles.get(self.name)).read_bytes(), self.digest)


NOTHING = SentKernels()


@dataclass(frozen=True, slots=True)
class WithKernels:
    """A task that uses the sent kernels."""

    kernels: SentKernels
    task: Task

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        self.kernels.use()
        return self.task(batches)


def with_kernels(session: SparkSession, evaluator: str, task: Task) -> Task:
    """The task, and the kernels that its evaluator needs sent to where it will run."""
    return WithKernels(send_kernels(session, evaluator), task)


def send_kernels(session: SparkSession, evaluator: str) -> SentKernels:
    """Sends the kernels of this machine to the executors, unless they run on it. A driver that is part of the cluster
    compiles the kernels of the evaluator first."""
    try:
        if _runs_here(session):
            return NOTHING
        if is_classic(session):
            _compile(evaluator)
        return _sent(session)
    except (OSError, PySparkException, AttributeError, TypeError):
        return NOTHING


def _runs_here(session: SparkSession) -> bool:
    master = str(session.conf.get("spark.master") or "")
    return master.startswith("local") and not master.startswith("local-cluster")


def _compile(evaluator: str) -> None:
    if not store().is_shipped:
        for one in OF_EVALUATOR.get(evaluator, ()):
            exercise(one)


def _sent(session: SparkSession) -> SentKernels:
    names = frozenset(store().folder.names())
    if not names:
        return NOTHING
    known, sent = _SENT.get(session, (frozenset(), NOTHING))
    if names <= known:
        return sent
    content, digest = store().pack_called()
    sent = SentKernels(f"cepheid-{digest}.pack", digest)
    path = _folder() / sent.name
    path.write_bytes(content)
    session.addArtifacts(str(path), file=True)
    _SENT[session] = names, sent
    return sent


@cache
def _folder() -> Path:
    """Where the driver serves packs from as long as it runs. One for all: Spark takes the same pack again, for another
    session or after kernels that are in no pack have been compiled, only from the path that it knows."""
    return private_folder()
