"""A plan: everything an evaluator needs to run a query, and why that evaluator runs it.

A plan holds what runs and nothing else: one rewriting, one automaton. `explain` prints its fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cepheid.algebra.nodes import Query
from cepheid.algebra.variables import Shown
from cepheid.automata.attach import Attached
from cepheid.automata.automaton import Automaton
from cepheid.plan.reads import columns_shown
from cepheid.rewrite.rules import Rewriting
from cepheid.schema import Schema


@dataclass(frozen=True, slots=True)
class Declined:
    """An evaluator that would have been preferred, and why it does not take the query."""

    evaluator: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How a query runs, whatever the columns of the data.

    `query` is what the user meant, `rewriting` the same matches in normal form. `attached` has its filters on events,
    where `automaton` was constructed from that; the definition has no automaton. `asked` is the evaluator that was
    asked for, `declined` says why others, which come before the one chosen, do not take the query.
    """

    query: Query
    rewriting: Rewriting
    evaluator: str
    asked: str
    why: tuple[str, ...]
    declined: tuple[Declined, ...]
    shown: tuple[Shown, ...]
    attached: Attached | None
    automaton: Automaton | None

    @property
    def rewritten(self) -> Query:
        """The query in the normal form that runs."""
        return self.rewriting.query


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Choice):
    """A choice for events of one schema.

    `reads` are the columns that conditions, type, time, order and partition need; matches that show whole events need
    every column, as `needs` says. `for_counting` is the plan of a count, where another evaluator counts faster than it
    matches. `text` in `language` is what the query was written as: with it and `asked`, the same plan is made again.
    """

    schema: Schema
    reads: tuple[str, ...]
    for_counting: Plan | None = None
    text: str = ""
    language: str = "cel"

    def needs(self, columns: Sequence[str] | None) -> tuple[str, ...]:
        """The columns of the events that are read where the output has these `columns` (None: all)."""
        needed = {*self.reads, *columns_shown(self.query, self.schema, columns)}
        return tuple(name for name in self.schema.names if name in needed)

    def with_schema(self, schema: Schema) -> Plan:
        """The same plan for events that carry other columns, among them all that it reads."""
        counting = None if self.for_counting is None else self.for_counting.with_schema(schema)
        return replace(self, schema=schema, for_counting=counting)
