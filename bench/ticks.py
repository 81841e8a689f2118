"""A day of stock ticks, the data of `srt` (section 5.2), as often as it takes to have events enough to measure.

The file lies beside the project and is not part of it; experiments that need it say so and are left out without it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
STOCKS = ROOT.parent / "shared" / "data" / "stocks.parquet"
MISSING = "Skipped: there is no ../shared/data/stocks.parquet."
TIME = "stock_time"  # in milliseconds
COLUMNS = ("type", "name", "volume", "price", TIME)
GAP = 1_000_000  # between two days, longer than any window


@cache
def day() -> pa.Table:
    """Types and names are plain text."""
    return pq.read_table(STOCKS, columns=list(COLUMNS), use_threads=False).combine_chunks()


def repeated(table: pa.Table, copies: int) -> pa.Table:
    """The table again and again, each time later by more than a window: no match reaches from one into the next.

    >>> repeated(pa.table({"stock_time": [5, 7]}), 2)["stock_time"].to_pylist()
    [5, 7, 1000007, 1000009]
    """
    if copies == 1:
        return table
    times = table[TIME].to_numpy()
    later = np.arange(copies)[:, None] * (times[-1] - times[0] + GAP) + times
    place = table.schema.get_field_index(TIME)
    return (
        pa.concat_tables([table] * copies).combine_chunks().set_column(place, TIME, pa.array(later.ravel()))
    )
