"""From Kafka through `match` to Kafka: stopped and restarted, a stream gives the matches that a batch gives.

A real broker and Spark's connector come from Maven Central through Maven; where they cannot be had these tests are
skipped and say why. Nothing else needs them.
"""

from __future__ import annotations

import json
from typing import Any

import pyspark
import pytest

from cepheid.errors import CepheidError
from cepheid.spark.java import find_java
from support.kafka_broker import kafka_broker
from support.maven import IN_SPARK, Artifact, UnresolvedError, resolve
from support.restarted_query import report_of

pytestmark = [pytest.mark.spark, pytest.mark.own_driver]

BROKER = [Artifact("org.apache.kafka:kafka_2.13:3.9.2"), Artifact("org.slf4j:slf4j-simple:1.7.36")]

# The connector and its companion, best first. Not every version of Spark is in Maven Central with both, and for Spark
# 4.3 there is none yet: that of 4.2 serves it, too.
NEWEST = {"4.1": "4.1.3"}.get(pyspark.__version__.rpartition(".")[0], "4.2.0")
VERSIONS = [(pyspark.__version__, pyspark.__version__), (NEWEST, NEWEST), (NEWEST, "4.1.0-preview1")]


def connector(version: str, companion: str) -> list[Artifact]:
    return [
        Artifact(f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version}", IN_SPARK),
        Artifact(f"org.apache.spark:spark-token-provider-kafka-0-10_2.13:{companion}", ["*:*"]),
    ]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("kafka")
    try:
        java = find_java().home / "bin" / "java"
        alternatives = [connector(*versions) for versions in VERSIONS]
        broker, connection = resolve([[BROKER], alternatives], folder / "jars")
    except (CepheidError, UnresolvedError) as error:
        pytest.skip(f"no Kafka: {error}")
    with kafka_broker(java, broker, folder / "broker") as address:
        return report_of("kafka_restarts", [address, ",".join(map(str, connection))], folder / "run")


def test_a_restarted_query_writes_each_match_once(report: dict[str, Any]) -> None:
    run = report["twice"]
    assert min(run["batches"]) >= 2
    assert min(len(run["written"]), len(run["rest"])) > 10
    assert sorted(run["written"] + run["rest"]) == sorted(report["expected"])
    ids = [json.loads(row)["match_id"] for row in run["written"] + run["rest"]]
    assert len(set(ids)) == len(ids)


def test_a_query_stopped_in_the_middle_loses_no_match(report: dict[str, Any]) -> None:
    """A batch that was stopped runs again and may write again what it had written: Kafka's sink takes every row once or
    more often."""
    run = report["interrupted"]
    assert min(run["batches"]) >= 1
    assert set(run["written"]) | set(run["rest"]) == set(report["expected"])
    assert not set(run["written"]) & set(run["rest"])
