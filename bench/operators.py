"""Operators of SREMO beyond the paper's experiments, each with a program of its own that counts its matches.

They also compare prices of one company with each other, where the outcome is not the same all day.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from bench.register_counts import Bools, Ints, named, pairs
from bench.ticks import TIME


@dataclass(frozen=True)
class Variant:
    """`count(ticks, within)` knows nothing of the engine."""

    text: str
    count: Callable[[pa.Table, int], int]


def _compared(holds: Callable[[Ints, Ints], Bools]) -> Callable[[pa.Table, int], int]:
    """MSFT, ORCL and MSFT again at a price that holds beside the first."""

    def count(ticks: pa.Table, within: int) -> int:
        times, prices = _columns(ticks)
        msft = named(ticks, "MSFT")
        middles: Ints = np.cumsum(named(ticks, "ORCL"))
        firsts, lasts = pairs(msft, msft, times, within)
        between = middles[lasts] - middles[firsts]
        return int(np.sum(between, where=holds(prices[lasts], prices[firsts])))

    return count


def _rising(ticks: pa.Table, within: int) -> int:
    """Three IPIX in a row, each dearer than the one before."""
    times, prices = _columns(ticks)
    ipix = named(ticks, "IPIX")
    rises = (prices[1:] > prices[:-1]) & ipix[1:] & ipix[:-1]
    return int(np.sum(rises[1:] & rises[:-1] & (times[2:] - times[:-2] <= within)))


def _next(ticks: pa.Table, within: int) -> int:
    """After each INTC sold the next RIMM bought, and after that the next QQQ bought that is dearer than the INTC."""
    times, prices = _columns(ticks)
    middles, lasts = (np.flatnonzero(named(ticks, name, "BUY")) for name in ("RIMM", "QQQ"))
    found = 0
    for first in np.flatnonzero(named(ticks, "INTC", "SELL")):
        after = middles[np.searchsorted(middles, first) :]
        place = np.searchsorted(lasts, after[0]) if len(after) else len(lasts)
        while place < len(lasts) and prices[lasts[place]] <= prices[first]:
            place += 1
        found += bool(place < len(lasts) and times[lasts[place]] - times[first] <= within)
    return found


def _not_dearer(ticks: pa.Table, within: int) -> int:
    """MSFT sold, then AMAT sold, and no MSFT dearer than that in between."""
    times, prices = _columns(ticks)
    msft = np.flatnonzero(named(ticks, "MSFT"))
    firsts, lasts = pairs(named(ticks, "MSFT", "SELL"), named(ticks, "AMAT", "SELL"), times, within)
    begins, ends = np.searchsorted(msft, firsts, side="right"), np.searchsorted(msft, lasts)
    return sum(
        not np.any(prices[msft[begin:end]] > prices[first])
        for first, begin, end in zip(firsts, begins, ends, strict=True)
    )


def _both(ticks: pa.Table, within: int) -> int:
    """MSFT sold and AMAT sold for less, the second with no less volume."""
    times, prices = _columns(ticks)
    volumes = ticks["volume"].to_numpy()
    firsts, lasts = pairs(named(ticks, "MSFT", "SELL"), named(ticks, "AMAT", "SELL"), times, within)
    return int(np.sum((prices[lasts] < prices[firsts]) & (volumes[lasts] >= volumes[firsts])))


def _columns(ticks: pa.Table) -> tuple[Ints, Ints]:
    return ticks[TIME].to_numpy(), ticks["price"].to_numpy()


SELL = "type = 'SELL' AND name"
BUY = "type = 'BUY' AND name"
VARIANTS = {
    "dearer": Variant(
        "#([name = 'MSFT'] > r, [name = 'ORCL'], [name = 'MSFT' AND price > r.price])", _compared(operator.gt)
    ),
    "same": Variant(
        "#([name = 'MSFT'] > r, [name = 'ORCL'], [name = 'MSFT' AND price = r.price])", _compared(operator.eq)
    ),
    "strict .": Variant(
        "[name = 'IPIX'] > r . [name = 'IPIX' AND price > r.price] > s . [name = 'IPIX' AND price > s.price]",
        _rising,
    ),
    "next @": Variant(
        f"@([{SELL} = 'INTC'] > r, [{BUY} = 'RIMM'], [{BUY} = 'QQQ' AND price > r.price])", _next
    ),
    "not !": Variant(
        f"[{SELL} = 'MSFT'] > r . !(any* . [name = 'MSFT' AND price > r.price] . any*) . [{SELL} = 'AMAT']",
        _not_dearer,
    ),
    "both &": Variant(
        f"#([{SELL} = 'MSFT'] > r, [{SELL} = 'AMAT' AND price < r.price]) & #([TRUE] > s, [volume >= s.volume])",
        _both,
    ),
}
