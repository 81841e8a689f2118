"""Two lists whose hashes are the same are still two: a slot is its list's only when partition and values are."""

from __future__ import annotations

import numpy as np
import pytest

from cepheid.kernels.loops.linked.index import find_slot
from cepheid.kernels.loops.linked.layout import I_EQUAL, I_FIELDS, V_CODES, V_PARTITION, Shape

ONE, OTHER = 8, 24  # two vertices


def shape() -> Shape:
    """One index over one link, and nothing else that a search reads."""
    indices = np.zeros((1, I_FIELDS), np.int64)
    indices[0, I_EQUAL] = 1
    none = np.zeros((1, 1), np.int64)
    return Shape(indices, none, none, none, none, none, none[0], none[0], 1, 0)


@pytest.mark.parametrize(("partition", "value", "same"), [(0, 5, True), (1, 5, False), (0, 6, False)])
def test_a_slot_with_the_same_hash_is_another_list(partition: int, value: int, same: bool) -> None:
    heap, slots = np.zeros(64, np.int64), np.zeros(16, np.int64)
    heap[ONE + V_PARTITION], heap[ONE + V_CODES] = 0, 5
    heap[OTHER + V_PARTITION], heap[OTHER + V_CODES] = partition, value
    made = shape()
    slot, tag = find_slot(heap, slots, made, 0, made.equal_right, partition, OTHER)
    slots[2 * slot], slots[2 * slot + 1] = tag, ONE  # as if both had one hash
    found, _ = find_slot(heap, slots, made, 0, made.equal_right, partition, OTHER)
    assert (found == slot) == same
