"""Merges the rows of many pages into one stream, a bounded part of it at a time.

In: pages in order of arrival, each in stream order, and the last time to read. Out: consecutive tables in stream order;
rows of one time are never in two tables. In memory are only pages whose times overlap, and a few more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from cepheid.schema import Schema
from cepheid.spark.live.head import Waiting
from cepheid.spark.live.pages import after
from cepheid.streams.order import sort_stream
from cepheid.streams.times import Times, times_of

ROWS = 1 << 20
"""Rows that are read before some are yielded."""


def in_order(
    pages: Sequence[Waiting],
    read: Callable[[Waiting], pa.Table],
    last: int | float | None,
    schema: Schema,
    *,
    rows: int = ROWS,
) -> Iterator[pa.Table]:
    """The rows of the pages at or before `last` (None: all) that have not been read before."""
    unread = sorted(range(len(pages)), key=lambda place: pages[place].low, reverse=True)
    parts: dict[int, tuple[pa.Table, Times]] = {}
    while unread or parts:
        held = sum(len(times) for _, times in parts.values())
        while unread and held < rows:
            place = unread.pop()
            page = pages[place]
            table = read(page)
            parts[place] = after(table, times_of(table[schema.time], schema.time), page.done)
            held += len(parts[place][1])
        cut = pages[unread[-1]].low if unread else None
        ready = []
        for place in sorted(parts):
            table, times = parts.pop(place)
            end = _end(times, cut, last)
            if end:
                ready.append(table.slice(0, end))
            if cut is not None and end < len(times):
                parts[place] = (table.slice(end), times[end:])
        if ready:
            yield sort_stream(pa.concat_tables(ready), schema)
        elif cut is not None:
            rows *= 2  # all rows read so far have the time of the next page


def _end(times: Times, cut: int | float | None, last: int | float | None) -> int:
    """How many of the times are before `cut` and not after `last`."""
    end = len(times)
    if cut is not None:
        end = min(end, int(np.searchsorted(times, cut, side="left")))
    if last is not None:
        end = min(end, int(np.searchsorted(times, last, side="right")))
    return end
