"""NaN is a number and NULL is missing, in every frame; what is missing in a pandas frame is NULL."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cepheid

CONDITIONS = ["x.v IS NULL", "x.v <> 1", "NOT (x.v > 1)", "x.v = x.v", "coalesce(x.v, 7) = 7"]


def answers(data: Any) -> list[int]:
    return [cepheid.count(data, f"SELECT * FROM s WHERE s AS x FILTER {item}") for item in CONDITIONS]


def test_nan_and_null_are_told_apart_wherever_the_frame_can() -> None:
    table = pa.table({"ts": [1, 2, 3, 4], "v": [1.0, float("nan"), None, 2.0]})
    expected = [1, 2, 2, 2, 1]
    nullable = pd.DataFrame(
        {
            "ts": [1, 2, 3, 4],
            "v": pd.arrays.FloatingArray(
                np.array([1.0, np.nan, 1.0, 2.0]), np.array([False, False, True, False])
            ),
        }
    )
    for data in (
        table,
        pl.from_arrow(table),
        pl.from_arrow(table).lazy(),
        nullable,
        table.to_pandas(types_mapper=pd.ArrowDtype),
    ):
        assert answers(data) == expected


@pytest.mark.parametrize("missing", [np.nan, None], ids=str)
def test_a_missing_value_of_pandas_is_null_as_in_what_is_made_of_the_frame(missing: object) -> None:
    frame = pd.DataFrame({"ts": [1, 2, 3], "v": np.array([1.0, missing, 2.0], np.float64)})
    expected = [1, 1, 1, 2, 1]
    for data in (frame, pa.Table.from_pandas(frame), pl.from_pandas(frame), frame.convert_dtypes()):
        assert answers(data) == expected
