"""Sequences over a day of real stock ticks, counted and enumerated; the numbers of matches are known from brute force.

They are those of the data's README without the comparison of two prices, so that the compact evaluator takes them; with
it they are in `registers_window` and `registers_kleene`. On that day it is always true (`check_prices`), so the counts
there are the right ones here.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.checks import Check
from bench.results import Report, Row, Setting
from bench.tables import MEASURED, measured, millions
from bench.ticks import MISSING, STOCKS
from bench.work import counted, enumerated

MOST_MATCHES = 5_000_000  # enumeration is skipped where there are more


def _trade(type: str, name: str, variable: str) -> str:
    return f"({type} AS {variable} FILTER {variable}.name = '{name}')"


FORMULAS = {
    "sequence": f"{_trade('SELL', 'INTC', 'x')} ; {_trade('BUY', 'RIMM', 'y')} ; {_trade('BUY', 'QQQ', 'z')}",
    "iteration": f"{_trade('SELL', 'INTC', 'x')} ; {_trade('BUY', 'RIMM', 'y')}+ ; {_trade('BUY', 'QQQ', 'z')}",
    "four": f"{_trade('SELL', 'MSFT', 'x')} ; {_trade('BUY', 'ORCL', 'y')} ; {_trade('BUY', 'CSCO', 'z')} ; "
    f"{_trade('SELL', 'AMAT', 'w')}",
}
KNOWN = {
    ("sequence", 500): 821,
    ("sequence", 5_000): 99_037,
    ("iteration", 500): 1_369,
    ("iteration", 5_000): 2_238_660_353_981,
    ("iteration", 10_000): 5_160_977_526_575_608,
    ("four", 500): 80,
    ("four", 5_000): 76_691,
}


def run(setting: Setting) -> Report:
    title = "a day of stock ticks, window in ms; count, and enumeration of whole events"
    header = ("", *MEASURED, "matched\nevents/s", "matches/s")
    if not STOCKS.exists():
        return Report("stocks", title, header, [], [], MISSING)
    pairs = setting.each(one, [(name, within, setting.repeats) for name, within in KNOWN])
    lines = []
    for count, matching in pairs:
        rates = (
            (millions(matching.events_per_s), millions(matching.matches_per_s)) if matching else ("–", "–")
        )
        lines.append((count.name, *measured(count, setting.calibration), *rates))
    return Report(
        "stocks",
        title,
        header,
        lines,
        [row for pair in pairs for row in pair if row is not None],
        "Look at ns/event: the same for all windows, while matches go from 80 to 5 × 10¹⁵. Matched events/s: with "
        f"every match made, where there are at most {MOST_MATCHES:,}.",
    )


def one(name: str, within: int, repeats: int) -> tuple[Row, Row | None]:
    count = counted_stocks(name, within, repeats)
    if count.matches > MOST_MATCHES:
        return count, None
    table = stocks()
    check = Check(count.checked, count.matches)
    return count, enumerated(
        f"{count.name}, matches", table, _query(name, within), check, repeats, time="stock_time"
    )


def counted_stocks(name: str, within: int, repeats: int) -> Row:
    check = Check("whole stream, by brute force", KNOWN[name, within])
    return counted(
        f"{name} {within}", stocks(), _query(name, within), check, repeats, time="stock_time", window=within
    )


def _query(name: str, within: int) -> str:
    return f"SELECT * FROM s WHERE {FORMULAS[name]} WITHIN {within}"


def stocks() -> pa.Table:
    table = pq.read_table(STOCKS, use_threads=False)
    check_prices(table)
    return table


def check_prices(table: pa.Table) -> None:
    """QQQ was dearer than INTC all day, and AMAT cheaper than MSFT."""

    def prices(type: str, name: str) -> dict[str, float]:
        chosen = table.filter((pc.field("type") == type) & (pc.field("name") == name))["price"]
        return {key: float(value) for key, value in pc.min_max(chosen).as_py().items()}

    assert prices("BUY", "QQQ")["min"] > prices("SELL", "INTC")["max"]
    assert prices("SELL", "AMAT")["max"] < prices("SELL", "MSFT")["min"]
