"""Settings of the session that the stateful operator needs or is slow without; those that the user chose stay."""

from __future__ import annotations

from pyspark.sql import SparkSession

from cepheid.spark.batch import UNMEASURED_BATCHES, cores_of

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
    """The number of shuffle partitions, and so of buckets; the number of cores, unless the user chose another."""
    if PARTITIONS not in session.conf.getAll:
        session.conf.set(PARTITIONS, str(cores_of(session, unknown=UNKNOWN_CORES)))
    return int(str(session.conf.get(PARTITIONS)))
