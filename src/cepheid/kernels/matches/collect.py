"""Dropping nodes that nothing leads to, and the rows that are left."""

from __future__ import annotations

import numpy as np

from cepheid.kernels.compiled import compiled, inlined, inner
from cepheid.kernels.matches.nodes import (
    BEGIN,
    FIRST,
    JOIN,
    LABEL_BITS,
    N_BEFORE,
    N_EVENT,
    N_OTHER,
    N_WORDS,
    NONE,
    put_node,
)


@inlined
def mark_reached(nodes, base, count, numbers):
    """Sets `numbers` to 1 of all nodes that those lead to for which it is not 0. Nodes point to older ones, so one way
    down finds all."""
    for number in range(count - 1, BEGIN, -1):
        if numbers[number] != 0:
            at = base + number * N_WORDS
            numbers[nodes[at + N_BEFORE]] = 1
            numbers[nodes[at + N_OTHER]] = 1


@inner
def drop_unreached(nodes, base, count, numbers):
    """Keeps the nodes for which `numbers` is not 0 and those that they lead to, in order and without gaps, and sets
    `numbers` to their new ones: how many nodes there are then, NONE and BEGIN included."""
    mark_reached(nodes, base, count, numbers)
    numbers[NONE] = NONE
    numbers[BEGIN] = BEGIN
    kept = FIRST
    for number in range(FIRST, count):
        if numbers[number] == 0:
            continue
        at = base + number * N_WORDS
        before, other = numbers[nodes[at + N_BEFORE]], numbers[nodes[at + N_OTHER]]
        put_node(nodes, base + kept * N_WORDS, nodes[at + N_EVENT], before, other)
        numbers[number] = kept
        kept += 1
    return kept


@compiled
def reach(nodes, base, numbers):
    """Sets `numbers` of all nodes to 1 that those lead to for which it is not 0."""
    mark_reached(nodes, base, len(numbers), numbers)


def rows_of_events(events: np.ndarray) -> np.ndarray:
    """The rows of the events of nodes, ascending."""
    return np.unique(events[events != JOIN] >> LABEL_BITS)
