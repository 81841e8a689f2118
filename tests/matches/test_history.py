"""Rows kept for later matches are found again by their number, whatever was added and forgotten in between."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from cepheid.matches.history import HIDDEN, History

SCHEMA = pa.schema([("v", pa.string())])


def rows(numbers: list[int]) -> pa.Table:
    hidden = {name: pa.array(numbers, pa.int64()) for name in HIDDEN}
    return pa.table({"v": pa.array([str(number) for number in numbers], pa.string()), **hidden})


@given(st.lists(st.lists(st.integers(1, 4), max_size=20), max_size=12), st.data())
def test_rows_are_found_by_their_number(steps: list[list[int]], data: st.DataObject) -> None:
    history, kept, last = History(SCHEMA), [], 0
    for batch in steps:
        numbers = np.cumsum([last, *batch])[1:].tolist()
        history.add(rows(numbers))
        kept, last = [*kept, *numbers], numbers[-1] if numbers else last
        if data.draw(st.booleans()):
            kept = [number for number in kept if data.draw(st.booleans())]
            history.keep(np.array(kept, np.int64))
        table, index = history.find(np.array(kept, np.int64))
        assert table["v"].take(pa.array(index)).to_pylist() == [str(number) for number in kept]
        assert len(history) == len(kept)


def test_numbers_far_apart_are_found_as_well() -> None:
    """Where a table of all numbers in between would be much longer than what is kept."""
    history, numbers = History(SCHEMA), [3, 50_000, 50_001, 9_000_000]
    history.add(rows(numbers))
    table, index = history.find(np.array([9_000_000, 3, 50_001], np.int64))
    assert table["v"].take(pa.array(index)).to_pylist() == ["9000000", "3", "50001"]
