"""Files of JSON as a stream: what the batch of the same rows gives."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import cepheid

pytestmark = pytest.mark.spark

QUERY = "SELECT * FROM s WHERE A AS x ; B AS y FILTER x.v < y.v PARTITION BY k WITHIN 20"


def test_a_folder_of_json_files_is_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    rows = [{"ts": n, "type": "AB"[n % 2], "k": n % 3, "v": n * 7 % 11} for n in range(120)]
    folder = tmp_path / "events"
    folder.mkdir()
    for number in range(2):
        lines = [json.dumps(row) for row in rows[60 * number : 60 * number + 60]]
        (folder / f"{number}.json").write_text("\n".join(reversed(lines)))
    stream = spark.readStream.schema("ts long, type string, k long, v long").option("maxFilesPerTrigger", 1)
    found = cepheid.match(stream.json(str(folder)), QUERY, watermark=5)
    writer = found.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(tmp_path / "out"))
    assert query.awaitTermination(200)
    given = spark.read.parquet(str(tmp_path / "out")).toArrow()["match_id"].to_pylist()
    rest = cepheid.finish(spark, tmp_path / "checkpoint").toArrow()["match_id"].to_pylist()
    expected = cepheid.match(pa.Table.from_pylist(rows), QUERY)["match_id"].to_pylist()
    assert len(given) > 0
    assert len(rest) > 0
    assert sorted(given + rest) == sorted(expected)
