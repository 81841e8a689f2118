"""Which files a path means, and which format they are in.

In: paths as users write them: a file, a folder, a pattern with `*`, or an address such as `s3://…`. Out: files; an
error that names the path where there is none. Names that begin with `_` or `.` are no data, as Spark has it.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from cepheid.errors import CepheidError, nearest

EXTENSIONS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".orc": "orc",
    ".arrow": "arrow",
    ".feather": "arrow",
}
FORMATS = frozenset(EXTENSIONS.values())
"""The formats that are read here; Spark has others."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def is_local(path: str) -> bool:
    """Whether a path is one of this machine's file system.

    >>> is_local("data/ticks.csv"), is_local("s3://bucket/ticks.csv")
    (True, False)
    """
    return _ADDRESS.match(path) is None


def format_of(path: str) -> str:
    """The format that a path's ending says, else that of the first file in the folder; Parquet when neither says any.

    >>> format_of("readings.jsonl"), format_of("readings.csv.gz"), format_of("readings/")
    ('json', 'csv', 'parquet')
    """
    for name in (path, *_few_names(path)):
        for suffix in reversed(Path(name).suffixes):
            if suffix.lower() in EXTENSIONS:
                return EXTENSIONS[suffix.lower()]
    return "parquet"


def _few_names(path: str) -> Iterator[str]:
    if is_local(path):
        for place in (path, *sorted(glob.glob(path))[:1]):
            if os.path.isdir(place):
                yield from list(_below(place))[:1]


def files_of(paths: Sequence[str]) -> list[str]:
    """The files that local paths mean, those of a folder in the order of their names; every path must mean one.

    >>> files_of(["no such file.csv"])
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[bad-argument]: no such file.csv: no such file or folder
    """
    found: list[str] = []
    for path in paths:
        matching = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
        if not matching:
            raise CepheidError("bad-argument", f"{path}: no such file or folder", hint=_near(path))
        here = [file for place in matching for file in (_below(place) if os.path.isdir(place) else [place])]
        if not here:
            raise CepheidError("bad-argument", f"{path}: the folder holds no files")
        found += here
    return found


def _below(folder: str) -> Iterator[str]:
    for directory, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(("_", ".")))
        yield from (
            os.path.join(directory, name) for name in sorted(names) if not name.startswith(("_", "."))
        )


def _near(path: str) -> str | None:
    folder = Path(path).parent
    names = os.listdir(folder) if folder.is_dir() else []
    found = nearest(Path(path).name, names)
    return f"did you mean {folder / found}?" if found else None
