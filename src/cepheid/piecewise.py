"""Matching and counting while the data is read, in memory bounded by the window.

In: feeds and a parsed query. Out: a reader of matches, which pulls rows as it is read; or an exact number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa

from cepheid.engine import Engine
from cepheid.errors import CepheidError
from cepheid.feeds import IN_ORDER, Feed, merged, ordered
from cepheid.options import checked_columns
from cepheid.pipeline import ParsedQuery, plan_for
from cepheid.plan.plan import Plan
from cepheid.schema import Schema
from cepheid.streams.plain import plain_schema
from cepheid.streams.type_occurrence import TypeOccurrence
from cepheid.whole import counts_cheaply, spoken


class Piecewise:
    """A query over data that is read piece by piece: only the columns that it needs, in stream order.

    `feeds` is one feed, or one for each of several streams, whose events have a type column."""

    def __init__(
        self, feeds: Feed | Mapping[str, Feed], parsed: ParsedQuery, schema: Schema, evaluator: str
    ) -> None:
        self._feeds = feeds
        self._plan = plan_for(parsed, schema, evaluator)
        self._occurring = TypeOccurrence(self._plan.query, schema.type)

    def matches(
        self, positions: bool, limit: int | None, columns: Sequence[str] | None
    ) -> pa.RecordBatchReader:
        """The matches, made as the reader is read; few are in memory at a time."""
        plan = self._plan
        Engine(plan, positions=positions, limit=limit, columns=columns)  # refuses what it cannot show
        plan = replace(plan, schema=plan.schema.only(plan.needs(checked_columns(columns))))
        engine = Engine(plan, positions=positions, limit=limit, columns=columns)
        limits = [number for number in (limit, plan.query.limit) if number is not None]
        rows = self._rows(plan)
        return pa.RecordBatchReader.from_batches(
            engine.output_schema, self._found(engine, rows, min(limits, default=None))
        )

    def count(self) -> int:
        """The exact number of matches."""
        plan = replace(self._plan, schema=self._plan.schema.only(self._plan.needs(())))
        engine = Engine(plan, counting=True)
        with _hint_about_order():
            for table in self._rows(plan):
                engine.push(table)
        engine.finish()
        self._occurring.warn()
        return engine.counted

    def _found(self, engine: Engine, rows: Iterator[pa.Table], limit: int | None) -> Iterator[pa.RecordBatch]:
        count = 0
        with _hint_about_order(), self._with_number():
            for table in rows:
                for found in engine.pieces(table):
                    yield from found.to_batches()
                    count += len(found)
                    if limit is not None and count >= limit:
                        return
        yield from engine.finish().to_batches()
        self._occurring.warn()

    @contextmanager
    def _with_number(self) -> Iterator[None]:
        """Says how many matches there are where they are too many, can be counted without being made, and the data can
        be read again."""
        try:
            yield
        except CepheidError as error:
            feeds = self._feeds.values() if isinstance(self._feeds, Mapping) else (self._feeds,)
            again = all(feed.again for feed in feeds) and counts_cheaply(self._plan)
            if error.code != "too-many-matches" or not again:
                raise
            message = f"there are {spoken(self.count())} matches: {error.message}"
            raise CepheidError(error.code, message, hint=error.hint) from None

    def _rows(self, plan: Plan) -> Iterator[pa.Table]:
        """Tables in stream order, of the plan's columns."""
        schema = plan.schema
        if isinstance(self._feeds, Mapping):
            assert schema.type is not None
            parts = {name: _part_of(schema, feed, schema.type) for name, feed in self._feeds.items()}
            rows = merged(self._feeds, parts, schema, schema.type)
        else:
            rows = ordered(self._feeds, schema)
        for table in rows:
            self._occurring.look(table)
            yield table


def _part_of(schema: Schema, feed: Feed, type: str) -> Schema:
    """The schema of one of several streams, from the schema of all."""
    names = [name for name in schema.names if name in feed.schema.names]
    own = plain_schema(pa.schema([feed.schema.field(name) for name in names]))
    order = schema.order if schema.order in names else None
    return Schema(own, schema.time, type if type in names else None, order, schema.stream)


@contextmanager
def _hint_about_order() -> Iterator[None]:
    """Adds a hint to the error about unsorted rows."""
    try:
        yield
    except CepheidError as error:
        if error.code != "unsorted":
            raise
        raise CepheidError(error.code, error.message, hint=IN_ORDER) from None
