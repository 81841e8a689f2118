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


# The same with the condition between two events, on the evaluator that compares them.
COMPARED = {
    f"{THREE} AND z.price > x.price": KNOWN[THREE],
    f"{KLEENE} AND z.price > x.price": KNOWN[KLEENE],
    f"{FOUR} AND w.price < x.price": KNOWN[FOUR],
}
SREMO = {
    "#([type = 'SELL' AND name = 'INTC'] > r, [type = 'BUY' AND name = 'RIMM'], "
    "[type = 'BUY' AND name = 'QQQ' AND price > r.price])": KNOWN[THREE],
    "#([type = 'SELL' AND name = 'INTC'] > r, [type = 'BUY' AND name = 'RIMM']+, "
    "[type = 'BUY' AND name = 'QQQ' AND price > r.price])": KNOWN[KLEENE],
    "#([type = 'SELL' AND name = 'MSFT'] > r, [type = 'BUY' AND name = 'ORCL'], "
    "[type = 'BUY' AND name = 'CSCO'], [type = 'SELL' AND name = 'AMAT' AND price < r.price])": KNOWN[FOUR],
}
SHAPES = ("three", "kleene", "four")
WINDOWS = (500, 1000, 2000, 5000)


@pytest.mark.parametrize("pattern", COMPARED, ids=SHAPES)
@pytest.mark.parametrize("within", WINDOWS)
def test_filters_that_compare_give_the_known_counts(stocks: pa.Table, pattern: str, within: int) -> None:
    query = cepheid.query(text(pattern, within))
    assert query.engine(stocks.schema, time="stock_time").plan.evaluator == "configurations"
    assert cepheid.count(stocks, query, time="stock_time") == COMPARED[pattern][within]


@pytest.mark.parametrize("pattern", SREMO, ids=SHAPES)
@pytest.mark.parametrize("within", WINDOWS)
def test_registers_give_the_known_counts(stocks: pa.Table, pattern: str, within: int) -> None:
    query = f"{pattern} WITHIN {within}"
    assert cepheid.count(stocks, query, time="stock_time") == SREMO[pattern][within]


@pytest.mark.parametrize("shape", [0, 1, 2], ids=SHAPES)
def test_both_languages_find_the_same_events_as_often_as_counted(stocks: pa.Table, shape: int) -> None:
    pattern, registers = list(COMPARED)[shape], list(SREMO)[shape]
    found, again = (
        cepheid.match(stocks, query, time="stock_time", positions=True, columns=["positions", "start", "end"])
        for query in (text(pattern, 1000), f"{registers} WITHIN 1000")
    )
    assert len(found) == COMPARED[pattern][1000]
    assert sorted(found["positions"].to_pylist()) == sorted(again["positions"].to_pylist())
    assert np.max(found["end"].to_numpy() - found["start"].to_numpy()) <= 1000


def test_a_condition_that_rejects_some_matches_is_heard(stocks: pa.Table) -> None:
    """The condition of the known counts is true of all their matches; this one is not."""
    unary = cepheid.match(stocks, text(THREE, 500), time="stock_time")
    volumes = [unary[name].combine_chunks().field("volume").to_numpy() for name in ("x", "z")]
    n_ary = text(f"{THREE} AND z.volume > x.volume", 500)
    expected = int(np.sum(volumes[1] > volumes[0]))
    assert 0 < expected < len(unary)
    assert cepheid.count(stocks, n_ary, time="stock_time") == expected
