"""Matching and counting on a batch DataFrame: Spark moves the rows, the engine runs in its Python workers.

In: a DataFrame, or one per stream, and a parsed query. Out: a lazy DataFrame of matches, or an exact number; the same
rows, `match_id` included, as the engine gives in-process, whatever the number of tasks.

There are three ways. With PARTITION BY, rows are shuffled by key, and each task matches many keys at once. Without, one
task reads the whole stream; or, with a time window, several tasks read time slices that overlap by one window
(`slices.py`). Only the columns that the query needs are sent to Python, where rows are sorted (`sorting.py`).

Without an order column, ties in time are decided by arrival: the order of the DataFrame's partitions, and of the rows
in each. The rows are numbered before any shuffle, so the shuffle does not disturb it. Where Spark itself does not fix
that order (after a join, say, or over many files), name an order column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from cepheid.algebra.nodes import Query
from cepheid.algebra.reach import longest_wait
from cepheid.engine import Engine
from cepheid.errors import CepheidError, error_in, warn
from cepheid.options import checked_columns
from cepheid.pipeline import ParsedQuery, plan_for
from cepheid.plan.choose import choose
from cepheid.plan.plan import Plan
from cepheid.rewrite.rules import rewrite
from cepheid.schema import DEFAULT_TYPE, schema_of
from cepheid.spark.carriers import restored
from cepheid.spark.interpreter import workers_python
from cepheid.spark.keys import BUCKET, in_buckets, key_attributes, playing_roles, ranked, with_roles
from cepheid.spark.sending import with_kernels
from cepheid.spark.slices import CORES_THAT_PAY, find_cuts, sliced, why_not
from cepheid.spark.sorting import ARRIVAL
from cepheid.spark.streams import column, union_streams
from cepheid.spark.task import COUNT_SCHEMA, CountTask, MatchTask
from cepheid.spark.types import from_arrow_schema
from cepheid.spark.worker import sent_task

# With exactly this number Spark does not measure the size of Arrow batches row by row, which about halves the cost of
# moving rows to Python. Batches stay bounded by their number of rows.
UNMEASURED_BATCHES = ("spark.sql.execution.arrow.maxBytesPerBatch", "2147483647")


def match_spark(
    data: DataFrame | Mapping[str, DataFrame],
    parsed: ParsedQuery,
    *,
    time: str,
    type: str | None = DEFAULT_TYPE,
    order: str | None = None,
    positions: bool = False,
    limit: int | None = None,
    evaluator: str = "auto",
    slices: int | None = None,
    columns: Sequence[str] | None = None,
    zone: str | None = None,
) -> DataFrame:
    """The matches of a query in a DataFrame, as a DataFrame; nothing is matched before it is read.

    `slices` is the number of time slices for a query without PARTITION BY; None leaves it to Cepheid, which
    takes as many as there are cores from eight on, else one. Finding where to cut them runs one small job
    over the time column at once. `positions` are in the partition's stream for a partitioned query, and need
    the whole stream in one task otherwise.
    """
    rows, columns_of_events = union_streams(data, type, zone)
    schema = schema_of(columns_of_events, time=time, type=type, order=order, stream=parsed.stream)
    plan = plan_for(parsed, schema, evaluator)
    names = checked_columns(columns)
    positions = positions or (names is not None and "positions" in names)
    made = output_schema(plan, positions, names)
    plan = pruned(plan, names)
    wanted = smaller(limit, plan.query.limit)
    rows, plan, has_ranks = _distributed(rows, plan, slices, positions=positions, ranks=True)
    found = _run(rows, MatchTask(plan, positions, wanted, names, ranked=has_ranks), made, parsed.text)
    found = restored(found, made, plan)
    return found if wanted is None else found.limit(wanted)


def count_spark(
    data: DataFrame | Mapping[str, DataFrame],
    parsed: ParsedQuery,
    *,
    time: str,
    type: str | None = DEFAULT_TYPE,
    order: str | None = None,
    evaluator: str = "auto",
    slices: int | None = None,
    zone: str | None = None,
) -> int:
    """The exact number of matches, without making them; runs a job."""
    rows, columns_of_events = union_streams(data, type, zone)
    schema = schema_of(columns_of_events, time=time, type=type, order=order, stream=parsed.stream)
    plan = plan_for(parsed, schema, evaluator)
    plan.schema.require_readable(plan.needs(()))
    rows, plan, _ = _distributed(rows, pruned(plan, ()), slices, positions=False, ranks=False)
    counts = _run(rows, CountTask(plan), COUNT_SCHEMA, parsed.text)
    try:
        total = sum(int(row["count"], 16) for row in counts.collect())
    except PySparkException as error:
        raise error_in(str(error)) or error from None
    return total if plan.query.limit is None else min(total, plan.query.limit)


def explain_spark(plan: Plan) -> str:
    """How the rows of a batch DataFrame reach the engine, as `explain` prints it."""
    query = plan.query
    lines = [f"to Python: {', '.join(plan.needs(None))}", f"to count: {', '.join(plan.needs(()))}"]
    obstacle = why_not(query)
    attributes = key_attributes(query)
    if attributes:
        roles = "" if len(attributes) == 1 else "; an event goes to each key that it has"
        lines.append(f"tasks: rows are shuffled by {', '.join(attributes)}, which PART-BY compares{roles}")
        lines.append("skew: the rows of one key go through one task, in order")
    elif query.partition_by:
        keys = ", ".join(query.partition_by)
        lines.append(f"tasks: rows are shuffled by {keys}; each task matches many keys at once")
        lines.append("skew: the rows of one key go through one task, in order")
    elif obstacle is not None:
        lines.append(f"tasks: one, since there is no PARTITION BY and {obstacle}")
    else:
        overlap = "one window" if longest_wait(query) is None else "one window, and by how long a match waits"
        lines.append(
            f"tasks: one below {CORES_THAT_PAY} cores, else time slices that overlap by {overlap} (`slices=n` asks)"
        )
    return "\n".join(lines)


def output_schema(plan: Plan, positions: bool, columns: tuple[str, ...] | None = None) -> pa.Schema:
    """The columns of the matches."""
    partitioned = bool(plan.query.partition_by)
    return Engine(plan, positions=positions, partition_positions=partitioned, columns=columns).output_schema


def pruned(plan: Plan, shown: tuple[str, ...] | None) -> Plan:
    """The same plan for events with only the columns that are read where the output has the columns `shown`."""
    needed = plan.needs(shown)
    return plan if set(needed) == set(plan.schema.names) else plan.with_schema(plan.schema.only(needed))


def _distributed(
    rows: DataFrame, plan: Plan, slices: int | None, *, positions: bool, ranks: bool
) -> tuple[DataFrame, Plan, bool]:
    """The rows shuffled so that every Spark partition is a stream, or a slice of one, by itself; the plan for them; and
    whether they have ranks, if `ranks` are needed."""
    numbered = rows.select(*map(column, plan.schema.names), sql.monotonically_increasing_id().alias(ARRIVAL))
    attributes = () if positions or slices is not None else key_attributes(plan.query)
    if not attributes:
        return _by_keys_or_slices(rows, numbered, plan, slices, positions=positions), plan, False
    numbered = ranked(numbered, plan.schema) if ranks else numbered
    return *_by_attributes(numbered, plan, attributes), ranks


def _by_attributes(rows: DataFrame, plan: Plan, attributes: tuple[str, ...]) -> tuple[DataFrame, Plan]:
    """The rows shuffled by the attributes that the outermost PART-BY compares, and the plan for them."""
    schema = plan.schema
    if len(attributes) == 1:
        return rows.repartition(column(attributes[0])), plan
    query = playing_roles(plan.query)
    rewriting = rewrite(query)
    bucketed = replace(rewriting, query=replace(rewriting.query, partition_by=(BUCKET,)))
    planned = choose(query, bucketed, with_roles(schema, attributes), plan.asked)
    return in_buckets(rows, schema, attributes), planned


def _by_keys_or_slices(
    rows: DataFrame, numbered: DataFrame, plan: Plan, slices: int | None, *, positions: bool
) -> DataFrame:
    """The numbered rows shuffled by PARTITION BY, cut into time slices, or in one Spark partition."""
    if slices is not None and slices < 1:
        raise CepheidError("bad-argument", f"`slices` requires a positive number; got `{slices}` instead")
    keys = plan.query.partition_by
    if keys:
        return numbered.repartition(*map(column, keys))
    wanted = _how_many_slices(rows, plan.query, slices, positions=positions)
    if wanted > 1:
        cuts = find_cuts(rows, plan.schema, plan.query, wanted, asked=slices is not None)
        if cuts.at:
            return sliced(numbered, plan.schema, cuts)
    return numbered.coalesce(1)


def _how_many_slices(rows: DataFrame, query: Query, slices: int | None, *, positions: bool) -> int:
    obstacle = why_not(query)
    if obstacle is None and positions and slices is not None and slices > 1:
        obstacle = "positions count from the beginning of the stream"
    if obstacle is not None:
        warn(
            "the query has no PARTITION BY and cannot be cut into time slices, because "
            f"{obstacle}: one Spark task will read the whole stream"
        )
        return 1
    if slices is not None:
        return slices
    cores = 1 if positions else cores_of(rows.sparkSession, unknown=1)
    return cores if cores >= CORES_THAT_PAY else 1


def cores_of(session: SparkSession, *, unknown: int) -> int:
    try:
        return int(session.sparkContext.defaultParallelism)
    except (PySparkException, AttributeError):  # Spark Connect does not say
        return unknown


def _run(rows: DataFrame, task: MatchTask | CountTask, schema: pa.Schema, query: str) -> DataFrame:
    rows.sparkSession.conf.set(*UNMEASURED_BATCHES)
    sent = with_kernels(rows.sparkSession, task.plan.evaluator, task)
    with workers_python(rows.sparkSession):
        return rows.mapInArrow(sent_task(sent, query), from_arrow_schema(schema))


def smaller(one: int | None, other: int | None) -> int | None:
    return min((n for n in (one, other) if n is not None), default=None)
