"""What the random patterns of `compared_queries` and `set_queries` have in common.

Types are few, so that events can be in several places; a sequence is mostly `;`. Around a pattern comes a query, and a
stream to run it on.
"""

from __future__ import annotations

from dataclasses import replace

from cepheid.algebra.nodes import Pattern, Seq, StrictSeq, WindowUnit
from cepheid.algebra.variables import with_sets
from support.generators import Case, Choices, Limits, chance, pick, query_for, stream


class Making:
    """A pattern in the making; of 100 sequences `strict` are strict ones."""

    strict: int

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def _joined(self, left: Pattern, right: Pattern) -> Pattern:
        return StrictSeq(left, right) if chance(self._choices, self.strict) else Seq(left, right)

    def _type(self) -> str:
        return pick(self._choices, "AAAB")


def case_of(choices: Choices, limits: Limits, pattern: Pattern, plain: int) -> Case:
    """A query for the pattern, and a stream; of 100 queries `plain` have neither PARTITION BY nor CONSUME."""
    query = query_for(choices, limits, with_sets(pattern))
    if chance(choices, plain):
        query = replace(query, partition_by=(), consume=False)
    timestamps = query.window is not None and query.window.unit is WindowUnit.MICROSECONDS
    return Case(query, stream(choices, limits, timestamps))
