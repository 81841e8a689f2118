"""The state of a partition's automaton before each event = one event after another, in any pieces."""

from __future__ import annotations

import numpy as np

from cepheid.kernels.columns.states_before import states_before


def test_the_states_before_events_are_those_of_the_runs_of_their_partitions() -> None:
    random = np.random.default_rng(5)
    for _ in range(20):
        skips = random.integers(-1, 4, (4, 3))
        partitions, letters = random.integers(0, 5, 60), random.integers(0, 3, 60)
        now, expected = [0] * 5, []
        for partition, letter in zip(partitions, letters, strict=True):
            expected.append(now[partition])
            if now[partition] >= 0:
                now[partition] = int(skips[now[partition], letter])
        states, found = np.zeros(5, np.int64), np.empty(60, np.int64)
        cut = int(random.integers(0, 61))
        for piece in (slice(0, cut), slice(cut, 60)):
            states_before(partitions[piece], letters[piece], skips, states, found[piece])
        assert (found.tolist(), states.tolist()) == (expected, now)
