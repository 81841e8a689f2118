"""One Spark session for all Spark tests: starting it takes longer than most of them. It serves Connect, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from cepheid.spark.session import local_session
from support.kafka_broker import free_ports


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    (port,) = free_ports(1)
    settings = {
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.caseSensitive": "false",  # as users have it
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    session = local_session("local[2]", name="tests", settings=settings)
    yield session
    session.stop()
