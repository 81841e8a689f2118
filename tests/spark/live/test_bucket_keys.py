"""Each bucket is in a partition of its own, because our hash is Spark's."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

from cepheid.spark.live.bucket_keys import bucket_keys, spark_hash


@pytest.mark.parametrize("partitions", [1, 2, 3, 8, 200])
def test_there_is_a_key_for_every_partition(partitions: int) -> None:
    keys = bucket_keys(partitions)
    assert len(set(keys)) == partitions
    assert [spark_hash(key) % partitions for key in keys] == list(range(partitions))


@pytest.mark.spark
def test_our_hash_is_that_of_spark(spark: SparkSession) -> None:
    choice = random.Random(4)
    numbers = [0, 1, -1, 2**31 - 1, -(2**31), *(choice.randrange(-(2**31), 2**31) for _ in range(500))]
    frame = spark.createDataFrame([(number,) for number in numbers], "n int")
    found = {row["n"]: row["hash"] for row in frame.select("n", sql.hash("n").alias("hash")).collect()}
    assert found == {number: spark_hash(number) for number in numbers}


@pytest.mark.spark
@pytest.mark.parametrize("partitions", [2, 7])
def test_spark_puts_each_bucket_into_its_own_partition(spark: SparkSession, partitions: int) -> None:
    frame = spark.createDataFrame([(key,) for key in bucket_keys(partitions)], "bucket int")
    placed = frame.repartition(partitions, "bucket").withColumn("partition", sql.spark_partition_id())
    assert {row["bucket"]: row["partition"] for row in placed.collect()} == {
        key: partition for partition, key in enumerate(bucket_keys(partitions))
    }
