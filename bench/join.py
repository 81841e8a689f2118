"""What a join by hand costs: `seq_3` counted with numpy and pyarrow alone, strings included.

Pairs of a first and a last event are joined by searching the sorted times, which is a little faster than a join on
time buckets since nothing is hashed and no pair is made that the window forbids; how many middle ones lie between
them is a difference of two running counts. It knows this one pattern and needs the whole stream in memory.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bench.ticks import TIME


def joined(ticks: pa.Table, within: int) -> int:
    """SELL INTC ; BUY RIMM ; BUY QQQ, the last dearer than the first."""
    first, middle, last = (
        _rows(ticks, *trade) for trade in (("SELL", "INTC"), ("BUY", "RIMM"), ("BUY", "QQQ"))
    )
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
