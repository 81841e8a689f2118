"""The determinised automaton with as few states as do: those that nothing later can tell apart are one.

In: a determiniser, the predicates of its automaton. Out: an automaton with the same interface, or None where there
are too many states or classes of events to go through all of them beforehand.
Invariant: over every stream it gives the same matches, or for counting the same number of them at each event. A
strategy's automaton shrinks a lot: LAST over `A ; B ; C ; D` from 33 states to 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from cepheid.automata.cea import Predicate
from cepheid.automata.determinise import Determiniser, Move, Moves, States
from cepheid.automata.srt_guards import exclusions
from cepheid.state_checks import require

MOST_STEPS = 512  # states × classes that are worked out beforehand


class Automaton(Protocol):
    """What the evaluator needs of a deterministic automaton. State 0 is the start."""

    def __len__(self) -> int: ...

    def moves(self, state: int, satisfied: States) -> Moves: ...

    def save(self) -> list[Any]: ...

    def load(self, states: list[Any]) -> None: ...


class Minimal:
    """A whole automaton: by state and set of satisfied predicates, its moves."""

    def __init__(self, moves: list[dict[States, Moves]]) -> None:
        self._moves = moves

    def __len__(self) -> int:
        return len(self._moves)

    def moves(self, state: int, satisfied: States) -> Moves:
        return self._moves[state][satisfied]

    def save(self) -> list[Any]:
        """Nothing: it is the same for every run of the query."""
        return []

    def load(self, states: list[Any]) -> None:
        require(not states, "its automaton has states of its own")


def minimise(automaton: Determiniser, labelled: bool, most_steps: int = MOST_STEPS) -> Minimal | None:
    """The smallest automaton that gives the same matches, or without `labelled` the same number of them."""
    classes = possible_classes(automaton.cea.predicates, most_steps)
    if classes is None:
        return None
    moves: list[list[Moves]] = []
    while len(moves) < len(automaton):
        if len(automaton) * len(classes) > most_steps:
            return None
        moves.append([automaton.moves(len(moves), satisfied) for satisfied in classes])
    moves = _without_useless(moves)
    group = _groups(moves, labelled)
    members = {number: state for state, number in reversed(list(enumerate(group)))}
    return Minimal(
        [
            {
                satisfied: _renumbered(row, group)
                for satisfied, row in zip(classes, moves[members[number]], strict=True)
            }
            for number in range(max(group) + 1)
        ]
    )


def possible_classes(predicates: Sequence[Predicate], most: int) -> list[States] | None:
    """All sets of predicates that one event can satisfy, as far as types and constants tell, the empty one first; None
    where there are more than `most`.

    >>> possible_classes([Predicate("A", None), Predicate("B", None)], 9)
    [frozenset(), frozenset({0}), frozenset({1})]
    """
    classes: dict[States, None] = {frozenset(): None}
    excluded = exclusions(predicates)
    for type in dict.fromkeys([None, *(predicate.type for predicate in predicates)]):
        able = [number for number, predicate in enumerate(predicates) if predicate.type in (None, type)]
        found = [frozenset(number for number in able if predicates[number].condition is None)]
        for number in able:
            if predicates[number].condition is not None:
                found += [known | {number} for known in found if known.isdisjoint(excluded[number])]
            if len(found) > most:
                return None
        classes |= dict.fromkeys(found)
    return list(classes) if len(classes) <= most else None


def _without_useless(moves: list[list[Moves]]) -> list[list[Moves]]:
    """No run goes on in a state from which no match can be completed any more."""
    useful: set[int] = set()
    grown = True
    while grown:
        grown = False
        for state, row in enumerate(moves):
            if state not in useful and any(
                step.skip in useful or any(move.accepts or move.target in useful for move in step.marks)
                for step in row
            ):
                useful.add(state)
                grown = True
    useful.add(0)

    def kept(step: Moves) -> Moves:
        marks = (
            Move(move.label, move.target if move.target in useful else None, move.accepts)
            for move in step.marks
        )
        return Moves(
            step.skip if step.skip in useful else None,
            tuple(move for move in marks if move.accepts or move.target is not None),
        )

    return [[kept(step) for step in row] if state in useful else [] for state, row in enumerate(moves)]


def _groups(moves: list[list[Moves]], labelled: bool) -> list[int]:
    """By state the number of its group, as coarse as can be: a group's states move to the same groups. The start is
    in group 0."""
    group = [0 if row else -1 for row in moves]
    while True:
        numbers: dict[Hashable, int] = {}
        finer = [
            numbers.setdefault(
                (group[state], *(_seen_from_outside(step, group, labelled) for step in row)), len(numbers)
            )
            if row
            else -1
            for state, row in enumerate(moves)
        ]
        if len(numbers) == len(set(group) - {-1}):
            return finer
        group = finer


def _seen_from_outside(step: Moves, group: list[int], labelled: bool) -> Hashable:
    """What a step does, in terms of groups: with labels, or only how many runs go where and how many are completed."""
    skip = None if step.skip is None else group[step.skip]
    marks = [
        (move.label, None if move.target is None else group[move.target], move.accepts) for move in step.marks
    ]
    if labelled:
        return skip, tuple(sorted(marks, key=str))
    reached = Counter(target for target in (skip, *(target for _, target, _ in marks)) if target is not None)
    return frozenset(reached.items()), sum(accepts for _, _, accepts in marks)


def _renumbered(step: Moves, group: list[int]) -> Moves:
    marks = (
        Move(move.label, None if move.target is None else group[move.target], move.accepts)
        for move in step.marks
    )
    return Moves(None if step.skip is None else group[step.skip], tuple(marks))
