"""Data that is read piece by piece, with bounded memory: readers, datasets, files and folders.

In: a source of Arrow batches. Out: tables in stream order, with the wanted columns. A source that can be read twice (a
dataset, a path) may be in any order: its times are read first, and unsorted rows are sorted, on disk if memory does not
suffice. A reader is read once, so its rows must come in order. Several feeds are merged by time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cepheid.errors import CepheidError
from cepheid.files.reading import open_path, scanned
from cepheid.frames import kind_of
from cepheid.schema import Schema
from cepheid.streams.plain import plain_table
from cepheid.streams.times import times_of

FEEDS = ("reader", "dataset", "path", "feed")
"""The kinds of data that are read piece by piece."""

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Feed:
    """`batches` gives the rows, of some columns only. `again`: it can be called more than once."""

    schema: pa.Schema
    batches: Callable[[Sequence[str]], Batches]
    again: bool


def feed_of(data: Any) -> Feed:
    """A reader, a dataset or a path as a feed; rows are read later.

    >>> feed_of(pa.table({"ts": [1, 2]}).to_reader()).schema
    ts: int64
    """
    if isinstance(data, Feed):
        return data
    kind = kind_of(data)
    if kind == "path":
        files = open_path(data)
        return Feed(files.schema, files.batches, again=True)
    if kind == "dataset":
        return Feed(data.schema, lambda columns: scanned(data, columns), again=True)
    return Feed(data.schema, lambda columns: (batch.select(columns) for batch in data), again=False)


def ordered(feed: Feed, schema: Schema) -> Iterator[pa.Table]:
    """The rows of a feed in stream order; a feed that can be read only once must be sorted."""
    if not feed.again or _is_ordered(feed, schema):
        return _tables(feed, schema.names)
    return _sorted(feed, schema)


def merged(
    feeds: Mapping[str, Feed], schemas: Mapping[str, Schema], united: Schema, type: str
) -> Iterator[pa.Table]:
    """The rows of several sorted feeds as one stream. Ties go by the order column, else by the order of the feeds. At
    most a piece of each is in memory, and the rows of one time."""
    from cepheid.streams.order import sort_stream

    sources = {name: _checked(name, feeds[name], schemas[name]) for name in feeds}
    nothing = united.arrow.empty_table()
    buffers = dict.fromkeys(feeds, nothing)
    while True:
        for name in list(sources):
            while name in sources and not len(buffers[name]):
                _draw(name, sources, buffers, united, type)
        bounds = {name: _last_time(buffers[name], united) for name in sources}
        if not bounds:
            rest = pa.concat_tables(buffers.values())
            if len(rest):
                yield sort_stream(rest, united)
            return
        bound = min(bounds.values())
        ready = []
        for name, table in buffers.items():
            count = int(np.searchsorted(_times(table, united), bound, side="left")) if len(table) else 0
            ready.append(table.slice(0, count))
            buffers[name] = table.slice(count)
        piece = pa.concat_tables(ready)
        if len(piece):
            yield sort_stream(piece, united)
            continue
        # Rows of one time may continue in the next piece of a feed: all of them are needed to sort them.
        for name in [name for name, last in bounds.items() if last == bound]:
            _draw(name, sources, buffers, united, type)


def _draw(
    name: str, sources: dict[str, Iterator[pa.Table]], buffers: dict[str, pa.Table], united: Schema, type: str
) -> None:
    """Reads the next piece of a feed, or removes a feed that has ended."""
    piece = next(sources[name], None)
    if piece is None:
        del sources[name]
    else:
        buffers[name] = pa.concat_tables([buffers[name], _fitted(piece, name, united.arrow, type)])


def _fitted(table: pa.Table, stream: str, schema: pa.Schema, type: str) -> pa.Table:
    columns = []
    for field in schema:
        if field.name in table.column_names:
            columns.append(table[field.name].cast(field.type))
        elif field.name == type:
            columns.append(pa.array([stream] * len(table), field.type))
        else:
            columns.append(pa.nulls(len(table), field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _times(table: pa.Table, schema: Schema) -> Any:
    return times_of(table[schema.time], schema.time)


def _last_time(table: pa.Table, schema: Schema) -> Any:
    return _times(table.slice(len(table) - 1), schema)[0]


def _tables(feed: Feed, names: Sequence[str]) -> Iterator[pa.Table]:
    try:
        for batch in feed.batches(names):
            if batch.num_rows:
                yield plain_table(pa.Table.from_batches([batch]))
    except (pa.ArrowException, OSError) as error:
        raise CepheidError("bad-data", f"the data cannot be read: {error}") from error


def _checked(name: str, feed: Feed, schema: Schema) -> Iterator[pa.Table]:
    rows, last = 0, None
    for table in ordered(feed, schema):
        row, last = _disorder(table, last, schema)
        if row >= 0:
            at = rows + row
            message = f"row {at} of stream `{name}` belongs before row {at - 1} in stream order"
            raise CepheidError("unsorted", message, hint=IN_ORDER)
        rows += len(table)
        yield table


IN_ORDER = (
    "a reader's rows are taken as they come, so they must be in order of time, ties by the order column: sort them "
    "where they come from, or give `reader.read_all()`; tables, datasets and files are sorted"
)


def _disorder(table: pa.Table, last: pa.Table | None, schema: Schema) -> tuple[int, pa.Table]:
    """The first row that belongs before its predecessor, or -1; and the last row, the next table's predecessor."""
    from cepheid.streams.order import first_unordered

    order = table.select(
        list(dict.fromkeys(name for name in (schema.time, schema.order) if name is not None))
    )
    place = first_unordered(order if last is None else pa.concat_tables([last, order]), schema)
    return (place - (last is not None) if place >= 0 else -1), order.slice(len(order) - 1)


def _is_ordered(feed: Feed, schema: Schema) -> bool:
    last = None
    for table in _tables(feed, [name for name in schema.names if name in (schema.time, schema.order)]):
        row, last = _disorder(table, last, schema)
        if row >= 0:
            return False
    return True


def _sorted(feed: Feed, schema: Schema) -> Iterator[pa.Table]:
    from cepheid.spark.sorting import ARRIVAL, in_stream_order

    def numbered() -> Batches:
        rows = 0
        for table in _tables(feed, schema.names):
            arrival = pa.array(np.arange(rows, rows + len(table)))
            rows += len(table)
            yield from table.append_column(ARRIVAL, arrival).to_batches()

    for piece in in_stream_order(numbered(), schema):
        yield piece.drop_columns(ARRIVAL)
