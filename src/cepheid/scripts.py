"""Several queries of one text over data: the results of one are the events of the next, or are united with others.

In: a `ParsedScript`, data, and how a single query is matched. Out: the matches of its last step. The events of a named
stream are its matches in the order of their times, those of one time by their ids: each has the time of its last event,
the type that IN STREAM gives, and the columns of RETURN. So tables, frames and Spark have the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from cepheid.algebra.nodes import Computed
from cepheid.errors import CepheidError
from cepheid.matches.distinct import numbers_of_columns
from cepheid.pipeline import ParsedQuery, ParsedScript, Step

Match = Callable[..., Any]
"""`match(data, query, time=…, type=…, order=…, …)` for one query, or `count`."""

ID, START, END = "match_id", "start", "end"


class Results(Protocol):
    """What is done with the matches of a query, as Arrow tables or as DataFrames of Spark."""

    def types(self, found: Any) -> pa.Schema: ...

    def as_events(self, found: Any, time: str, type: tuple[str, str], names: Sequence[str]) -> Any:
        """The matches as a stream; `type` is the name of the type column, and what is in it."""
        ...

    def united(self, one: Any, other: Any) -> Any: ...

    def without_equal(self, found: Any, names: Sequence[str]) -> Any:
        """One of the matches that end at one time and have equal columns of these names: the one that begins first."""
        ...

    def selected(self, found: Any, names: Sequence[str]) -> Any: ...

    def first(self, found: Any, limit: int) -> Any: ...

    def length(self, found: Any) -> int: ...


class ArrowResults:
    def types(self, found: pa.Table) -> pa.Schema:
        return found.schema

    def as_events(self, found: pa.Table, time: str, type: tuple[str, str], names: Sequence[str]) -> pa.Table:
        ordered = found.sort_by([(END, "ascending"), (ID, "ascending")])
        name, value = type
        columns = {time: ordered[END], name: pa.repeat(value, len(ordered)), ID: ordered[ID]}
        return pa.table(columns | {column: ordered[column] for column in names})

    def united(self, one: pa.Table, other: pa.Table) -> pa.Table:
        return pa.concat_tables([one, other.select(one.column_names)])

    def without_equal(self, found: pa.Table, names: Sequence[str]) -> pa.Table:
        ordered = found.sort_by([(END, "ascending"), (START, "ascending"), (ID, "ascending")])
        numbers = numbers_of_columns([ordered[name] for name in (END, *names)])
        return ordered.take(pa.array(np.sort(np.unique(numbers, return_index=True)[1])))

    def selected(self, found: pa.Table, names: Sequence[str]) -> pa.Table:
        return found.select(list(names))

    def first(self, found: pa.Table, limit: int) -> pa.Table:
        return found.slice(0, limit)

    def length(self, found: pa.Table) -> int:
        return len(found)


@dataclass
class Runner:
    """One run of a script; `asked` are the arguments about the data's columns and how to run."""

    data: Any
    results: Results
    time: str
    type: str | None
    order: str | None
    asked: dict[str, Any]
    streams: dict[str, Any] = field(default_factory=dict)

    def matches(self, script: ParsedScript, match: Match, **options: Any) -> Any:
        """The matches of the last step; `options` are about its output."""
        self._run(script.steps[:-1], match)
        last = script.steps[-1]
        if len(last.queries) == 1:
            return self._of(last.queries[0], match, options)
        columns, limit = options.pop("columns", None), options.pop("limit", None)
        found = self._step(last, match, options)
        found = found if columns is None else self.results.selected(found, columns)
        return found if limit is None else self.results.first(found, limit)

    def count(self, script: ParsedScript, match: Match, count: Match) -> int:
        """The number of matches of the last step. Where UNION drops equal ones, they are made."""
        last = script.steps[-1]
        self._run(script.steps[:-1], match)
        if not all(last.keeps):
            return self.results.length(self._step(last, match, {}))
        return sum(int(self._of(query, count, {})) for query in last.queries)

    def explained(self, script: ParsedScript, match: Match, explain: Callable[..., str]) -> list[str]:
        """What `explain` says of each query."""
        found = list[str]()
        for step in script.steps:
            for query in step.queries:
                source, order = self._source(query)
                type = self.type if source is self.data else self.type or "type"
                found.append(explain(query, source, time=self.time, type=type, order=order, **self.asked))
            if step is not script.steps[-1]:
                self._run([step], match)
        return found

    def _run(self, steps: Sequence[Step], match: Match) -> None:
        """The steps before the last, whose results become streams."""
        for step in steps:
            assert step.stream is not None
            assert step.type is not None
            column = self.type or "type"
            for name in names_of(step):
                if name in (self.time, column):
                    message = f"events of the stream `{step.stream}` already have a column `{name}`"
                    hint = "give the column of RETURN another name with AS"
                    raise CepheidError("bad-argument", message, hint=hint)
            found = self._step(step, match, {})
            self.streams[step.stream] = self.results.as_events(
                found, self.time, (column, step.type), names_of(step)
            )

    def _of(self, query: ParsedQuery, match: Match, options: dict[str, Any]) -> Any:
        """A query over the stream that FROM names, or over the data."""
        source, order = self._source(query)
        type = self.type if source is self.data else self.type or "type"
        return match(source, query, time=self.time, type=type, order=order, **self.asked, **options)

    def _source(self, query: ParsedQuery) -> tuple[Any, str | None]:
        """What a query reads, and the column that orders events of one time."""
        name = next(iter(query.query.streams), None)
        return (self.streams[name], ID) if name in self.streams else (self.data, self.order)

    def _step(self, step: Step, match: Match, options: dict[str, Any]) -> Any:
        """The results of a step, united from left to right."""
        parts = [self._of(query, match, options) for query in step.queries]
        self._check_types(step, parts)
        united = parts[0]
        for part, keeps in zip(parts[1:], step.keeps, strict=True):
            united = self.results.united(united, part)
            united = united if keeps else self.results.without_equal(united, names_of(step))
        return united

    def _check_types(self, step: Step, parts: Sequence[Any]) -> None:
        first, *others = (self.results.types(part) for part in parts)
        for other in others:
            for name in names_of(step):
                one, two = first.field(name).type, other.field(name).type
                if one != two:
                    message = f"UNION joins columns of one type: `{name}` is {one} and {two}"
                    hint = "return columns of one type in each of its queries"
                    raise CepheidError("type-mismatch", message, hint=hint)


def names_of(step: Step) -> list[str]:
    """The columns of RETURN."""
    columns = (item for item in step.queries[0].query.select or () if isinstance(item, Computed))
    return [column.name for column in columns]
