"""Live words: the words of stored events that some later test may read, and by which partial matches differ.

In: a register automaton, explored for all classes of events, and the words of a record that each test reads. Out: by
state, the words that are read of each column before it is dropped. It is the liveness analysis of compilers, along
transitions that keep columns. Partial matches in one state that agree in these words have the same future.
"""

from __future__ import annotations

from collections.abc import Callable

from cepheid.automata.deterministic import NEW, Place, RegisterAutomaton, Transitions

Word = tuple[int, int]  # a column, from 1 on, and a word of it
Step = tuple[int, tuple[int, ...] | None]  # a state and the columns that are taken there; None: all stay


def live_words(
    automaton: RegisterAutomaton, read: Callable[[int, tuple[int, ...]], set[Word]]
) -> list[frozenset[Word]]:
    """By state, the words; `read`: those that a test reads of columns."""
    assert automaton.classes is not None
    live: list[set[Word]] = []
    steps: list[set[Step]] = []
    for state in range(len(automaton)):
        classes = [automaton.transitions(state, satisfied) for satisfied in automaton.classes]
        asked = {(item.test, item.columns) for one in classes for item in one.asked}
        live.append({word for test, columns in asked for word in read(test, columns) if word[0] > 0})
        steps.append({step for one in classes for step in _steps(one)})
    changed = True
    while changed:
        changed = False
        for state, ours in enumerate(live):
            before = len(ours)
            for target, carry in steps[state]:
                ours |= _taken(live[target], carry)
            changed |= len(ours) != before
    return [frozenset(words) for words in live]


def _steps(transitions: Transitions) -> set[Step]:
    return {
        (goal.state, goal.carry if goal.place is Place.OTHER else None)
        for goal in transitions.goals
        if goal.place is not Place.BASE
    }


def _taken(words: set[Word], carry: tuple[int, ...] | None) -> set[Word]:
    """The words by the columns that they were in before."""
    if carry is None:
        return words
    return {(carry[column - 1], word) for column, word in words if carry[column - 1] != NEW}
