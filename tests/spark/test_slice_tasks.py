"""Time slices without Spark: tasks of random queries, each on the rows of its slice, give the definition's matches."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cepheid.algebra.nodes import Query, WindowUnit
from cepheid.algebra.reach import longest_wait
from cepheid.engine import Engine
from cepheid.spark.slices import why_not
from cepheid.spark.task import CountTask, MatchTask
from support.agreement import found_in, numbered, plan_of, within_patience
from support.generators import Case, Limits, Seeded
from support.microbatches import MOMENTS, WHOLE, in_process, is_by_moments, printed, timed
from support.time_slices import slices_of
from support.varied_patterns import seeded_varied, seeded_waiting

TIMES = (WindowUnit.PLAIN, WindowUnit.MICROSECONDS)


def case_of(seed: int) -> Case:
    limits = Limits(events=12, atoms=3, nary=seed % 2 == 1, windows=TIMES)
    made = (seeded_waiting if seed % 3 else seeded_varied)(seed, limits)
    query: Query = replace(made.query, partition_by=(), consume=False)
    clocks = MOMENTS if is_by_moments(made) else WHOLE
    return timed(replace(made, query=query), clocks[seed % len(clocks)])


def test_each_slice_gives_its_own_matches_and_all_together_those_of_the_whole() -> None:
    matches = waited = 0
    for seed in range(400):
        case, wanted = within_patience(case_of(seed))
        plan = plan_of(case, "auto")
        if plan is None or not len(case.table) or why_not(plan.query) is not None:
            continue
        table, choices = numbered(case), Seeded(seed)
        whole = in_process(plan, table)
        names = [item.name for item in plan.shown]
        parts = slices_of(plan, table, choices)
        batches = [batch for part in parts for batch in MatchTask(plan, False, None)(part.to_batches())]
        found = pa.Table.from_batches(batches, Engine(plan).output_schema)
        assert printed(found) == printed(whole), (seed, parts, case)
        counts = [batch["count"][0].as_py() for part in parts for batch in CountTask(plan)(part.to_batches())]
        assert sum(int(count, 16) for count in counts) == len(whole), (seed, parts, case)
        assert found_in(whole, names) == wanted
        matches += len(whole) if len(parts) > 1 else 0
        waited += len(whole) if len(parts) > 1 and longest_wait(plan.query) is not None else 0
    assert matches > 300
    assert waited > 200
