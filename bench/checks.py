"""What counts are compared with before anything is timed."""

from __future__ import annotations

from dataclasses import dataclass

import cepheid
from bench.counting import (
    PRIME,
    ends_without_window,
    largest_of_q5,
    strict,
    within_events,
    without_window,
)
from bench.formulas import Formula, Q
from bench.streams import Stream
from bench.timing import require

PREFIX = 20_000  # events on which slow programs count too
FEW = 30  # events on which the definition does
STRATEGIES = ("ALL", "NXT", "LAST", "MAX", "STRICT")
PREFIX_CHECKED = f"first {PREFIX:,} events, by a direct program"


@dataclass(frozen=True)
class Check:
    """How a count was checked. `expected` is the number of matches in the whole stream, if that is known."""

    how: str
    expected: int | None = None


def prefix_check(formula: Formula, stream: Stream, within: int, query: str) -> Check:
    """Compares with the program of `counting.py` where it is fast enough: on the first events."""
    prefix = stream.prefix(PREFIX)
    found = cepheid.count(prefix.table(), query)
    require(found % PRIME, within_events(formula, prefix, within).matches, f"`{query}`, modulo {PRIME:,}")
    return Check(PREFIX_CHECKED)


def strategy_checks(
    name: str, stream: Stream, queries: dict[str, str], within: int | None
) -> dict[str, Check]:
    """Compares Q1–Q6 under each strategy, on the first events; MAX of Q6 with the definition, on a few."""
    prefix = stream.prefix(PREFIX)
    expected = strategy_counts(name, prefix, within)
    checks = {}
    for strategy, query in queries.items():
        if strategy in expected:
            found = cepheid.count(prefix.table(), query)
            require(found % PRIME, expected[strategy] % PRIME, f"`{query}`, modulo {PRIME:,}")
            checks[strategy] = Check(PREFIX_CHECKED)
        else:
            few = prefix.prefix(FEW).table()
            require(cepheid.count(few, query), cepheid.count(few, query, evaluator="semantics"), f"`{query}`")
            checks[strategy] = Check(f"first {FEW} events, by the definition")
    return checks


def strategy_counts(name: str, stream: Stream, within: int | None) -> dict[str, int]:
    """By strategy, the number of matches modulo `PRIME`, where a direct program knows it.

    NXT and LAST leave one match per event at which any ends. MAX leaves all of Q1–Q3, whose matches are of one size,
    and one per end of Q4: all its As.
    """
    formula = Q[name]
    counts = {}
    if within is not None:
        counted = within_events(formula, stream, within)
        counts["ALL"], ends = counted.matches, counted.ends
    else:
        counts["STRICT"] = strict(formula, stream).matches
        ends = ends_without_window(formula, stream)
        if name in ("Q1", "Q2", "Q3"):
            counts["ALL"] = without_window(formula, stream)
    counts |= {"NXT": ends, "LAST": ends}
    match name:
        case "Q1" | "Q2" | "Q3":
            counts["MAX"] = counts["ALL"]
        case "Q4":
            counts["MAX"] = ends
        case "Q5":
            counts["MAX"] = largest_of_q5(stream, within)
    return counts
