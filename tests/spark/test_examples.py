"""The worked examples of `tests/spec/` and random cases on Spark: the ids of the in-process engine, many in one job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import reduce
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

import cepheid
from cepheid.algebra.printing import print_query
from support.agreement import within_patience
from support.generators import UNARY, Limits, seeded
from support.microbatches import selected
from support.spec_files import examples
from support.varied_patterns import seeded_varied, seeded_waiting
from support.whole_set_queries import seeded_whole

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::cepheid.CepheidWarning")]

SPEC = sorted((Path(__file__).parents[1] / "spec").glob("*.md"))
Run = tuple[str, pa.Table]


def together(spark: SparkSession, runs: list[Run]) -> Counter[tuple[int, str]]:
    """The ids that Spark finds for each query, all in one job."""
    parts: list[DataFrame] = []
    for number, (text, stream) in enumerate(runs):
        found = cepheid.match(spark.createDataFrame(stream), text, time="ts")
        parts.append(found.select(sql.lit(number).alias("run"), "match_id"))
    rows = reduce(DataFrame.unionAll, parts).collect()
    return Counter((row["run"], row["match_id"]) for row in rows)


def apart(runs: list[Run]) -> Counter[tuple[int, str]]:
    """The same in this process."""
    return Counter(
        (number, match_id)
        for number, (text, stream) in enumerate(runs)
        for match_id in cepheid.match(stream, text, time="ts")["match_id"].to_pylist()
    )


def runs_of(cases: Iterable[Run], most: int) -> list[Run]:
    """Those with matches, no more than `most`, evenly taken."""
    found = []
    for text, stream in cases:
        try:
            if len(cepheid.match(stream, text, time="ts")):
                found.append((text, stream))
        except cepheid.CepheidError as error:
            if error.code != "unsatisfiable":
                raise
    return found[:: max(1, len(found) // most)]


def test_the_examples_of_the_spec_give_the_same_ids(spark: SparkSession) -> None:
    # LIMIT takes any matches, so there is nothing to compare.
    written = [
        (e.query, e.stream)
        for path in SPEC
        for e in examples(path)
        if e.error is None and "LIMIT" not in e.query
    ]
    runs = runs_of(written, 80)
    assert together(spark, runs) == apart(runs)


def test_random_queries_give_the_same_ids(spark: SparkSession) -> None:
    """Also with absence, conjunction, nested strategies and aggregates, and with columns of their own."""
    small = Limits(events=8, atoms=3)
    runs = []
    for make in (
        lambda seed: seeded(seed, UNARY),
        lambda seed: seeded_varied(seed, small),
        lambda seed: seeded_waiting(seed, small),
        seeded_whole,
        selected,
    ):
        cases = [within_patience(make(seed))[0] for seed in range(60)]
        runs += runs_of([(print_query(case.query), case.table) for case in cases], 15)
    assert together(spark, runs) == apart(runs)
