"""Time slices without Spark: the tasks of random queries, each on the rows of its slice, give the definition's matches.

The rows of a slice are written out here once more: those of the window before it, its own, and those of the longest
wait after it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from cepheid.algebra.nodes import Query, WindowUnit
from cepheid.algebra.reach import longest_wait
from cepheid.engine import Engine
from cepheid.plan.plan import Plan
from cepheid.spark.slices import why_not
from cepheid.spark.sorting import ARRIVAL
from cepheid.spark.task import OVERLAP, CountTask, MatchTask
from cepheid.streams.times import times_of
from support.agreement import found_in, numbered, plan_of, within_patience
from support.generators import Case, Limits, Seeded
from support.microbatches import MOMENTS, WHOLE, in_process, is_by_moments, printed, timed
from support.varied_patterns import seeded_varied, seeded_waiting

TIMES = (WindowUnit.PLAIN, WindowUnit.MICROSECONDS)


def case_of(seed: int) -> Case:
    limits = Limits(events=12, atoms=3, nary=seed % 2 == 1, windows=TIMES)
    made = (seeded_waiting if seed % 3 else seeded_varied)(seed, limits)
    query: Query = replace(made.query, partition_by=(), consume=False)
    clocks = MOMENTS if is_by_moments(made) else WHOLE
    return timed(replace(made, query=query), clocks[seed % len(clocks)])


def slices_of(plan: Plan, table: pa.Table, choices: Seeded) -> list[pa.Table]:
    """The rows that each slice has, in order of arrival, those of overlaps marked."""
    assert plan.query.window is not None
    times = times_of(table["ts"], "ts")
    within, wait = plan.query.window.amount, longest_wait(plan.query)
    cuts = sorted({times[choices.below(len(times))].item() for _ in range(choices.below(4))})
    made = []
    for begin, end in zip([-np.inf, *cuts], [*cuts, np.inf], strict=True):
        own = (times >= begin) & (times < end)
        needed = own | ((times < begin) & (begin - times <= within))
        if wait is not None:
            needed |= (times >= end) & (times - end <= wait)
        rows = np.flatnonzero(needed)
        marked = table.take(pa.array(rows)).append_column(OVERLAP, pa.array(~own[rows]))
        made.append(marked.append_column(ARRIVAL, pa.array(rows)))
    return made


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
