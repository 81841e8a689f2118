"""The Python of Spark's workers, checked before a job where that is possible.

In: a session. Out: nothing, or an error before anything runs; inside `workers_python`, functions sent to workers on
this machine run in a Python that has this package. Without `PYSPARK_PYTHON` Spark takes `python3` of the path, which is
another one if a virtual environment is not activated. On a cluster, and with a server of Spark Connect in another
process, only the worker itself can check (`worker.py`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from cepheid.errors import CepheidError

CHOSEN = "PYSPARK_PYTHON"
PATIENCE_S = 60
_PROBE = """
import importlib.util, sys
lacks = [name for name in ("cepheid", "pyarrow", "numba") if importlib.util.find_spec(name) is None]
version = "{}.{}".format(*sys.version_info)
if lacks:
    print("it has no package " + lacks[0])
elif version != sys.argv[1]:
    print("it is Python " + version + ", the driver is Python " + sys.argv[1])
"""


@contextmanager
def workers_python(session: SparkSession) -> Iterator[None]:
    """Inside, functions are sent to workers that can run them. Spark's default Python is replaced by the driver's own;
    one that was chosen and cannot run them is an error. So is that of a server of Spark Connect, which is fixed when
    the server starts."""
    context = _local_context(session)
    if context is None or (obstacle := _obstacle(context.pythonExec)) is None:
        yield
        return
    if os.environ.get(CHOSEN) or not is_classic(session):
        message = f"the Python of Spark's workers, {context.pythonExec}, cannot run Cepheid: {obstacle}"
        hint = f"set {CHOSEN}={sys.executable} before the session starts, or install cepheid there"
        raise CepheidError("bad-worker", message, hint=hint)
    before, context.pythonExec = context.pythonExec, sys.executable
    try:
        yield
    finally:
        context.pythonExec = before


def is_classic(session: SparkSession) -> bool:
    """Whether this process is the driver, and not a client of one, which may be any kind of machine."""
    return not type(session).__module__.startswith("pyspark.sql.connect")


def _local_context(session: SparkSession):  # type: ignore[no-untyped-def]
    """The context of a session whose workers run on this machine; None where that is not known. `remote("local")`
    starts a server of Spark Connect in this process: its context is the active one."""
    try:
        if is_classic(session):
            context = session.sparkContext
        elif session.client.host == "localhost":
            from pyspark import SparkContext  # a client alone may have none

            context = SparkContext._active_spark_context
        else:
            return None
        return context if str(context.master).startswith("local") else None
    except (PySparkException, AttributeError, ImportError):
        return None


def _obstacle(python: str) -> str | None:
    found = shutil.which(python)
    if found is None:
        return "there is no such program"
    # Not by what links lead to: the Python of a virtual environment is a link to one outside of it.
    return None if Path(found).absolute() == Path(sys.executable).absolute() else _probed(found)


@cache
def _probed(python: str) -> str | None:
    """Why a Python cannot run the engine; None when it can."""
    try:
        done = subprocess.run(
            [python, "-c", _PROBE, "{}.{}".format(*sys.version_info)],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    if done.returncode:
        return "it does not start: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    return done.stdout.strip() or None
