"""Matches are shown to people with their events, long iterations folded, markup in the data harmless."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
from rich.console import Console

import cepheid
from cepheid.cli.table import matches_table


def shown(table: pa.Table, query: str, width: int = 100) -> str:
    matches = cepheid.match(table, query, time="ts")
    screen = Console(width=width, color_system=None)
    with screen.capture() as captured:
        screen.print(matches_table(matches, "ts", hide=("type",)))
    return captured.get()


def test_events_are_listed_under_their_variable() -> None:
    times = [dt.datetime(2024, 7, 1, 12, 0, second, 500_000) for second in range(2)]
    table = pa.table({"ts": times, "type": ["T", "H"], "tmp": [45.25, None], "hum": [None, 20]})
    text = shown(table, "SELECT * FROM farm WHERE T AS x ; H AS y")
    assert "2024-07-01 12:00:00 " in text
    assert "x  12:00:00.500  tmp=45.25" in text
    assert "y  12:00:01.500  hum=20" in text


def test_a_long_iteration_is_folded() -> None:
    table = pa.table({"ts": range(12), "type": ["A"] * 11 + ["B"]})
    text = shown(table, "SELECT MAX * FROM s WHERE (A AS x)+ ; B AS y")
    assert "… 7 more" in text
    assert "x  10" in text
    assert "x  5" not in text


def test_text_that_looks_like_markup_is_shown_as_it_is() -> None:
    table = pa.table({"ts": [1], "type": ["A"], "[red]": ["[/bold]ü"]})
    assert "[red]=[/bold]ü" in shown(table, "SELECT * FROM s WHERE A AS x")


def test_what_a_terminal_would_obey_is_written_out() -> None:
    table = pa.table({"ts": [1], "type": ["A"], "a\tb": ["\x1b[31mred\n\u202eé"], "k\r": ["\x9b"]})
    text = shown(table, 'SELECT * FROM s WHERE A AS x PARTITION BY "k\r"')
    assert r"a\tb=\x1b[31mred\n\u202eé" in text
    assert r"k\r" in text
    assert all(line.isprintable() for line in text.split("\n"))


def test_a_table_fits_80_columns_and_nothing_is_cut() -> None:
    times = pa.array([0, 1_000_000], pa.timestamp("us", "Europe/Berlin"))
    texts = ["".join(f"{n:03}" for n in range(40)), "short"]
    table = pa.table(
        {"ts": times, "type": ["A", "B"], "key": ["k" * 30] * 2, "other key": [1, 1], "text": texts}
    )
    text = shown(table, 'SELECT * FROM s WHERE A AS x ; B AS y PARTITION BY key, "other key"', width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    joined = "".join(line.split("│")[-2].strip() for line in text.splitlines() if "│" in line)
    assert texts[0] in joined
    assert "1970-01-01 01:00:00" in text
    assert "1970-01-01 01:00:01" in text


def test_the_zone_of_the_times_is_shown_where_there_is_one() -> None:
    zoned = pa.table({"ts": pa.array([0], pa.timestamp("us", "Asia/Tokyo")), "type": ["A"]})
    query = "SELECT * FROM s WHERE A AS x"
    assert "(Asia/Tokyo)" in shown(zoned, query)
    assert "(" not in shown(zoned.set_column(0, "ts", pa.array([0], pa.timestamp("us"))), query)
