"""The time slices of a stream, as Spark's tasks get them.

In: a plan and a table in stream order. Out: a table for each slice: the rows of the window before it, its own, and
those of the longest wait after it. The rule of `spark/slices.py` is written here once more, in numbers.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cepheid.algebra.reach import longest_wait
from cepheid.plan.plan import Plan
from cepheid.spark.sorting import ARRIVAL
from cepheid.spark.task import OVERLAP
from cepheid.streams.times import times_of
from support.generators import Choices


def slices_of(plan: Plan, table: pa.Table, choices: Choices) -> list[pa.Table]:
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
