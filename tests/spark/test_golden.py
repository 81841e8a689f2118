"""Checkpoints that earlier releases wrote: this one goes on with them or finishes them, nothing lost or doubled."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import cepheid
from support.golden_stream import MICRO_BATCHES, QUERIES, go_on, rows, unpacked

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::cepheid.CepheidWarning")]

ARCHIVES = sorted((Path(__file__).parent / "golden").glob("format-*.zip"))


def ids(table: pa.Table) -> list[str]:
    return sorted(table["match_id"].to_pylist())


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.stem)
def test_an_old_checkpoint_is_gone_on_with(
    spark: SparkSession, archive: Path, name: str, tmp_path: Path
) -> None:
    checkpoint, output = unpacked(archive, name, tmp_path), tmp_path / "out"
    every = cepheid.match(rows(MICRO_BATCHES), QUERIES[name], order="value")
    rest = cepheid.finish(spark, checkpoint).toArrow()
    assert 0 < len(rest) < len(every)
    given_before = every.filter(pc.invert(pc.is_in(every["match_id"], rest["match_id"].combine_chunks())))
    assert ids(pa.concat_tables([given_before, rest.cast(every.schema)])) == ids(every)

    before = spark.conf.get("spark.sql.shuffle.partitions")
    try:
        go_on(spark, name, checkpoint, output)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    every = cepheid.match(rows(MICRO_BATCHES + 1), QUERIES[name], order="value")
    given = pq.read_table(output)  # not by Spark: the sink's log of what was given before is not here
    rest = cepheid.finish(spark, checkpoint).toArrow()
    assert len(given) > 0
    assert sorted(ids(given_before) + ids(given) + ids(rest)) == ids(every)


def test_there_is_a_checkpoint_of_every_format() -> None:
    from cepheid.spark.live.head import FORMAT

    assert [path.stem for path in ARCHIVES] == [f"format-{number}" for number in range(1, FORMAT + 1)]
