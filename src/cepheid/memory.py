"""The memory limit: of the machine, or of the container that the process runs in.

In: the environment variable `CEPHEID_MAX_MEMORY`, the limits of control groups (cgroups, versions 1 and 2) and the
memory of the machine. Out: a number of bytes: the variable if it is set, else the least of the others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from cepheid.errors import CepheidError

VARIABLE = "CEPHEID_MAX_MEMORY"
UNKNOWN = 16 << 30  # the limit if none is known
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
# By the controllers of a line of /proc/self/cgroup.
_FILES = {"": "memory.max", "memory": "memory.limit_in_bytes"}


def memory_limit() -> int:
    """The bytes that this process may use.

    >>> memory_limit() > 0
    True
    """
    text = os.environ.get(VARIABLE)
    return size_of(text) if text else _available()


def most_bytes() -> int:
    """What matches that are held at once may fill: half of the memory that this process may use.

    >>> most_bytes() > 0
    True
    """
    return memory_limit() // 2


def size_of(text: str) -> int:
    """A size as people write it, in bytes or with a unit.

    >>> size_of("512MiB") == size_of("0.5 g") == 1 << 29, size_of("1000")
    (True, 1000)
    """
    found = _SIZE.fullmatch(text.strip())
    size = 0
    if found is not None:
        size = int(float(found[1]) * 1024 ** " kmgt".index(found[2].lower() or " "))
    if size <= 0:
        message = f"`{VARIABLE}` is a size in bytes, such as 2GiB; got `{text}` instead"
        raise CepheidError("bad-argument", message, hint="the units are KiB, MiB, GiB and TiB")
    return size


@cache
def _available() -> int:
    groups = cgroup_limits(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
    return min([*groups, *_physical()], default=UNKNOWN)


def _physical() -> Iterator[int]:
    if hasattr(os, "sysconf"):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def cgroup_limits(membership: Path, root: Path) -> Iterator[int]:
    """The limits of the control groups that a process is in, and of those around them. Inside a container the group's
    own files may lie at the root."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for controller, name in _FILES.items():
            if controller not in controllers.split(","):
                continue
            group = PurePosixPath(path.lstrip("/"))
            for part in (group, *group.parents):
                yield from _limit_in(root / controller / part / name)


def _limit_in(file: Path) -> Iterator[int]:
    """The number in a file; groups without a limit say `max`, or a number beyond any memory."""
    try:
        text = file.read_text().strip()
    except OSError:
        return
    if text.isdigit() and 0 < int(text) < 1 << 60:
        yield int(text)
