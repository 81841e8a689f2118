"""The determinised automaton as dense programs for `kernels.loops.sliding.dense`, where it is small.

In: a deterministic automaton and the classes met so far. Out: per class the updates that move all runs at once. The
automaton is explored over these classes; None where it has too many states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

import numpy as np

from cepheid.automata.deterministic import Deterministic, Outcome, Transitions
from cepheid.kernels.loops.sliding.dense import Dense, Program
from cepheid.kernels.memory.carry_save import SPARE_BITS

Update = tuple[int, int, list[int]]  # target, factor, sources


def dense_automaton(
    automaton: Deterministic[Transitions], classes: list[frozenset[int]], most: int, words: int = 1
) -> Dense | None:
    """The programs of all classes, or None where the automaton has more than `most` states or lets numbers grow too
    fast. `words`: per number."""
    rows: list[list[Outcome]] = []
    while len(rows) < len(automaton):
        if len(automaton) > most:
            return None
        state = len(rows)
        rows.append([automaton.transitions(state, satisfied).outcomes[0] for satisfied in classes])
    forward = [_ordered(_forward(rows, klass), len(rows)) for klass in range(len(classes))]
    backward = [_ordered(_backward(rows, klass), len(rows)) for klass in range(len(classes))]
    written = (target for klass in (*forward, *backward) for target, _, _ in klass)
    height = max(len(rows), 1 + max(written, default=0))
    accepts = [
        [state for state, row in enumerate(rows) for mark in row[klass].marks if mark.accepts]
        for klass in range(len(classes))
    ]
    growth = np.array([_growth(updates) for updates in zip(forward, backward, strict=True)], np.int64)
    if growth[0] + max(growth) >= SPARE_BITS:
        return None
    return Dense(
        len(rows),
        height,
        words,
        _program(forward),
        _program(backward),
        _offsets(len(item) for item in accepts),
        _flat(accepts),
        growth,
    )


def _growth(directions: tuple[list[Update], ...]) -> int:
    """The bits by which the updates of a class can make the longest number longer."""
    most = max((factor + len(sources) for updates in directions for _, factor, sources in updates), default=1)
    return (most - 1).bit_length()


def _forward(rows: list[list[Outcome]], klass: int) -> dict[int, Counter[int]]:
    """By state, how often the numbers of other states go into its new one; states that stay as they are left out."""
    gains: dict[int, Counter[int]] = {state: Counter() for state in range(len(rows))}
    for state, row in enumerate(rows):
        for goal in row[klass].goals:
            gains[goal.state][state] += 1
    return _changing(gains)


def _backward(rows: list[list[Outcome]], klass: int) -> dict[int, Counter[int]]:
    """The transpose: by state, the states that a run is in after the event."""
    return _changing(
        {state: Counter(goal.state for goal in row[klass].goals) for state, row in enumerate(rows)}
    )


def _changing(gains: dict[int, Counter[int]]) -> dict[int, Counter[int]]:
    return {state: gain for state, gain in gains.items() if gain != Counter([state])}


def _ordered(gains: dict[int, Counter[int]], states: int) -> list[Update]:
    """A row may be overwritten only after the updates that read it. Where rows depend on each other in a cycle, those
    that are both read and written are first copied to rows below the states'."""
    readers = {
        state: [other for other, gain in gains.items() if other != state and state in gain] for state in gains
    }
    updates: list[Update] = []
    try:
        order = list(TopologicalSorter(readers).static_order())
    except CycleError:
        order = list(gains)
        copies = {state: states + k for k, state in enumerate(gains) if readers[state]}
        updates = [(copy, 0, [state]) for state, copy in copies.items()]
        gains = {
            state: Counter({copies.get(s, s) if s != state else s: n for s, n in gain.items()})
            for state, gain in gains.items()
        }
    for state in order:
        sources = [source for source, times in gains[state].items() if source != state for _ in range(times)]
        updates.append((state, gains[state][state], sources))
    return updates


def _program(classes: list[list[Update]]) -> Program:
    updates = [update for klass in classes for update in klass]
    return Program(
        _offsets(len(klass) for klass in classes),
        np.array([target for target, _, _ in updates], np.int64),
        np.array([factor for _, factor, _ in updates], np.int64),
        _offsets(len(sources) for _, _, sources in updates),
        _flat(sources for _, _, sources in updates),
    )


def _offsets(lengths: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.cumsum([0, *lengths], dtype=np.int64)


def _flat(lists: Iterable[list[int]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([item for items in lists for item in items], np.int64)
