"""Counts on a real stream of stock ticks, known from brute force. Skipped where the data is not beside the project."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cepheid

DATA = Path(__file__).parents[2] / "shared" / "data" / "stocks.parquet"
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the stock stream is not beside the project")

THREE = "(SELL AS x ; BUY AS y ; BUY AS z) FILTER x.name = 'INTC' AND y.name = 'RIMM' AND z.name = 'QQQ'"
KLEENE = (
    "(SELL AS x ; (BUY AS y FILTER y.name = 'RIMM')+ ; BUY AS z) FILTER x.name = 'INTC' AND z.name = 'QQQ'"
)
FOUR = (
    "(SELL AS x ; BUY AS y ; BUY AS z ; SELL AS w) "
    "FILTER x.name = 'MSFT' AND y.name = 'ORCL' AND z.name = 'CSCO' AND w.name = 'AMAT'"
)
KNOWN = {
    THREE: {500: 821, 1000: 3560, 2000: 11442, 5000: 99037},
    KLEENE: {500: 1369, 1000: 12589, 2000: 128584, 5000: 2238660353981},
    FOUR: {500: 80, 1000: 686, 2000: 3387, 5000: 76691},
}


@pytest.fixture(scope="module")
def stocks() -> pa.Table:
    return pq.read_table(DATA)


def text(pattern: str, within: int) -> str:
    return f"SELECT * FROM stocks WHERE {pattern} WITHIN {within}"


@pytest.mark.parametrize("pattern", KNOWN)
@pytest.mark.parametrize("within", [500, 1000, 2000, 5000])
def test_counts_are_those_of_brute_force(stocks: pa.Table, pattern: str, within: int) -> None:
    """The known counts have a condition between two events more; on this day it is true of all the matches."""
    assert cepheid.count(stocks, text(pattern, within), time="stock_time") == KNOWN[pattern][within]


@pytest.mark.parametrize("pattern", KNOWN)
def test_matches_are_as_many_as_counted_and_in_the_window(stocks: pa.Table, pattern: str) -> None:
    found = cepheid.match(stocks, text(pattern, 1000), time="stock_time")
    assert len(found) == KNOWN[pattern][1000]
    assert len(set(found["match_id"].to_pylist())) == len(found)
    assert np.max(found["end"].to_numpy() - found["start"].to_numpy()) <= 1000


def test_an_n_ary_condition_gives_the_known_count(stocks: pa.Table) -> None:
    """On the first part of the day only: the definition is slow."""
    part = stocks.slice(0, 20_000)
    unary = cepheid.match(part, text(THREE, 500), time="stock_time")
    prices = [unary[name].combine_chunks().field("price").to_numpy() for name in ("x", "z")]
    n_ary = text(f"{THREE} AND z.price > x.price", 500)
    assert cepheid.count(part, n_ary, time="stock_time") == int(np.sum(prices[1] > prices[0])) > 0
