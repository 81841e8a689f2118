"""Columns gathered by row number are what Arrow's `take` gives, whatever their types, and however many rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepheid.streams import gather as gather_module
from cepheid.streams.gather import gather

TEXTS = st.text(max_size=3) | st.text(min_size=7, max_size=9) | st.text(min_size=15, max_size=40)
VALUES = {
    pa.string(): TEXTS,
    pa.binary(): TEXTS.map(str.encode),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.floats(allow_nan=False),
    pa.timestamp("us"): st.integers(0, 2**50),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.bool_(): st.booleans(),
    pa.list_(pa.int64()): st.lists(st.integers(0, 9), max_size=3),
    pa.large_string(): TEXTS,
}


@given(st.sampled_from(list(VALUES)), st.booleans(), st.sampled_from([np.uint32, np.uint64]), st.data())
def test_values_are_those_that_arrow_takes(
    dtype: pa.DataType, nulls: bool, index: type, data: st.DataObject
) -> None:
    values = data.draw(
        st.lists(st.none() | VALUES[dtype] if nulls else VALUES[dtype], min_size=1, max_size=30)
    )
    column = pa.array(values, dtype)
    column = column.slice(data.draw(st.integers(0, len(column) - 1)))
    rows = np.array(data.draw(st.lists(st.integers(0, len(column) - 1), max_size=60)), index)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gather_module, "_FEW", data.draw(st.sampled_from([-1, 5])))
        gathered = gather(column, rows)
    gathered.validate(full=True)
    assert gathered.equals(column.take(pa.array(rows)))


def test_texts_too_long_for_one_array_are_left_to_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather_module, "_MOST_BYTES", 10)
    monkeypatch.setattr(gather_module, "_FEW", 0)
    assert gather(pa.array(["seven b"]), np.zeros(2, np.uint32)).to_pylist() == ["seven b"] * 2
