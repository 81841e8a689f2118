"""A Spark session for the command line, the demo and the tests: quiet, local by default, on a Java that works.

In: a master URL and options. Out: a session; users of the library bring their own. The output of the Java process goes
to a log file, not to the user's terminal: Spark warns about host names and native libraries before any setting can stop
it.
"""

from __future__ import annotations

import atexit
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from cepheid.algebra.zones import known_zone
from cepheid.errors import CepheidError
from cepheid.spark.java import find_java
from cepheid.spark.zones import SESSION_ZONE

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.caseSensitive": "true",  # files may have columns `v` and `V`
}


def local_session(
    master: str = "local[*]",
    *,
    name: str = "cepheid",
    settings: Mapping[str, str] | None = None,
    loud: bool = False,
    zone: str = "UTC",
) -> SparkSession:
    """Starts a session, in which times are read and written in `zone`, or gives the one that runs in this process.
    `loud` leaves Spark's output on the terminal, for debugging."""
    prepare_environment(master)
    builder = SparkSession.builder.master(master).appName(name)
    zoned = {SESSION_ZONE: known_zone(zone)}  # not the machine's: times print alike on every one
    for key, value in {**SETTINGS, **zoned, **(settings or {})}.items():
        builder = builder.config(key, value)
    log = Path(tempfile.gettempdir()) / f"cepheid-spark-{os.getpid()}.log"
    atexit.register(log.unlink, missing_ok=True)
    try:
        with _output_to(None if loud else log):
            return builder.getOrCreate()
    except (PySparkException, OSError) as error:
        message = f"Spark did not start on `{master}`: {first_line(str(error))}"
        raise CepheidError("bad-argument", message, hint=_last_lines(log)) from error


def first_line(text: str) -> str:
    """The first line of an error, without details.

    >>> first_line("[PATH_NOT_FOUND] Path does not exist: x. SQLSTATE: 42K03\\n  at java…")
    '[PATH_NOT_FOUND] Path does not exist: x.'
    """
    stripped = text.strip()
    return stripped.splitlines()[0].split(" SQLSTATE:")[0] if stripped else "no reason given"


def prepare_environment(master: str) -> None:
    """Lets Spark find a Java, and its workers this Python."""
    os.environ["JAVA_HOME"] = str(find_java().home)
    # Workers must see the packages that this process sees.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


@contextmanager
def _output_to(log: Path | None) -> Iterator[None]:
    """Processes that start inside write to the log; the Java process keeps doing so afterwards."""
    if log is None:
        yield
        return
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [(number, os.dup(number)) for number in (1, 2)]
    with log.open("ab") as file:
        for number, _ in kept:
            os.dup2(file.fileno(), number)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, copy in kept:
                os.dup2(copy, number)
                os.close(copy)


def _last_lines(log: Path) -> str | None:
    if not log.exists():
        return None
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return " / ".join(lines[-3:]) or None
