"""One Spark session for all Spark tests: starting it takes longer than most of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from cepheid.spark.session import local_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = local_session("local[2]", name="tests", settings={"spark.sql.shuffle.partitions": "4"})
    yield session
    session.stop()
