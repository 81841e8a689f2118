"""Hashes of whole matches, 128 bits each: what two matches with the same events and labels have in common."""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import compiled
from cepheid.kernels.memory.hashing import SEED_HIGH, SEED_LOW, step


@compiled
def hash_matches(offsets, rows, labels, out_hashes):
    """`out_hashes[match]`: its two words."""
    for match in range(len(offsets) - 1):
        low, high = SEED_LOW, SEED_HIGH
        for k in range(offsets[match], offsets[match + 1]):
            low = step(step(low, np.uint64(rows[k])), np.uint64(labels[k]))
            high = step(step(high, np.uint64(rows[k])), np.uint64(labels[k]))
        out_hashes[match, 0] = np.int64(low)
        out_hashes[match, 1] = np.int64(high)
