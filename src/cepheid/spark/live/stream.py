"""Matching a streaming DataFrame: puts the parts of this folder together on the driver.

In: a streaming DataFrame, or one per stream, a query, a watermark. Out: a streaming DataFrame of matches. Each match is
given once, in append mode, when the watermark has passed its last event.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from cepheid.engine import checked_columns
from cepheid.errors import CepheidError, CepheidWarning
from cepheid.pipeline import ParsedQuery, plan_for
from cepheid.schema import DEFAULT_TYPE, Schema, schema_of
from cepheid.spark.batch import arrow_schema, callers, pruned, smaller
from cepheid.spark.live.job import Job
from cepheid.spark.live.late import DROP, ERROR, checked_late, is_path
from cepheid.spark.live.operator import OUTPUT, MatchOperator, unpack
from cepheid.spark.live.pack import BUCKET, PACKED, PackTask
from cepheid.spark.live.placing import bucket_keys
from cepheid.spark.live.settings import partitions_of, use_state_store
from cepheid.spark.live.watermark import watched
from cepheid.spark.sending import send_kernels
from cepheid.spark.streams import quoted, union_streams
from cepheid.spark.types import from_arrow_schema

METRICS = "cepheid"


def match_stream(
    data: DataFrame | Mapping[str, DataFrame],
    parsed: ParsedQuery,
    *,
    time: str,
    type: str | None = DEFAULT_TYPE,
    order: str | None = None,
    positions: bool = False,
    limit: int | None = None,
    evaluator: str = "auto",
    columns: Sequence[str] | None = None,
    watermark: str | float | None = None,
    late: str | Path = DROP,
    zone: str | None = None,
) -> DataFrame:
    """The matches of a query in a streaming DataFrame, as a streaming DataFrame."""
    rows = union_streams(data, type)
    schema = schema_of(arrow_schema(rows, zone), time=time, type=type, order=order, stream=parsed.stream)
    plan = plan_for(parsed, schema, evaluator)
    names = checked_columns(columns)
    kept = checked_late(late)
    wanted = smaller(limit, plan.query.limit)
    session = rows.sparkSession
    use_state_store(session)
    keys = bucket_keys(partitions_of(session))
    job = Job(plan, tuple(keys), positions or "positions" in (names or ()), wanted, names)
    made = job.engine().output_schema
    if kept in (DROP, ERROR) and not any(variable.name in made.names for variable in plan.shown):
        job = Job(pruned(parsed, plan), job.keys, job.positions, job.limit, job.columns)
    late_path = kept if kept in (DROP, ERROR) or is_path(kept) else _table(session, kept, rows, schema)
    job = Job(job.plan, job.keys, job.positions, job.limit, job.columns, late_path)
    found = _run(watched(rows, schema, watermark), job, made)
    return found if wanted is None else found.limit(wanted)


def _run(rows: DataFrame, job: Job, made: pa.Schema) -> DataFrame:
    task, schema = PackTask(job.plan.schema, job.keys), made

    def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return task(batches)

    def matches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return unpack(batches, schema)

    bucket = _bucket(job)
    packed = rows.select(*map(quoted, job.plan.schema.names), bucket).mapInArrow(
        pack, from_arrow_schema(PACKED)
    )
    called = packed.groupBy("bucket").transformWithStateInPandas(
        MatchOperator(job, send_kernels(rows.sparkSession, job.plan.evaluator)),
        outputStructType=OUTPUT,
        outputMode="Append",
        timeMode="EventTime",
    )
    observed = called.observe(
        METRICS,
        sql.coalesce(sql.sum("late"), sql.lit(0)).alias("late_rows"),
        sql.coalesce(sql.sum("matches"), sql.lit(0)).alias("matches"),
        sql.coalesce(sql.sum("waiting"), sql.lit(0)).alias("waiting_rows"),
        sql.coalesce(sql.sum("state_bytes"), sql.lit(0)).alias("state_bytes"),
        sql.coalesce(sql.sum("memory"), sql.lit(0)).alias("engine_bytes"),
    )
    return observed.select("content").mapInArrow(matches, from_arrow_schema(made))


def _bucket(job: Job) -> sql.Column:
    """Which bucket a row belongs to, from 0: keys with the same hash share one."""
    by = job.plan.query.partition_by
    if by:
        return sql.pmod(sql.hash(*map(quoted, by)), sql.lit(len(job.keys))).cast("int").alias(BUCKET)
    warnings.warn(
        "the query has no PARTITION BY: one Spark task will match the whole stream, in order",
        CepheidWarning,
        stacklevel=callers(),
    )
    return sql.lit(0).alias(BUCKET)


def _table(session: SparkSession, name: str, rows: DataFrame, schema: Schema) -> str:
    """Where the files of a table are, which is made if it is not there."""
    if not session.catalog.tableExists(name):
        empty = session.createDataFrame([], rows.select(*map(quoted, schema.names)).schema)
        empty.write.format("parquet").saveAsTable(name)
    told = {
        row["col_name"]: row["data_type"] for row in session.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()
    }
    kind, location = str(told.get("Provider")), str(told.get("Location", ""))
    if kind.lower() != "parquet" or not location:
        raise CepheidError(
            "bad-argument",
            f"late rows can be written to a table of Parquet files; `{name}` is of {kind}",
            hint="name a table that does not exist yet, or a folder",
        )
    return location if "://" in location else location.replace("file:/", "file:///")
