"""Matches that all have the same labels get the ids that they would get one by one, in blocks of any size."""

from __future__ import annotations

import numpy as np
import pytest

from cepheid.kernels.matches.ids import BLOCK, match_ids, sequence_ids


@pytest.mark.parametrize("matches", [1, BLOCK - 1, BLOCK, 2 * BLOCK + 5])
@pytest.mark.parametrize("length", [1, 3])
def test_ids_of_sequences_are_those_of_any_matches(matches: int, length: int) -> None:
    random = np.random.default_rng(matches + length)
    places = random.integers(0, 50, (length, matches), np.uint32)
    event_hashes = random.integers(-(2**63), 2**63 - 1, (2, 50))
    label_hashes = random.integers(-(2**63), 2**63 - 1, (2, 5))
    labels = random.integers(0, 5, length).astype(np.int16)
    room, ids, expected = np.empty((4, BLOCK), np.uint64), *np.empty((2, 4 * matches), np.uint64)
    sequence_ids(places, *event_hashes, labels, *label_hashes, room, ids)
    offsets = np.arange(0, matches * length + 1, length)
    flat = np.ascontiguousarray(places.T).reshape(-1)
    match_ids(offsets, flat, *event_hashes, np.tile(labels, matches), *label_hashes, room, expected)
    assert ids.tolist() == expected.tolist()
    assert bytes(ids.tobytes()).decode("ascii").isalnum()
