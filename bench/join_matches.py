"""The sequence of three as joins that give its matches: with DuckDB, with polars, and with polars by ranges.

In: the ticks as an Arrow table, with a column `row` that numbers them, since times have ties. Out: a table with the
rows of each match, or with all columns of its three events. DuckDB and polars join on time buckets as long as the
window, an event that comes later being in its own bucket and in the one before. By ranges only the first and the last
event are joined; the middle ones of a pair lie in one range of a sorted column, which serves as long as no condition
reads them. A join on inequalities alone takes DuckDB minutes.
"""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import polars as pl
import pyarrow as pa

from bench.join import TRADES
from bench.ticks import COLUMNS, TIME

READ = ("row", "type", "name", "price", TIME)
VARIABLES = "xyz"


def by_duckdb(threads: int) -> Callable[[pa.Table, int, bool], pa.Table]:
    """Joins on a connection that has so many threads."""
    connection = duckdb.connect(config={"threads": threads})
    connection.execute("SET preserve_insertion_order = false")

    def join(ticks: pa.Table, within: int, whole: bool) -> pa.Table:
        connection.register("ticks", ticks)
        return connection.sql(_sql(within, whole)).to_arrow_table()

    return join


def _sql(within: int, whole: bool) -> str:
    names = COLUMNS if whole else ("row",)
    shown = ", ".join(f"{variable}.{name} AS {variable}_{name}" for variable in VARIABLES for name in names)
    first, middle, last = (
        f"SELECT *, {TIME} // {within} AS bucket FROM ticks WHERE type = '{type}' AND name = '{name}'"
        for type, name in TRADES
    )
    later = "SELECT * FROM {0} UNION ALL SELECT * REPLACE (bucket - 1 AS bucket) FROM {0}"
    return f"""
        WITH x AS ({first}), middle AS ({middle}), last AS ({last}),
        y AS ({later.format("middle")}), z AS ({later.format("last")})
        SELECT {shown} FROM x
        JOIN y ON y.bucket = x.bucket AND y.row > x.row AND y.{TIME} <= x.{TIME} + {within}
        JOIN z ON z.bucket = x.bucket AND z.row > y.row AND z.{TIME} <= x.{TIME} + {within}
            AND z.price > x.price
    """


def by_polars(ticks: pa.Table, within: int, whole: bool) -> pl.DataFrame:
    """Two joins."""
    first, middle, last = _trades(ticks, within)
    near = (pl.concat([each, each.with_columns(pl.col("bucket") - 1)]) for each in (middle, last))
    joined = first
    for each, variable, before in zip(near, "yz", ("row", "row_y"), strict=True):
        joined = joined.join(each, on="bucket", suffix=f"_{variable}").filter(
            pl.col(f"row_{variable}") > pl.col(before),
            pl.col(f"{TIME}_{variable}") - pl.col(TIME) <= within,
        )
    matching = joined.filter(pl.col("price_z") > pl.col("price"))
    rows = matching.select(x_row="row", y_row="row_y", z_row="row_z").collect()
    return _events(ticks, rows) if whole else rows


def by_ranges(ticks: pa.Table, within: int, whole: bool) -> pl.DataFrame:
    """One join, and a range of middle events for each pair."""
    first, middle, last = pl.collect_all(_trades(ticks, within))
    first, last = (
        each.with_columns(before=middle["row"].search_sorted(each["row"]).cast(pl.Int64))
        for each in (first, last)
    )
    last = pl.concat([last, last.with_columns(pl.col("bucket") - 1)])
    pairs = (
        first.lazy()
        .join(last.lazy(), on="bucket", suffix="_z")
        .filter(
            pl.col("before_z") > pl.col("before"),
            pl.col(f"{TIME}_z") - pl.col(TIME) <= within,
            pl.col("price_z") > pl.col("price"),
        )
    )
    between = pl.int_ranges("before", "before_z", dtype=pl.UInt32)
    ranges = pairs.select("row", "row_z", between=between).explode("between").collect()
    rows = pl.DataFrame(
        {"x_row": ranges["row"], "y_row": middle["row"].gather(ranges["between"]), "z_row": ranges["row_z"]}
    )
    return _events(ticks, rows) if whole else rows


def _trades(ticks: pa.Table, within: int) -> list[pl.LazyFrame]:
    frame = pl.DataFrame(pl.from_arrow(ticks.select(READ))).lazy()
    return [
        frame.filter(pl.col("name") == name, pl.col("type") == type).select(
            "row", "price", TIME, bucket=pl.col(TIME) // within
        )
        for type, name in TRADES
    ]


def _events(ticks: pa.Table, rows: pl.DataFrame) -> pl.DataFrame:
    frame = pl.DataFrame(pl.from_arrow(ticks.select(COLUMNS)))
    events = [
        frame[rows[f"{each}_row"]].rename({name: f"{each}_{name}" for name in COLUMNS}) for each in VARIABLES
    ]
    return pl.concat(events, how="horizontal")
