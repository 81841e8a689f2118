"""What a join by hand costs: `seq_3` counted with numpy and pyarrow alone, and with polars, strings included.

With numpy, pairs of a first and a last event are joined by searching the sorted times: nothing is hashed, and no pair
is made that the window forbids. With polars they are joined on time buckets as long as the window, each last event in
its own and in the one before. How many middle ones lie between two is a difference of two running counts. Both know
this one pattern, need the whole stream in memory and are given the same Arrow table as the engine.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from bench.ticks import TIME

TRADES = (("SELL", "INTC"), ("BUY", "RIMM"), ("BUY", "QQQ"))


def joined(ticks: pa.Table, within: int) -> int:
    """SELL INTC ; BUY RIMM ; BUY QQQ, the last dearer than the first."""
    first, middle, last = (_rows(ticks, *trade) for trade in TRADES)
    times, prices = ticks[TIME].to_numpy(), ticks["price"].to_numpy()
    begins = np.searchsorted(last, first)
    ends = np.searchsorted(times[last], times[first] + within, side="right")
    numbers = np.maximum(ends - begins, 0)
    some = np.flatnonzero(numbers)
    first, begins, numbers = first[some], begins[some], numbers[some]
    places = np.arange(numbers.sum()) + np.repeat(begins - np.cumsum(numbers) + numbers, numbers)
    firsts, lasts = np.repeat(first, numbers), last[places]
    between = np.searchsorted(middle, lasts) - np.searchsorted(middle, firsts)
    return int(np.sum(between, where=prices[lasts] > prices[firsts]))


def _rows(ticks: pa.Table, type: str, name: str) -> npt.NDArray[np.int64]:
    """The types of those with the name are looked at only."""
    chosen = pc.indices_nonzero(pc.equal(ticks["name"], name))
    rows: npt.NDArray[np.int64] = chosen.filter(pc.equal(ticks["type"].take(chosen), type)).to_numpy()
    return rows.astype(np.int64)


def joined_by_polars(ticks: pa.Table, within: int) -> int:
    """The same with polars."""
    frame = pl.DataFrame(pl.from_arrow(ticks.select(["type", "name", "price", TIME])))
    lazy = frame.with_row_index("row").lazy()
    chosen = [lazy.filter(pl.col("name") == name, pl.col("type") == type) for type, name in TRADES]
    first, middle, last = pl.collect_all(each.select("row", "price", TIME) for each in chosen)
    first, last = (
        each.with_columns(
            bucket=pl.col(TIME) // max(within, 1),
            before=middle["row"].search_sorted(each["row"]).cast(pl.Int64),
        )
        for each in (first, last)
    )
    last = pl.concat([last, last.with_columns(pl.col("bucket") - 1)])
    pairs = first.lazy().join(last.lazy(), on="bucket", suffix="_last")
    matching = pairs.filter(
        pl.col("row_last") > pl.col("row"),
        pl.col(f"{TIME}_last") - pl.col(TIME) <= within,
        pl.col("price_last") > pl.col("price"),
    )
    return int(matching.select((pl.col("before_last") - pl.col("before")).sum()).collect().item())
