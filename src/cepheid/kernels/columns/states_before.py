"""A finite automaton over letters, run in each partition: its state before each event."""

from __future__ import annotations

from cepheid.kernels.compiled import compiled


@compiled
def states_before(partitions, letters, skips, states, out_states):
    """`skips[state, letter]` is the next state, or -1: that the run is over, and so it stays. `states[partition]` are
    those after all events, `out_states` those before each."""
    for i in range(len(letters)):
        state = states[partitions[i]]
        out_states[i] = state
        if state >= 0:
            states[partitions[i]] = skips[state, letters[i]]
