"""Spark Connect: the client knows no JVM, and batch and stream give the same matches all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from programs import other_session as elsewhere

pytestmark = pytest.mark.spark


def test_a_connect_session_gives_the_same_matches_also_of_a_stream(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The client is another process; the tests' own session serves it."""
    port = spark.sparkContext.getConf().get("spark.connect.grpc.binding.port")
    words = elsewhere.run(f"sc://127.0.0.1:{port}", tmp_path / "events")
    assert words[::2] == ["matches", "live"]
    assert int(words[1]) > int(words[3]) > 0
