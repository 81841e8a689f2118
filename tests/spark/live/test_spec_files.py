"""The examples of `tests/spec` as a stream, and as tasks of a batch, without Spark.

As a stream: the rows come in any order, cut into micro-batches, tasks of the source, buckets and pages; every
micro-batch begins with the state that the one before it saved, and some are run twice. As a batch: tasks that have some
of the keys each, or a time slice. Both give what `tests/test_spec.py` compares with the files, ids and columns too.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import cepheid
from cepheid.engine import Engine
from cepheid.pipeline import ParsedQuery, parse_query, parse_text, plan_for
from cepheid.plan.plan import Plan
from cepheid.schema import schema_of
from cepheid.spark.live.job import Job
from cepheid.spark.slices import why_not
from cepheid.spark.sorting import ARRIVAL
from cepheid.spark.task import CountTask, MatchTask
from support.generators import Seeded
from support.microbatches import bucket_of, coming, in_stream_order, printed, run_stream, small_pages
from support.spec_files import ROW, Example, examples
from support.time_slices import slices_of

FILES = sorted((Path(__file__).parents[2] / "spec").glob("*.md"))
TIMES = 1  # each example, of which there are some seven hundred


def plan_of(example: Example, order: str | None) -> Plan:
    parsed = parse_query(example.query)
    schema = schema_of(example.stream.schema, time="ts", order=order, stream=parsed.stream)
    return plan_for(parsed, schema)


def examples_of(path: Path) -> list[Example]:
    """Those of one query; several of one text are frames after one another."""
    return [
        example
        for example in examples(path)
        if example.error is None and isinstance(parse_text(example.query), ParsedQuery)
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stream_of_the_rows_gives_what_the_spec_says(path: Path) -> None:
    for number, example in enumerate(examples_of(path)):
        wanted = printed(cepheid.match(example.stream, example.query, time="ts"))
        plan = plan_of(example, ROW)  # ties are in the order of the rows, whichever come first
        for again in range(TIMES):
            choices = Seeded(1000 * number + again)
            rows = coming(choices, example.stream)
            if rows.late(example.stream):
                continue
            buckets = 1 if plan.query.limit is not None else 1 + choices.below(3)
            with small_pages(choices):
                ran = run_stream(
                    Job(plan, tuple(range(buckets)), delay_ms=rows.delay), example.stream, rows, choices
                )
            assert printed(ran.table(Engine(plan).output_schema)) == wanted, (example.name, rows)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_tasks_of_a_batch_give_what_the_spec_says(path: Path) -> None:
    for number, example in enumerate(examples_of(path)):
        result = cepheid.match(example.stream, example.query, time="ts")
        plan, choices = plan_of(example, None), Seeded(number)
        for parts in parts_of(plan, example.stream, choices):
            batches = [batch for part in parts for batch in MatchTask(plan, False, None)(part.to_batches())]
            found = pa.Table.from_batches(batches, Engine(plan).output_schema)
            assert printed(found) == printed(result), (example.name, parts)
            counts = [
                int(batch["count"][0].as_py(), 16)
                for part in parts
                for batch in CountTask(plan)(part.to_batches())
            ]
            assert sum(counts) == len(result), (example.name, parts)


def parts_of(plan: Plan, stream: pa.Table, choices: Seeded) -> list[list[pa.Table]]:
    """The rows spread over tasks in every way that a batch does it."""
    numbered = stream.append_column(ARRIVAL, pa.array(range(len(stream)), pa.int64()))
    if plan.query.limit is not None:
        return [[numbered]]
    if plan.query.partition_by:
        tasks = bucket_of(stream, plan.query.partition_by, 3)
        return [[numbered.filter(pa.compute.equal(tasks, task)) for task in range(3)]]
    if why_not(plan.query) is not None:
        return [[numbered]]
    in_order = in_stream_order(stream, list(range(len(stream))), plan.schema)
    return [[numbered], *(slices_of(plan, in_order, choices) for _ in range(TIMES))]
