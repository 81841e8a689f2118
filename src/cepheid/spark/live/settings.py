"""What a session needs for the stateful operator, or is slow without: set where the user has not chosen."""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from cepheid.spark.batch import UNMEASURED_BATCHES

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
PARTITIONS = "spark.sql.shuffle.partitions"
UNKNOWN_CORES = 8


def use_state_store(session: SparkSession) -> None:
    """The one provider that the operator works with. A checkpoint with changelogs can only be read with them, too."""
    session.conf.set(*UNMEASURED_BATCHES)
    session.conf.set(PROVIDER, ROCKSDB)
    if CHANGELOG not in session.conf.getAll:
        session.conf.set(CHANGELOG, "true")


def partitions_of(session: SparkSession) -> int:
    """The number of shuffle partitions, and so of buckets: that of cores, where it has not been chosen."""
    if PARTITIONS not in session.conf.getAll:
        session.conf.set(PARTITIONS, str(_cores(session)))
    return int(str(session.conf.get(PARTITIONS)))


def _cores(session: SparkSession) -> int:
    try:
        return int(session.sparkContext.defaultParallelism)
    except (PySparkException, AttributeError):  # Spark Connect does not say
        return UNKNOWN_CORES
