"""Processes of a Unix session, as /proc tells of them: a driver, its JVM, the daemon of its Python workers, and these.

Spark's daemon leaves the process group that it was started in, but not the session. So whoever starts a driver in a
session of its own (`start_new_session=True`) can find and end all that comes of it.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import cepheid


def python_path() -> str:
    """For PYTHONPATH: the folder of all tests, that of the package, and what is in it already."""
    paths = [str(Path(__file__).parents[1]), str(Path(cepheid.__file__).parents[1])]
    given = os.environ.get("PYTHONPATH")
    return os.pathsep.join([*paths, given] if given else paths)


@dataclass(frozen=True, slots=True)
class Process:
    number: int
    parent: int
    command: str
    resident: int
    """Bytes of memory."""


def processes_in(session: int) -> list[Process]:
    """All that still run, in no order.

    >>> os.getpid() in {process.number for process in processes_in(os.getsid(0))}
    True
    """
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):  # it may have ended meanwhile
                state, parent, _, its_session = _stat(folder).split()[:4]
                if int(its_session) == session and state not in "ZX":
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    pages = int((folder / "statm").read_text().split()[1])
                    found.append(
                        Process(int(folder.name), int(parent), command, pages * os.sysconf("SC_PAGE_SIZE"))
                    )
    return found


def below(number: int) -> list[Process]:
    """What a process has started, and these in turn, where they have not left its session."""
    among = processes_in(os.getsid(number))
    found: list[Process] = []
    parents = {number}
    while parents:
        found += (children := [process for process in among if process.parent in parents])
        parents = {process.number for process in children}
    return found


def kill(*processes: Process) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process.number, signal.SIGKILL)


def end_session(session: int, seconds: float = 30) -> None:
    """Kills all processes of a session, also those that others of them start meanwhile."""
    end = time.monotonic() + seconds
    while left := processes_in(session):
        if time.monotonic() > end:
            raise TimeoutError(f"{len(left)} processes outlast SIGKILL: {left}")
        kill(*left)
        time.sleep(0.01)


def _stat(folder: Path) -> str:
    """State, parent, group, session and more. The name before them is in brackets and may hold anything."""
    return (folder / "stat").read_text().rpartition(") ")[2]
