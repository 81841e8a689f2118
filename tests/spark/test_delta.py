"""From one Delta table through `match` to another: stopped and restarted, each match is written once.

Delta's jars come from Maven Central through Maven, and are made for one release of Spark each; where there are none
these tests are skipped and say why. `make test-spark VERSION=4.2` runs them.
"""

from __future__ import annotations

import json
from typing import Any

import pyspark
import pytest

from cepheid.errors import CepheidError
from support.maven import IN_SPARK, Artifact, UnresolvedError, resolve
from support.restarted_query import report_of

pytestmark = [pytest.mark.spark, pytest.mark.own_driver]

# The newest Delta for each release of Spark.
VERSIONS = {"4.1": "4.4.0", "4.2": "4.4.0"}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    release = pyspark.__version__.rpartition(".")[0]
    if release not in VERSIONS:
        pytest.skip(f"no Delta: there are jars for Spark {', '.join(VERSIONS)}, not for {release}")
    folder = tmp_path_factory.mktemp("delta")
    delta = Artifact(f"io.delta:delta-spark_{release}_2.13:{VERSIONS[release]}", IN_SPARK)
    try:
        (jars,) = resolve([[[delta]]], folder / "jars")
    except (CepheidError, UnresolvedError) as error:
        pytest.skip(f"no Delta: {error}")
    return report_of("delta_restarts", [",".join(map(str, jars))], folder / "run")


@pytest.mark.parametrize("name", ["twice", "interrupted", "repeated"])
def test_a_restarted_query_writes_each_match_once(report: dict[str, Any], name: str) -> None:
    """Ended and started again, stopped in the middle, and with a micro-batch that is run twice."""
    run = report[name]
    assert min(run["batches"]) >= 1
    assert min(len(run["written"]), len(run["rest"])) > 10
    assert sorted(run["written"] + run["rest"]) == sorted(report["expected"])
    ids = [json.loads(row)["match_id"] for row in run["written"] + run["rest"]]
    assert len(set(ids)) == len(ids)
