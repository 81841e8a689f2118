"""Matching a streaming DataFrame: connects the parts of this folder on the driver.

In: a streaming DataFrame, or one per stream, a query, a watermark. Out: a streaming DataFrame of matches. Each match is
emitted once, in append mode, when the watermark has passed its last event and all that may still forbid it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from cepheid.algebra.nfab import Nfab, Selection
from cepheid.algebra.nfab_edges import is_maximal
from cepheid.algebra.nodes import Computed, Query
from cepheid.algebra.reach import FOR_EVER, waits
from cepheid.algebra.variables import output_columns
from cepheid.errors import CepheidError, warn
from cepheid.options import checked_columns
from cepheid.pipeline import ParsedQuery, plan_for
from cepheid.plan.plan import Plan
from cepheid.plan.reads import read_by_columns, read_by_conditions
from cepheid.schema import DEFAULT_TYPE, schema_of
from cepheid.spark.batch import pruned, smaller
from cepheid.spark.carriers import restored
from cepheid.spark.interpreter import workers_python
from cepheid.spark.live.bucket_keys import bucket_keys
from cepheid.spark.live.job import Job
from cepheid.spark.live.late import DROP, ERROR, checked_late, is_path
from cepheid.spark.live.late_table import late_table
from cepheid.spark.live.operator import OUTPUT, MatchOperator, UnpackTask
from cepheid.spark.live.pack import BUCKET, PACKED, PackTask
from cepheid.spark.live.settings import partitions_of, use_state_store
from cepheid.spark.live.watermark import with_watermark
from cepheid.spark.sending import WithKernels, send_kernels
from cepheid.spark.streams import column, union_streams
from cepheid.spark.types import from_arrow_schema
from cepheid.spark.worker import sent_operator, sent_task
from cepheid.streams.zones import zoned_schema

METRICS = "cepheid"
METRIC_NAMES = {
    "late": "late_rows",
    "matches": "matches",
    "waiting": "waiting_rows",
    "state_bytes": "state_bytes",
    "memory": "engine_bytes",
}


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
    watermark: str | float | dt.timedelta | None = None,
    late: str | Path = DROP,
    zone: str | None = None,
) -> DataFrame:
    """The matches of a query in a streaming DataFrame, as a streaming DataFrame."""
    rows, columns_of_events = union_streams(data, type, zone)
    schema = schema_of(columns_of_events, time=time, type=type, order=order, stream=parsed.stream)
    plan = _without_zones(plan_for(parsed, schema, evaluator), parsed, evaluator)
    _check_waits(plan.query)
    names = checked_columns(columns)
    kept = checked_late(late)
    wanted = smaller(limit, plan.query.limit)
    session = rows.sparkSession
    use_state_store(session)
    keys = bucket_keys(partitions_of(session))
    job = Job(plan, tuple(keys), positions or "positions" in (names or ()), wanted, names)
    made = job.engine().output_schema
    if kept in (DROP, ERROR):
        job = replace(job, plan=pruned(plan, _kept(plan, names)))
    if kept not in (DROP, ERROR):
        schema.require_readable(schema.names)
    late_path = kept if kept in (DROP, ERROR) or is_path(kept) else late_table(session, kept, rows, schema)
    watched_rows, delay_ms = with_watermark(rows, schema, watermark)
    job = replace(job, late=late_path, delay_ms=delay_ms)
    found = _run(watched_rows, job, made)
    return found if wanted is None else found.limit(wanted)


def _kept(plan: Plan, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The output columns whose columns of the events a checkpoint keeps: also those of expressions that are not asked
    for, since the query is typed again when the checkpoint is read."""
    computed = (item.name for item in output_columns(plan.query) if isinstance(item, Computed))
    return None if names is None else (*names, *computed)


def _check_waits(query: Query) -> None:
    """Refuses matches that only the end of a stream would make known."""
    if isinstance(query.pattern, Nfab):
        _check_ends(query.pattern, query)
        return
    if FOR_EVER in waits(query):
        message = "a stream has no end at which it is known that nothing came that a NOT forbids"
        hint = "add WITHIN, or say how long: NOT B FOR 10 minutes"
        if query.window is not None:
            hint = "the strategy around the NOT looks beyond the query's window: say how long, NOT B FOR 10 minutes"
        raise CepheidError("needs-window", message, hint=hint)


def _check_ends(nfab: Nfab, query: Query) -> None:
    """A run that skips stops with its window, as the wait for what is negated does; contiguity is broken by events."""
    skips = is_maximal(nfab) and nfab.positive[-1].selection is Selection.NEXT
    if query.window is None and (skips or nfab.components[-1].negated):
        message = "a stream has no end at which it is known that the last component of the pattern is over"
        raise CepheidError("needs-window", message, span=nfab.span, hint="add WITHIN")


def _without_zones(plan: Plan, parsed: ParsedQuery, evaluator: str) -> Plan:
    """Without the zone if no condition and no expression of SELECT reads instants, so that the checkpoint can be
    continued in any zone."""
    schema = plan.schema
    names = read_by_conditions(plan.query) | read_by_columns(plan.query)
    read = (schema.arrow.field(name).type for name in names)
    if any(pa.types.is_timestamp(dtype) and dtype.tz is not None for dtype in read):
        return plan
    return plan_for(parsed, replace(schema, arrow=zoned_schema(schema.arrow, "UTC")), evaluator)


def _run(rows: DataFrame, job: Job, made: pa.Schema) -> DataFrame:
    query, schema = job.plan.text, job.plan.schema
    kernels = send_kernels(rows.sparkSession, job.plan.evaluator)
    pack, operator = WithKernels(kernels, PackTask(schema, job.keys)), MatchOperator(job, kernels)
    with workers_python(rows.sparkSession):
        packed = rows.select(*map(column, schema.names), _bucket(job)).mapInArrow(
            sent_task(pack, query), from_arrow_schema(PACKED)
        )
        called = packed.groupBy("bucket").transformWithStateInPandas(
            sent_operator(operator, query), OUTPUT, outputMode="Append", timeMode="EventTime"
        )
        sums = [sql.coalesce(sql.sum(own), sql.lit(0)).alias(name) for own, name in METRIC_NAMES.items()]
        found = (
            called.observe(METRICS, *sums)
            .select("content")
            .mapInArrow(sent_task(UnpackTask(made), query), from_arrow_schema(made))
        )
    return restored(found, made, job.plan)


def _bucket(job: Job) -> sql.Column:
    """Which bucket a row belongs to, from 0: keys with the same hash share one."""
    by = job.plan.query.partition_by
    if by:
        return sql.pmod(sql.hash(*map(column, by)), sql.lit(len(job.keys))).cast("int").alias(BUCKET)
    warn("the query has no PARTITION BY: one Spark task will match the whole stream, in order")
    return sql.lit(0).alias(BUCKET)
