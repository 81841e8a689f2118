"""Columns that a query neither reads nor shows may hold anything; columns may have any name."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cepheid
from cepheid.errors import CepheidError

QUERY = "SELECT * FROM s WHERE A AS x ; B AS y"
ROWS = {"ts": [1, 2, 3], "type": ["A", "B", "B"]}


class Anything:
    """What no Arrow type holds."""


FRAMES = {
    "mixed": pd.DataFrame({**ROWS, "c": [1, "a", {}]}),
    "objects": pd.DataFrame({**ROWS, "c": [Anything()] * 3}),
    "complex": pd.DataFrame({**ROWS, "c": [1j, 2j, 3j]}),
    "sparse": pd.DataFrame({**ROWS, "c": pd.arrays.SparseArray([1.0, 0.0, 0.0])}),
    "int128": pl.DataFrame({**ROWS, "c": pl.Series([1, 2, 3], dtype=pl.Int128)}),
    "int128 inside": pl.DataFrame({**ROWS, "c": pl.Series([[1], [], None], dtype=pl.List(pl.Int128))}),
    "polars": pl.DataFrame({**ROWS, "c": pl.Series([Anything()] * 3, dtype=pl.Object)}),
    "lazy": pl.DataFrame({**ROWS, "c": pl.Series([Anything()] * 3, dtype=pl.Object)}).lazy(),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_column_that_cannot_be_read_matters_only_where_it_is_needed(name: str) -> None:
    frame = FRAMES[name]
    assert cepheid.count(frame, QUERY) == 2
    found = cepheid.match(frame, QUERY, columns=["start", "end"])
    found = found.collect() if name == "lazy" else found
    assert len(found) == 2
    with pytest.raises(CepheidError, match=r"(?s)bad-data.*column `c` .*hint: drop or cast the column"):
        cepheid.match(frame, QUERY)
    for reads in ("FILTER x.c = 1", "FILTER x.c IS NULL"):
        with pytest.raises(CepheidError):
            cepheid.count(frame, f"{QUERY} {reads}")
    for role in ("time", "type", "order"):
        with pytest.raises(CepheidError):
            cepheid.count(frame, QUERY, **{role: "c"})


NAMES = ("a.b", "`", "``x", "*", "a b", '"q"', "é", "v", "V", "select", "x", "", "1", "a\nb", "ſ", "s", "S")


def test_columns_may_have_any_name() -> None:
    """In conditions, as time, type, order and key, in both languages."""
    table = pa.table({name: [1, 2, 2] for name in NAMES})
    kinds = pa.array(["A", "B", "C"])
    for name in filter(None, NAMES):  # a column without a name can only be shown
        other = "V" if name == "v" else "v"
        quoted = '"' + name.replace('"', '""') + '"'
        backtick = "`" + name.replace("`", "``") + "`"
        typed = table.append_column("kind", kinds)
        for text in (
            f'SELECT * FROM s WHERE (A AS p ; B AS q) FILTER (p.{quoted} < q.{backtick} AND p."{other}" = 1)',
            f"SELECT * FROM s WHERE (A AS p ; B AS q) FILTER p.{backtick} = 1 PARTITION BY {quoted}",
        ):
            found = cepheid.match(typed, text, time=name, type="kind", order=name)
            assert len(found) == (0 if "PARTITION" in text else 1), text
        if len(found) == 1:
            assert found["p"].to_pylist()[0][name] == 1
        expression = f"#([kind = 'A' AND {quoted} = 1] > r, [kind = 'B' AND r.{backtick} < {backtick}])"
        assert cepheid.count(typed, expression, time=name, type=None, language="sremo") == 1
        by_type = table.drop_columns([name]).append_column(name, kinds)
        assert cepheid.count(by_type, "SELECT * FROM s WHERE A AS x ; B AS y", time=other, type=name) == 1
