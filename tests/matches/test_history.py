"""Rows kept for later matches are found again by their number, whatever was added and forgotten in between."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from cepheid.matches.history import HIDDEN, LANE, ROW, History, integers

SCHEMA = pa.schema([("v", pa.string())])


def rows(numbers: list[int]) -> pa.Table:
    hidden = {name: pa.array(numbers, pa.int64()) for name in HIDDEN}
    hidden[LANE] = pa.array([number % 5 for number in numbers], pa.int64())
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


def test_lanes_that_are_left_get_new_numbers_and_the_rows_of_others_go() -> None:
    history = History(SCHEMA)
    history.add(rows([0, 1, 2, 3, 4, 6]))
    history.renumber_lanes(np.array([1, 3]))
    assert integers(history.save(), ROW).tolist() == [1, 3, 6]
    assert integers(history.save(), LANE).tolist() == [0, 1, 0]
