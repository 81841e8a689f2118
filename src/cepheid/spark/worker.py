"""Sends tasks to Spark workers, and reports the errors of workers.

In: a task or an operator, made on the driver. Out: a function or a processor that every Python can unpickle, also one
without this package: it holds the task as bytes and imports the package when it is called. So a worker that cannot
import the package reports that, instead of failing inside Spark's own code.

A `CepheidError` leaves a worker as its message, with the query's text and without the traceback. Spark makes text of
every exception of a worker; `errors.error_in` reads it back.

Invariant: functions that are sent refer to nothing of this module, since the worker may not have it.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from cepheid import __version__
from cepheid.errors import CepheidError

Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

QUIET = "SPARK_HIDE_TRACEBACK"
"""Spark's variable that makes a worker report its exception without a traceback. A worker ends after an exception, so
this affects no other function."""

LONGEST = 300
"""Characters of a query that an error shows."""


def sent_task(task: Task, query: str) -> Task:
    """The task, for `mapInArrow`; its errors name the query."""
    opened = _opened(task)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sent, worker = opened()
        with worker.reported(query):
            yield from sent(batches)

    return run


def sent_operator(operator: StatefulProcessor, query: str) -> StatefulProcessor:
    """The operator, for `transformWithStateInPandas`; its errors name the query."""
    opened = _opened(operator)

    class Sent(StatefulProcessor):  # type: ignore[misc]
        def init(self, handle: StatefulProcessorHandle) -> None:
            self._operator, self._worker = opened()
            self._operator.init(handle)

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
            with self._worker.reported(query):
                yield from self._operator.handleInputRows(key, rows, timerValues)

        def handleExpiredTimer(  # noqa: N802
            self,
            key: Any,
            timerValues: Any,  # noqa: N803
            expiredTimerInfo: Any,  # noqa: N803
        ) -> Iterator[Any]:
            with self._worker.reported(query):
                yield from self._operator.handleExpiredTimer(key, timerValues, expiredTimerInfo)

        def close(self) -> None:
            self._operator.close()

    return Sent()


def _opened(sent: Any) -> Callable[[], tuple[Any, Any]]:
    """A function that gives, in a worker, the unpickled object and this module."""
    content, release, quiet = cloudpickle.dumps(sent), __version__, QUIET

    def opened() -> tuple[Any, Any]:
        import os
        import sys

        try:
            from cepheid.spark import worker
        except ImportError as missing:
            os.environ[quiet] = "1"
            said = (
                f"error[bad-worker]: the Python of a Spark worker, {sys.executable}, cannot import cepheid: {missing}\n"
                "  hint: install cepheid in the Python that the workers run, or name another with PYSPARK_PYTHON "
                "before the session starts"
            )
            # The class itself is not there to be raised: one of its name is.
            raise type("CepheidError", (Exception,), {"__module__": "cepheid.errors"})(said) from None
        return worker.unpacked(content, release), worker

    return opened


def unpacked(content: bytes, release: str) -> Any:
    """The object that the driver, of this release, has sent. Runs in a worker."""
    with reported(None):
        if release != __version__:
            raise CepheidError(
                "bad-worker",
                f"the Python of a Spark worker, {sys.executable}, has cepheid {__version__}; the driver has {release}",
                hint="install the same release in both",
            )
        return pickle.loads(content)


@contextmanager
def reported(query: str | None) -> Iterator[None]:
    """Adds the query to the message of a `CepheidError` and hides the traceback."""
    try:
        yield
    except CepheidError as error:
        if os.environ.get("CEPHEID_DEBUG", "") in ("", "0"):
            os.environ[QUIET] = "1"
        raise CepheidError(
            error.code, error.message + _in_query(query), span=error.span, hint=error.hint
        ) from None


def _in_query(query: str | None) -> str:
    if query is None:
        return ""
    line = " ".join(query.split())
    return f", in the query `{line if len(line) <= LONGEST else line[: LONGEST - 1] + '…'}`"
