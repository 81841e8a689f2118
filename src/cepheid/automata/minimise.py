"""Minimise: the determinised automaton with equivalent states merged.

In: a determiniser. Out: an automaton with the same interface, or None where there are too many states or classes of
events to explore all of them beforehand. Invariant: over every stream it gives the same matches, or for counting the
same number of them at each event. A strategy's automaton shrinks a lot: LAST over `A ; B ; C ; D` from 33 states to 4.
So does one that skips as SREMO does: in `#(a, b+, c)` a run is in one set of states after `b` and in another,
equivalent one after any other event; merged, they are one state that other events leave unchanged.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any

from cepheid.automata.automaton import Automaton, Predicate
from cepheid.automata.determinise import Determiniser
from cepheid.automata.determinise_registers import RegisterDeterminiser, without_idle
from cepheid.automata.deterministic import Class, Goal, Mark, Outcome, Place, RegisterAutomaton, Transitions
from cepheid.automata.guards import exclusions
from cepheid.automata.partition_refinement import numbered_by_first, refined
from cepheid.errors import CepheidError
from cepheid.state_checks import require

# States × classes that are worked out beforehand.
MOST_STEPS = 512
MOST_STEPS_WITH_REGISTERS = 16_384

Row = list[Transitions]  # of one state, by class


class Minimal:
    """A whole automaton: by state and class, its transitions."""

    def __init__(
        self,
        automaton: Determiniser | RegisterDeterminiser,
        columns: list[int],
        transitions: list[dict[Class, Transitions]],
    ) -> None:
        self.predicates, self.tests, self.labels = automaton.predicates, automaton.tests, automaton.labels
        self.windows, self.reads = automaton.windows, automaton.reads
        self._columns, self._transitions = columns, transitions
        self.classes: list[Class] | None = list(transitions[0])

    @property
    def is_idle_on_others(self) -> bool:
        return all(
            _waits(state, row[frozenset()], len(self.tests)) for state, row in enumerate(self._transitions)
        )

    def __len__(self) -> int:
        return len(self._columns)

    def columns(self, state: int) -> int:
        return self._columns[state]

    def transitions(self, state: int, satisfied: Class) -> Transitions:
        return self._transitions[state][satisfied]

    def save(self) -> list[Any]:
        """Nothing: it is the same for every run of the query."""
        return []

    def load(self, states: list[Any]) -> None:
        require(not states, "it has states of an automaton that has none to save")


def minimise(
    automaton: Determiniser | RegisterDeterminiser, labelled: bool = True, most_steps: int = MOST_STEPS
) -> Minimal | None:
    """The smallest automaton that gives the same matches, or without `labelled` the same number of them."""
    classes = possible_classes(automaton.predicates, most_steps)
    rows = None if classes is None else _explored(automaton, classes, most_steps)
    if classes is None or rows is None:
        return None
    columns = [automaton.columns(state) for state in range(len(rows))]
    if isinstance(automaton, Determiniser):
        # Strategies leave states whose partial matches can only lose. Saved states hold the numbers of the others.
        rows = _without_useless(rows)
        columns = [0] * len(rows)
    group = _groups(columns, rows, labelled)
    members = {number: state for state, number in reversed(list(enumerate(group)))}
    whole = [
        {
            satisfied: _grouped(transitions, group)
            for satisfied, transitions in zip(classes, rows[members[number]], strict=True)
        }
        for number in range(max(group) + 1)
    ]
    return Minimal(automaton, [columns[members[number]] for number in range(len(whole))], whole)


def register_automaton(automaton: Automaton, windowed: bool) -> RegisterAutomaton:
    """The smallest automaton that gives the same matches or, where there are too many states and classes to explore
    beforehand, one that is built on demand."""
    return minimal_with_registers(automaton, windowed) or RegisterDeterminiser(automaton, windowed)


@lru_cache(maxsize=64)
def minimal_with_registers(automaton: Automaton, windowed: bool) -> Minimal | None:
    return minimise(RegisterDeterminiser(automaton, windowed), most_steps=MOST_STEPS_WITH_REGISTERS)


def possible_classes(predicates: Sequence[Predicate], most: int) -> list[Class] | None:
    """All sets of predicates that one event can satisfy, as far as types and constants tell, the empty one first; None
    where there are more than `most`.

    >>> possible_classes([Predicate("A", None), Predicate("B", None)], 9)
    [frozenset(), frozenset({0}), frozenset({1})]
    """
    classes: dict[Class, None] = {frozenset(): None}
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


def _explored(
    automaton: Determiniser | RegisterDeterminiser, classes: list[Class], most_steps: int
) -> list[Row] | None:
    """The transitions of every state on every class; None where there are too many."""
    rows: list[Row] = []
    try:
        while len(rows) < len(automaton):
            if len(automaton) * len(classes) > most_steps:
                return None
            rows.append([automaton.transitions(len(rows), satisfied) for satisfied in classes])
    except CepheidError as error:
        if error.code != "too-large":
            raise
        return None
    return rows


def _without_useless(rows: list[Row]) -> list[Row]:
    """Drops states, except the start, from which no match can be completed. What leads back to the start, as an event
    does that a NOT forbids, leads to all that the start leads to."""
    entering = _entering(rows)
    waiting = [state for state, row in enumerate(rows) if any(map(_completes, row))]
    useful = set(waiting)
    while waiting:
        new = entering[waiting.pop()] - useful
        useful |= new
        waiting += new
    number = {state: place for place, state in enumerate(sorted(useful | {0}))}

    def kept(goal: Goal | None) -> Goal | None:
        return Goal(number[goal.state]) if goal is not None and goal.state in number else None

    return [[_renamed(transitions, kept) for transitions in rows[state]] for state in number]


def _entering(rows: list[Row]) -> dict[int, set[int]]:
    """By state, its predecessors."""
    entering: dict[int, set[int]] = defaultdict(set)
    for state, row in enumerate(rows):
        for goal in (goal for transitions in row for goal in transitions.goals):
            entering[goal.state].add(state)
    return entering


def _completes(transitions: Transitions) -> bool:
    return any(mark.accepts for outcome in transitions.outcomes for mark in outcome.marks)


def _groups(columns: list[int], rows: list[Row], labelled: bool) -> list[int]:
    """By state the number of its group, as coarse as can be: a group's states lead to the same groups. The start is
    in group 0."""
    entering = _entering(rows)

    def signature(state: int, group: list[int]) -> Hashable:
        grouped = (_grouped(transitions, group) for transitions in rows[state])
        return tuple(grouped) if labelled else tuple(map(_counted, grouped))

    return numbered_by_first(refined(numbered_by_first(columns), entering, signature))


def _counted(transitions: Transitions) -> Hashable:
    """How many partial matches lead where, and how many are completed, whatever their labels."""
    return transitions.asked, tuple(
        (frozenset(Counter(outcome.goals).items()), sum(mark.accepts for mark in outcome.marks))
        for outcome in transitions.outcomes
    )


def _grouped(transitions: Transitions, group: list[int]) -> Transitions:
    """The same with groups in place of states."""

    def moved(goal: Goal | None) -> Goal | None:
        return None if goal is None else Goal(group[goal.state], goal.place, goal.carry)

    return without_idle(_renamed(transitions, moved))


def _renamed(transitions: Transitions, name: Callable[[Goal | None], Goal | None]) -> Transitions:
    """The same with other goals, without marks that lead nowhere and complete nothing."""
    outcomes = []
    for outcome in transitions.outcomes:
        marks = (Mark(mark.label, name(mark.goal), mark.accepts) for mark in outcome.marks)
        kept = tuple(mark for mark in marks if mark.accepts or mark.goal is not None)
        outcomes.append(Outcome(name(outcome.skip), kept))
    return Transitions(transitions.asked, tuple(outcomes))


def _waits(state: int, transitions: Transitions, tests: int) -> bool:
    """Whether a partial match stays as it is, or ends because the event is outside a window. Then it ends at the next
    event of another class, too, and completes nothing until then."""
    stays, ends = Outcome(Goal(state, Place.STAY), ()), Outcome(None, ())
    only_windows = all(item.test >= tests for item in transitions.asked)
    return only_windows and transitions.outcomes[-1] == stays and set(transitions.outcomes) <= {stays, ends}
