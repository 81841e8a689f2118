"""The end of a stream: the matches that end in the buffered rows of a checkpoint.

In: the checkpoint of a stopped query. Out: a batch DataFrame of the matches that end in rows after the watermark, and
of those that wait for the end. Together with the matches of the stream they are the matches of the batch query. The
checkpoint is only read, so the query can also be continued instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from cepheid.errors import CepheidError
from cepheid.spark.carriers import restored
from cepheid.spark.interpreter import workers_python
from cepheid.spark.live.bucket import Bucket
from cepheid.spark.live.head import load_head
from cepheid.spark.live.job import Job, job_of_terms
from cepheid.spark.live.settings import use_state_store
from cepheid.spark.live.store import Memory
from cepheid.spark.sending import with_kernels
from cepheid.spark.types import from_arrow_schema
from cepheid.spark.worker import sent_task

HEAD = -1  # in place of a page's number


def finish_stream(session: SparkSession, checkpoint: str) -> DataFrame:
    """The matches of the buffered rows of a checkpoint, as if the stream ended there."""
    use_state_store(session)
    # Spark 4.1 has the coordinator that a state store asks for only where somebody has asked for a session's streams.
    _ = session.streams.active
    heads = _state(session, checkpoint, "head").select(
        sql.col("key.bucket").alias("bucket"),
        sql.lit(HEAD).cast("bigint").alias("number"),
        sql.col("value.head").alias("content"),
    )
    first = heads.limit(1).collect()
    if not first:
        raise CepheidError(
            "bad-state", f"the checkpoint `{checkpoint}` holds no bucket: no micro-batch has been run yet"
        )
    job = job_of_terms(load_head(bytes(first[0]["content"])).terms)
    pages = _state(session, checkpoint, "pages").select(
        sql.col("key.bucket").alias("bucket"),
        sql.col("user_map_key.number").alias("number"),
        sql.col("user_map_value.content").alias("content"),
    )
    schema = job.engine().output_schema
    task = with_kernels(session, job.plan.evaluator, FinishTask(job))
    both = heads.unionAll(pages).repartition(job.terms["buckets"], "bucket").sortWithinPartitions("bucket")
    with workers_python(session):
        found = both.mapInArrow(sent_task(task, job.plan.text), from_arrow_schema(schema))
    found = restored(found, schema, job.plan)
    return found if job.limit is None else found.limit(max(0, job.limit - _given(heads)))


def _given(heads: DataFrame) -> int:
    """How many matches the buckets have given together, of which the stream gave as many as its limit allowed."""
    counts = heads.select(sql.get_json_object(sql.col("content").cast("string"), "$.given").cast("bigint"))
    return sum(int(row[0]) for row in counts.collect())


class FinishTask:
    """Runs in a Spark worker, on the heads and pages of some buckets, bucket by bucket."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        current: int | None = None
        store = Memory()
        for batch in batches:
            for bucket, number, content in zip(
                *(column.to_pylist() for column in batch.columns), strict=True
            ):
                if bucket != current:
                    yield from self._finished(store)
                    current, store = bucket, Memory()
                if number == HEAD:
                    store.put_head(content)
                else:
                    store.put_page(number, content)
        yield from self._finished(store)

    def _finished(self, store: Memory) -> Iterator[pa.RecordBatch]:
        if store.head() is not None:
            for found in Bucket(self._job, store).finish():
                yield from found.to_batches()


def _state(session: SparkSession, checkpoint: str, variable: str) -> DataFrame:
    """A variable of the operator, whose number is 0 only without LIMIT, which is an operator as well."""
    try:
        operators = session.read.format("state-metadata").load(checkpoint)
        own = operators.where("lower(operatorName) LIKE 'transformwithstate%'").select("operatorId").first()
        state = session.read.format("statestore").option("stateVarName", variable)
        return state.option("operatorId", 0 if own is None else own[0]).load(checkpoint)
    except PySparkException as error:
        message = f"`{checkpoint}` is not the checkpoint of a match on a stream: {str(error).splitlines()[0]}"
        hint = "give the `checkpointLocation` that the query was started with"
        raise CepheidError("bad-state", message, hint=hint) from error
