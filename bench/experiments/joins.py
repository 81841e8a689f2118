"""All matches of a sequence of three, as rows of the stream or as whole events, beside joins in DuckDB and polars.

All take the same Arrow table, in turns, in one process with as many threads as each may use; the engine uses one.
Before anything is timed all are held to give the same matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa

import cepheid
from bench.join_matches import VARIABLES, by_duckdb, by_polars, by_ranges
from bench.register_counts import middles, sequences
from bench.register_rows import sizes
from bench.registers import sequence
from bench.results import Report, Row, Setting, Target
from bench.tables import shortened
from bench.ticks import COLUMNS, MISSING, STOCKS, TIME, day, repeated
from bench.timing import WrongCountError, measure_in_turns

OTHERS = ("DuckDB", "polars", "polars, ranges")
FORMS = ("rows", "whole events")
QUERY = (
    "SELECT * FROM s WHERE ((SELL AS x FILTER x.name = 'INTC') ; (BUY AS y FILTER y.name = 'RIMM') ; "
    "(BUY AS z FILTER z.name = 'QQQ')) FILTER z.price > x.price WITHIN {}"
)
Run = Callable[[], pa.Table | pl.DataFrame]


def run(setting: Setting) -> Report:
    title = "all matches of a sequence of three over stock ticks, beside joins: ms, and how many times ours"
    header = ("window, form, threads", "matches", "Cepheid", *OTHERS)
    if not STOCKS.exists():
        return Report("joins", title, header, [], [], MISSING)
    windows = setting.points([500, 1_000, 10_000], [1_000])
    groups = [
        group
        for threads in (1, 2)
        for group in setting.each(
            join_rows,
            [(within, form, threads, *sizes(setting)) for form in FORMS for within in windows],
            threads,
        )
    ]
    return Report(
        "joins",
        title,
        header,
        [_line(group) for group in groups],
        [row for group in groups for row in group],
        "Look at the ratios: above 1× the engine is ahead. Of one thread they compare CPU time, of two wall time.",
        [target for group in groups for target in _targets(group)],
    )


def join_rows(within: int, form: str, threads: int, events: int, copies: int, repeats: int) -> list[Row]:
    """The engine's row, parsing and planning included, and those of the joins."""
    part = day().slice(0, events)
    table = repeated(part, copies)
    ticks = table.append_column("row", pa.array(np.arange(len(table))))
    runs = dict(_runs(table, ticks, within, form, threads))
    expected = copies * sequences(middles(sequence(3), part, within))
    require_same({who: _flat(made()) for who, made in runs.items()})
    timings = measure_in_turns([partial(_number, made) for made in runs.values()], repeats, expected)
    parameters = {"window": within, "form": form, "threads": threads}
    return [
        Row(who, len(table), expected, table.nbytes, "by pairs", timing, parameters)
        for who, timing in zip(runs, timings, strict=True)
    ]


def _runs(
    table: pa.Table, ticks: pa.Table, within: int, form: str, threads: int
) -> Iterator[tuple[str, Run]]:
    whole, query = form == FORMS[1], QUERY.format(within)
    columns = None if whole else ["positions"]
    yield "Cepheid", lambda: cepheid.match(table, query, time=TIME, columns=columns)
    for who, join in zip(OTHERS, (by_duckdb(threads), by_polars, by_ranges), strict=True):
        yield who, partial(join, ticks, within, whole)


def _number(made: Run) -> int:
    return len(made())


def _flat(found: pa.Table | pl.DataFrame) -> pl.DataFrame:
    """One column for each event's row or for each attribute of each event."""
    if isinstance(found, pl.DataFrame):
        return found
    if "positions" in found.column_names:
        rows = pa.chunked_array([chunk.flatten() for chunk in found["positions"].chunks], pa.int64())
        places = rows.to_numpy().reshape(-1, len(VARIABLES))
        return pl.DataFrame({f"{each}_row": places[:, k] for k, each in enumerate(VARIABLES)})
    if "match_id" in found.column_names:
        events = {each: found[each].combine_chunks() for each in VARIABLES}
        found = pa.table(
            {f"{each}_{name}": events[each].field(name) for each in VARIABLES for name in COLUMNS}
        )
    return pl.DataFrame(pl.from_arrow(found))


def require_same(found: dict[str, pl.DataFrame]) -> None:
    """All give the same rows, in any order: as many, and the same sum of their hashes.

    >>> require_same({"one": pl.DataFrame({"x_row": [1, 2]}), "other": pl.DataFrame({"x_row": [1, 3]})})
    Traceback (most recent call last):
    bench.timing.WrongCountError: other and one give different matches, 2 and 2
    """
    (one, expected), *others = found.items()
    for other, given in others:
        given = given.cast(dict(expected.schema))
        if given.columns != expected.columns or _sum_of_hashes(given) != _sum_of_hashes(expected):
            message = f"{other} and {one} give different matches, {len(given):,} and {len(expected):,}"
            raise WrongCountError(message)


def _sum_of_hashes(frame: pl.DataFrame) -> tuple[int, int]:
    return len(frame), int(frame.hash_rows().to_numpy().sum(dtype=np.uint64))


def _seconds(row: Row) -> float:
    return row.timing.cpu_seconds if row.parameters["threads"] == 1 else row.timing.seconds


def _line(group: list[Row]) -> tuple[str, ...]:
    engine, *others = group
    about = engine.parameters
    name = f"{about['window']:,} ms, {about['form']}, {about['threads']}"
    ours = _seconds(engine)
    ratios = (f"{_seconds(row) * 1e3:,.0f}  {_seconds(row) / ours:.1f}×" for row in others)
    return name, shortened(engine.matches), f"{ours * 1e3:,.0f}", *ratios


def _targets(group: list[Row]) -> list[Target]:
    engine, *others = group
    about = engine.parameters
    threads = "one thread" if about["threads"] == 1 else f"{about['threads']} threads"
    name = f"joins, {about['window']:,} ms, {about['form']}, {threads}, beside"
    return [
        Target(
            f"{name} {row.name}", 1.0, _seconds(engine) / _seconds(row), "×", noisy=engine.noisy or row.noisy
        )
        for row in others
    ]
