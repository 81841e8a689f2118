"""The heap of a walk gives its entries by row, and only those from its own place on."""

from __future__ import annotations

import numpy as np
import pytest

from cepheid.kernels.matches.first_by_positions import H_FROM, H_ROW, H_WORDS, drop_least, put


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
def test_entries_come_by_row_whatever_lies_before_them(count: int) -> None:
    random = np.random.default_rng(count)
    first, rows = 5, random.integers(0, count, count)
    heap = np.full((first + count, H_WORDS), -1)
    end = first
    for place, row in enumerate(rows.tolist()):
        end = put(heap, first, end, row, 0, 0, place)
    taken = []
    while end > first:
        taken.append((int(heap[first, H_ROW]), int(heap[first, H_FROM])))
        end = drop_least(heap, first, end)
    assert [row for row, _ in taken] == sorted(rows.tolist())
    assert sorted(place for _, place in taken) == list(range(count))
    assert all(rows[place] == row for row, place in taken)
    assert (heap[:first] == -1).all()
