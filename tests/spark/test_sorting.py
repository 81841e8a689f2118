"""Rows of a partition come out in stream order, in memory or through files, and ties in order of arrival."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cepheid.errors import CepheidError
from cepheid.schema import schema_of
from cepheid.spark.sorting import ARRIVAL, in_stream_order

ROWS = 5_000


def shuffled(times: pa.Array, seed: int) -> tuple[pa.Table, pa.Table]:
    """A table in order of arrival, and its rows mixed up."""
    random = np.random.default_rng(seed)
    order = pa.array(random.integers(0, 3, len(times)))
    table = pa.table(
        {"ts": times, "n": order, ARRIVAL: np.arange(len(times)), "text": ["ü" * 5] * len(times)}
    )
    return table, table.take(pa.array(random.permutation(len(times))))


def known(table: pa.Table) -> pa.Schema:
    """The columns that users know of."""
    return table.drop_columns([ARRIVAL]).schema


@pytest.mark.parametrize("memory", [1 << 30, 40_000, 1])
@pytest.mark.parametrize("order", [None, "n"])
@pytest.mark.parametrize("dtype", [pa.int64(), pa.float64(), pa.timestamp("us", "UTC"), pa.date32()])
def test_rows_are_sorted_by_time_then_order_then_arrival(
    memory: int, order: str | None, dtype: pa.DataType
) -> None:
    numbers = np.random.default_rng(5).integers(-40, 40, ROWS)
    times = (
        pa.array(numbers.astype(np.int32))
        .cast(pa.int32() if dtype == pa.date32() else pa.int64())
        .cast(dtype)
    )
    table, mixed = shuffled(times, 7)
    schema = schema_of(known(table), time="ts", order=order)
    pieces = list(in_stream_order(mixed.to_batches(max_chunksize=300), schema, memory=memory))
    keys = [("ts", "ascending"), *([("n", "ascending")] if order else []), (ARRIVAL, "ascending")]
    assert pa.concat_tables(pieces).combine_chunks() == table.sort_by(keys).combine_chunks()
    ends = [piece["ts"][-1].as_py() for piece in pieces if len(piece)]
    begins = [piece["ts"][0].as_py() for piece in pieces if len(piece)]
    assert all(end < begin for end, begin in zip(ends, begins[1:], strict=False))
    assert memory > ROWS * 100 or len(pieces) > 1


def test_no_rows_give_no_tables() -> None:
    table, _ = shuffled(pa.array([], pa.int64()), 1)
    assert list(in_stream_order(iter([]), schema_of(known(table), time="ts"))) == []


def test_a_missing_time_is_refused() -> None:
    table, _ = shuffled(pa.array([1, None], pa.int64()), 1)
    with pytest.raises(CepheidError, match="is NULL"):
        list(in_stream_order(table.to_batches(), schema_of(known(table), time="ts")))
