"""How many rows an engine hands to its evaluator at once: many, but few where matches are many."""

from __future__ import annotations

from cepheid.plan.plan import Plan

MOST_ROWS = 1 << 16  # handed to the evaluator at once
MOST_ROWS_COUNTED = 1 << 18  # … when counting, or when the whole stream is at hand
MOST_ROWS_KEYED = 1 << 20  # … when counting in partitions
FEWEST_ROWS = 1 << 6
MANY_MATCHES = 1 << 18  # what a piece of output should not hold much more of


def first_size(plan: Plan, counting: bool) -> int:
    """How many rows to take first. A count holds no matches, and of many rows at a time each partition has several."""
    if counting:
        return MOST_ROWS_KEYED if plan.rewritten.partition_by else MOST_ROWS_COUNTED
    return 1 << 12


def next_size(rows: int, matches: int, most: int = MOST_ROWS) -> int:
    """How many rows to take next, after so many rows gave so many matches: as many as can be, since each turn costs
    something, but few where matches are many.

    >>> next_size(4096, matches=10), next_size(4096, matches=10_000_000)
    (8192, 1024)
    """
    if matches > MANY_MATCHES:
        return max(FEWEST_ROWS, rows // 4)
    return min(most, 2 * rows) if 4 * matches < MANY_MATCHES else rows
