"""Checkpoints of the present format, which later releases must read.

`python tests/programs/write_golden.py tests/spark/golden/format-N.zip` writes one for each query of `golden_stream`.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path

from cepheid.spark.session import local_session

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.golden_stream import MICRO_BATCHES, PLACE, QUERIES, go_on


def write(archive: Path) -> None:
    """A checkpoint for each query, in one file, without Hadoop's checksums."""
    session = local_session("local[2]")
    with (
        tempfile.TemporaryDirectory() as folder,
        zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in QUERIES:
            checkpoint = Path(folder, name)
            for _ in range(MICRO_BATCHES):
                go_on(session, name, checkpoint, Path(folder, f"{name}-out"))
            for path in sorted(path for path in checkpoint.rglob("*") if path.is_file()):
                if path.suffix != ".crc":
                    content = path.read_bytes().replace(str(checkpoint).encode(), PLACE)
                    target.writestr(zipfile.ZipInfo(f"{name}/{path.relative_to(checkpoint)}"), content)
    session.stop()


if __name__ == "__main__":
    write(Path(sys.argv[1]))
