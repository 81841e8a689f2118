"""The page on streams: what its example prints is what it says."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PAGE = (Path(__file__).parents[2] / "docs" / "streaming.md").read_text(encoding="utf-8")
STEPS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)


def reading(seconds: int, type: str, tmp: float | None, hum: float | None) -> dict[str, object]:
    return {"ts": NOON + dt.timedelta(seconds=seconds), "type": type, "id": 0, "tmp": tmp, "hum": hum}


def test_the_example_prints_what_the_page_says(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema(
        [
            ("ts", pa.timestamp("us", tz="UTC")),
            ("type", pa.string()),
            ("id", pa.int64()),
            ("tmp", pa.float64()),
            ("hum", pa.float64()),
        ]
    )
    rows = [
        reading(60, "H", None, 20.0),  # comes before the readings that it follows
        reading(0, "T", 45.0, None),
        reading(10, "H", None, 70.0),
        reading(30, "T", 42.0, None),
        reading(200, "T", 41.0, None),
        reading(205, "H", None, 25.0),  # waits for the end
    ]
    (tmp_path / "readings").mkdir()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), tmp_path / "readings" / "1.parquet")
    known = {
        "spark": spark,
        "schema": spark.read.parquet(str(tmp_path / "readings")).schema,
        "folder": str(tmp_path),
    }
    assert len(STEPS) == 2
    for code, printed in STEPS:
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            exec(compile(code, "docs/streaming.md", "exec"), known)  # the page is ours
        assert shown.getvalue().strip() == printed.strip()
