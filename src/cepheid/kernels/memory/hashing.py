"""128-bit hashes of numbers and bytes: the same on every machine, run and cluster.

Two 64-bit streams with different constants; each step is the finaliser of splitmix64.
"""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import compiled

SEED_LOW = np.uint64(0x9E3779B97F4A7C15)
SEED_HIGH = np.uint64(0xC2B2AE3D27D4EB4F)
_A = np.uint64(0xBF58476D1CE4E5B9)
_B = np.uint64(0x94D049BB133111EB)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


@compiled
def mix(value):
    value = (value ^ (value >> _30)) * _A
    value = (value ^ (value >> _27)) * _B
    return value ^ (value >> _31)


@compiled
def step(state, value):
    """The hash of a sequence one value longer."""
    return mix(state * _A + (value + SEED_LOW))


@compiled
def hash_words(words, out_low, out_high):
    """A hash per row of a matrix of whole numbers."""
    for i in range(words.shape[0]):
        low, high = SEED_LOW, SEED_HIGH
        for k in range(words.shape[1]):
            low = step(low, np.uint64(words[i, k]))
            high = step(high, np.uint64(words[i, k]))
        out_low[i] = np.int64(low)
        out_high[i] = np.int64(high)


@compiled
def hash_bytes(data, begin, end, seed):
    state = seed
    for i in range(begin, end):
        state = (state ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    return mix(state + np.uint64(end - begin))


@compiled
def hash_events(key_low, key_high, ties, ranks, out_low, out_high):
    """What an event is known by: its partition's key, its time, its rank among that partition's events of the time."""
    for i in range(len(ties)):
        low = step(step(np.uint64(key_low[i]), np.uint64(ties[i])), np.uint64(ranks[i]))
        high = step(step(np.uint64(key_high[i]) + SEED_HIGH, np.uint64(ties[i])), np.uint64(ranks[i]))
        out_low[i] = np.int64(low)
        out_high[i] = np.int64(high)
