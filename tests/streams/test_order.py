"""A stream in order is what Python's sort gives, whatever orders ties."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from cepheid.schema import schema_of
from cepheid.streams.order import first_unordered, sort_stream

ORDERS = {
    pa.int64(): st.integers(-2, 2),
    pa.int8(): st.integers(-2, 2),
    pa.uint64(): st.sampled_from([0, 2**63, 2**64 - 1]),
    pa.float64(): st.sampled_from([-0.0, 0.0, 1.5, math.inf, math.nan]),
    pa.float16(): st.sampled_from([0.0, 1.5]),
    pa.string(): st.sampled_from(["", "a", "b", "ä"]),
    pa.dictionary(pa.int32(), pa.string()): st.sampled_from(["b", "a", ""]),
    pa.timestamp("us"): st.integers(0, 2),
    pa.bool_(): st.booleans(),
    pa.null(): st.none(),
}


def key(time: float, value: Any) -> tuple[float, bool, bool, Any]:
    """NULL last, and before it NaN."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return time, value is None, is_nan, 0 if value is None or is_nan else value


@given(st.sampled_from(list(ORDERS)), st.booleans(), st.booleans(), st.data())
def test_rows_are_sorted_by_time_then_order_then_arrival(
    dtype: pa.DataType, is_ordered: bool, nulls: bool, data: st.DataObject
) -> None:
    values = st.none() | ORDERS[dtype] if nulls else ORDERS[dtype]
    times = data.draw(st.lists(st.integers(0, 4), max_size=30))
    if data.draw(st.booleans()):
        times.sort()
    column = pa.array([data.draw(values) for _ in times], dtype)
    table = pa.table({"ts": pa.array(times, pa.int64()), "by": column, "n": range(len(times))})
    cut = data.draw(st.integers(0, len(times)))
    table = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    schema = schema_of(table.schema, time="ts", order="by" if is_ordered else None)
    ordering = column.cast(pa.int64()) if pa.types.is_timestamp(dtype) else column
    keys = [
        key(time, value if is_ordered else None)
        for time, value in zip(times, ordering.to_pylist(), strict=True)
    ]
    expected = sorted(range(len(times)), key=keys.__getitem__)
    ordered = sort_stream(table, schema)
    ordered.validate(full=True)
    assert ordered["n"].to_pylist() == expected
    assert ordered.schema == table.schema
    # As text: NaN is not equal to itself.
    assert repr(ordered["by"].to_pylist()) == repr(
        table["by"].take(pa.array(expected, pa.int64())).to_pylist()
    )
    broken = [place for place in range(1, len(keys)) if keys[place] < keys[place - 1]]
    assert first_unordered(table, schema) == (broken[0] if broken else -1)
    assert first_unordered(ordered, schema) == -1
