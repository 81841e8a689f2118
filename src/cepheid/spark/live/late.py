"""Late rows: dropped and counted, refused, or written to a folder of Parquet files.

In: the argument `late`, and in the workers tables of late rows. A file is named after its query, its bucket and the
number of the call, so that a repeated micro-batch writes the same file again: each late row is there once.
"""

from __future__ import annotations

import uuid
from pathlib import Path

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet

from cepheid.errors import CepheidError

DROP, ERROR = "drop", "error"


def is_path(late: str) -> bool:
    """Whether `late` is a path; else it is the name of a table, `drop` or `error`.

    >>> is_path("late_rows"), is_path("out/late"), is_path("hdfs://host/late"), is_path("./late"), is_path("drop")
    (False, True, True, True, False)
    """
    return "/" in late or "\\" in late


def checked_late(late: str | Path) -> str:
    if isinstance(late, Path):
        return str(late.absolute())
    if not isinstance(late, str) or not late:
        message = f"`late` requires one of drop, error, a path or the name of a table; got `{late!r}` instead"
        raise CepheidError("bad-argument", message)
    return str(Path(late).absolute()) if is_path(late) and "://" not in late else late


def write_late(late: str, tables: list[pa.Table], name: str) -> None:
    """Writes the rows to a file of this name in the folder, if there is one."""
    if late in (DROP, ERROR):
        return
    system, folder = pyarrow.fs.FileSystem.from_uri(late)
    system.create_dir(folder, recursive=True)
    # Two tries of one task may write at the same time: each to a file of its own, whose name readers pass over.
    unfinished = f"{folder}/.{name}-{uuid.uuid4().hex}"
    pyarrow.parquet.write_table(pa.concat_tables(tables), unfinished, filesystem=system)
    system.move(unfinished, f"{folder}/{name}.parquet")
