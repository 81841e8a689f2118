"""The determinised register automaton with as few states as do: those that nothing later can tell apart are one.

In: an SRT. Out: the determinised automaton, worked out for every class of events that there can be, or as it is built
where it is asked for, if those are too many. It matters most for what SREMO's skipping makes: after `b` in
`#(a, b+, c)` a run is in one set of states and after any other event in another, which does the same; as one state it
takes no notice of other events at all.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import Any, Protocol

from cepheid.algebra.windows import Window
from cepheid.automata.cea import Predicate
from cepheid.automata.minimise import possible_classes
from cepheid.automata.refine import numbered_by_first, refined
from cepheid.automata.srt import SRT
from cepheid.automata.srt_determinise import (
    Choices,
    Goal,
    Marking,
    Outcome,
    Place,
    RegisterDeterminiser,
    without_idle,
)
from cepheid.errors import CepheidError
from cepheid.state_checks import require

MOST_STEPS = 16_384  # states × classes that are worked out beforehand

Classes = list[frozenset[int]]


class RegisterAutomaton(Protocol):
    """What the evaluator needs of a deterministic register automaton. State 0 is the start."""

    predicates: tuple[Predicate, ...]
    tests: tuple[Predicate, ...]
    windows: tuple[Window, ...]
    labels: tuple[frozenset[str], ...]
    reads: tuple[tuple[str, ...], ...]
    is_idle_on_others: bool
    classes: Classes | None
    """All classes of events that there can be, where that is known."""

    def __len__(self) -> int: ...

    def columns(self, state: int) -> int: ...

    def choices(self, state: int, satisfied: frozenset[int]) -> Choices: ...

    def save(self) -> list[Any]: ...

    def load(self, states: list[Any]) -> None: ...


class MinimalRegisters:
    """A whole automaton: by state and class, its choices."""

    def __init__(
        self,
        automaton: RegisterDeterminiser,
        columns: list[int],
        choices: list[dict[frozenset[int], Choices]],
    ) -> None:
        self.predicates, self.tests, self.windows = automaton.predicates, automaton.tests, automaton.windows
        self.labels, self.reads = automaton.labels, automaton.reads
        self._columns, self._choices = columns, choices
        self.classes: Classes | None = list(choices[0])
        self.is_idle_on_others = all(
            _waits(state, row[frozenset()], len(self.tests)) for state, row in enumerate(self._choices)
        )

    def __len__(self) -> int:
        return len(self._columns)

    def columns(self, state: int) -> int:
        return self._columns[state]

    def choices(self, state: int, satisfied: frozenset[int]) -> Choices:
        return self._choices[state][satisfied]

    def save(self) -> list[Any]:
        """Nothing: it is the same for every run of the query."""
        return []

    def load(self, states: list[Any]) -> None:
        require(not states, "its automaton has states of its own")


def register_automaton(srt: SRT, windowed: bool) -> RegisterAutomaton:
    """The smallest automaton that gives the same matches, or one that is built where it is asked for, where there
    is too much to look at beforehand."""
    return _minimal(srt, windowed) or RegisterDeterminiser(srt, windowed)


@lru_cache(maxsize=64)
def _minimal(srt: SRT, windowed: bool) -> MinimalRegisters | None:
    automaton = RegisterDeterminiser(srt, windowed)
    classes = possible_classes(automaton.predicates, MOST_STEPS)
    if classes is None:
        return None
    rows: list[list[Choices]] = []
    try:
        while len(rows) < len(automaton):
            if len(automaton) * len(classes) > MOST_STEPS:
                return None
            rows.append([automaton.choices(len(rows), satisfied) for satisfied in classes])
    except CepheidError as error:
        if error.code != "too-large":
            raise
        return None
    columns = [automaton.columns(state) for state in range(len(rows))]
    group = _groups(columns, rows)
    members = {number: state for state, number in reversed(list(enumerate(group)))}
    whole = [
        {
            satisfied: _grouped(choices, group)
            for satisfied, choices in zip(classes, rows[members[number]], strict=True)
        }
        for number in range(max(group) + 1)
    ]
    return MinimalRegisters(automaton, [columns[members[number]] for number in range(len(whole))], whole)


def _groups(columns: list[int], rows: list[list[Choices]]) -> list[int]:
    """By state the number of its group, as coarse as can be: a group's states move to the same groups. The start is
    in group 0."""
    entering: dict[int, set[int]] = defaultdict(set)
    for state, row in enumerate(rows):
        for goal in (goal for choices in row for goal in choices.goals):
            entering[goal.state].add(state)

    def signature(state: int, group: list[int]) -> tuple[Choices, ...]:
        return tuple(_grouped(choices, group) for choices in rows[state])

    return numbered_by_first(refined(numbered_by_first(columns), entering, signature))


def _grouped(choices: Choices, group: list[int]) -> Choices:
    """The same with groups in place of states."""

    def moved(goal: Goal | None) -> Goal | None:
        return None if goal is None else Goal(group[goal.state], goal.place, goal.carry)

    outcomes = [
        Outcome(
            moved(outcome.skip),
            tuple(Marking(mark.label, moved(mark.goal), mark.accepts) for mark in outcome.marks),
        )
        for outcome in choices.outcomes
    ]
    return without_idle(Choices(choices.asked, tuple(outcomes)))


def _waits(state: int, choices: Choices, tests: int) -> bool:
    """Whether a partial match stays as it is, or ends because the event is outside a window. Then it ends at the next
    event of another class, too, and completes nothing until then."""
    stays, ends = Outcome(Goal(state, Place.STAY), ()), Outcome(None, ())
    only_windows = all(item.test >= tests for item in choices.asked)
    return only_windows and choices.outcomes[-1] == stays and set(choices.outcomes) <= {stays, ends}
