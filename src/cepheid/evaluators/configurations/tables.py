"""The determinised register automaton as flat tables for `kernels.loops.registers.loop`.

In: the automaton and the classes of events met so far. Out: what each state does on each class, in full: the states
that can be reached over these classes are all met here, between two batches, so that the loop never asks for more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from cepheid.automata.deterministic import (
    NEW,
    ROOT,
    Goal,
    Outcome,
    Place,
    RegisterAutomaton,
    Transitions,
)
from cepheid.evaluators.configurations.live_words import Word, live_words
from cepheid.kernels.columns.events import BEGINS, ENDS, TURNS
from cepheid.kernels.loops.registers.layout import (
    BASE,
    NOWHERE,
    OTHER,
    S_COLUMNS,
    STAY,
    Goals,
    Layout,
    TransitionTables,
)
from cepheid.kernels.loops.vectors.layout import Turns
from cepheid.matches.match_arrays import Ints
from cepheid.state_checks import require

_PLACES = {Place.STAY: STAY, Place.BASE: BASE, Place.OTHER: OTHER}
_NONE = -2  # in place of a column to take along: there are no more


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the events that a slot remembers lie in it: `column` words each, the first only where there is a
    window."""

    column: int
    windowed: bool

    @property
    def home(self) -> int:
        return self.column if self.windowed else 0

    def at(self, column: int) -> int:
        return S_COLUMNS + (0 if column == 0 else self.home + (column - 1) * self.column)

    def end(self, columns: int) -> int:
        """The word after those of a slot that remembers so many beside the first."""
        return self.at(columns + 1)


class Tables:
    """`transitions`, `turns` and `layout` as of the last `fit`; `notices[class]` says whether any state takes notice of
    it, `roles[class]` what its events can do, as `kernels.columns.events.keep_near` takes it, and `once[class]` whether
    a second one directly after the first changes nothing."""

    def __init__(
        self,
        automaton: RegisterAutomaton,
        order: Sequence[tuple[int, ...]],
        columns: Columns,
        sums_starts: bool,
        equality: Callable[[int], tuple[int, int, int] | None],
        reads: Callable[[int], tuple[tuple[int, ...], ...]],
    ) -> None:
        """`order[test]`: the places of its registers, in the order its program numbers them. With `sums_starts`
        numbers of different starts are kept together, if nothing asks how a partial match began (`sums`).
        `equality[test]`: as `CompiledTests.equality`. `reads[test]`: per register the words of a column that the test
        reads."""
        self._automaton = automaton
        self._order = order
        self.columns = columns
        self._equality = equality
        self._reads = reads
        self.sums = sums_starts and self._is_free_of_starts()
        self._indexed: dict[int, int] = self._words_to_index()
        self._live = None if automaton.classes is None else live_words(automaton, self._read)
        self._transitions: dict[tuple[int, int], Transitions] = {}
        self._classes = 0
        self.transitions: TransitionTables
        self.turns: Turns
        self.notices: npt.NDArray[np.bool_]
        self.roles: npt.NDArray[np.uint8]
        self.once: npt.NDArray[np.bool_]

    def fit(self, classes: list[frozenset[int]]) -> bool:
        """Whether there are new states or classes; all are then worked out."""
        if len(classes) == self._classes:
            return False
        self._classes = len(classes)
        state = 0
        while state < len(self._automaton):
            for klass, satisfied in enumerate(classes):
                if (state, klass) not in self._transitions:
                    self._transitions[state, klass] = self._automaton.transitions(state, satisfied)
            state += 1
        self.transitions = self._flat(len(classes))
        self.turns = self._turns(len(classes))
        self.notices = np.any(self.transitions.choice >= 0, axis=0)
        self.roles = self._roles(len(classes))
        self.once = self.notices & [self._is_done_at_once(klass) for klass in range(len(classes))]
        return True

    def require_reached(self) -> None:
        """Where states are met one by one, each can be reached from the start over classes that were met: those of a
        saved state may be others, which no event leads to."""
        if self._automaton.classes is not None:
            return
        reached, waiting = {0}, [0]
        while waiting:
            state = waiting.pop()
            for klass in range(self._classes):
                goals = {goal.state for goal in self._transitions[state, klass].goals}
                waiting += goals - reached
                reached |= goals
        require(len(reached) == len(self._automaton), "a state of its automaton cannot be reached")

    def _roles(self, classes: int) -> npt.NDArray[np.uint8]:
        roles = np.zeros(classes, np.uint8)
        for (state, klass), transitions in self._transitions.items():
            is_root = self._automaton.columns(state) == ROOT
            for outcome in transitions.outcomes:
                if is_root and outcome.marks:
                    roles[klass] |= BEGINS
                if any(mark.accepts for mark in outcome.marks):
                    roles[klass] |= ENDS
                if is_root and outcome.skip != Goal(state, Place.STAY):
                    roles[klass] |= TURNS
        return roles

    def _is_done_at_once(self, klass: int) -> bool:
        """Whether events of a class are only skipped, whatever tests say, and to what skips them again."""
        skips: dict[int, int | None] = {}
        for state in range(len(self._automaton)):
            transitions = self._transitions[state, klass]
            outcome = transitions.outcomes[0]
            if transitions.asked or outcome.marks or (outcome.skip and outcome.skip.place is not Place.STAY):
                return False
            skips[state] = outcome.skip.state if outcome.skip else None
        return all(reached is None or skips[reached] == reached for reached in skips.values())

    def _regions(self) -> Ints:
        return np.array([self._automaton.columns(state) for state in range(len(self._automaton))], np.int64)

    def _read(self, test: int, columns: tuple[int, ...]) -> set[Word]:
        """The words that a test reads of these columns."""
        taken = [columns[place] for place in self._order[test]] if test < len(self._order) else columns[:1]
        return {
            (column, word) for column, words in zip(taken, self._reads(test), strict=True) for word in words
        }

    def _key(self, state: int) -> tuple[int, ...]:
        """The words that tell the slots apart which are made for a state. Where not all classes of events are known,
        they are all that any test reads."""
        if self._live is not None:
            live: Iterable[Word] = self._live[state]
        else:
            tests = range(len(self._automaton.tests) + len(self._automaton.windows))
            words = {word for test in tests for read in self._reads(test) for word in read}
            live = product(range(1, self._automaton.columns(state) + 1), words)
        return tuple(sorted(self.columns.at(column) + word for column, word in live))

    def _kinds(self) -> tuple[Ints, Ints]:
        """By state its kind, and by kind the words."""
        kinds: dict[tuple[int, tuple[int, ...]], int] = {}
        kind = [
            kinds.setdefault((self._automaton.columns(state), self._key(state)), len(kinds))
            for state in range(len(self._automaton))
        ]
        return np.array(kind, np.int64), _padded([list(words) for _, words in kinds], -1)

    def layout(self, words: int) -> Layout:
        """The words of a slot whose numbers have so many."""
        region = self._regions()
        number = np.zeros(len(region), np.int64)
        regions = max(int(region.max()) + 1, 1)
        states = np.zeros(regions, np.int64)
        for state, columns in enumerate(region):
            if columns != ROOT:
                number[state] = states[columns]
                states[columns] += 1
        numbers = np.array([self.columns.end(columns) for columns in range(regions)], np.int64)
        value = np.where(region == ROOT, 0, numbers[region] + number * words)
        size = numbers + states * words
        return Layout(
            region,
            number,
            states,
            value,
            numbers,
            size,
            self.columns.column,
            self.columns.home,
            words,
            np.array([self._indexed.get(columns, -1) for columns in range(regions)], np.int64),
            *self._kinds(),
        )

    def _flat(self, classes: int) -> TransitionTables:
        states, region = len(self._automaton), self._regions()
        regions = max(int(region.max()) + 1, 1)
        choice = np.full((states, classes), -1, np.int64)
        reacting: dict[tuple[int, int], list[int]] = {}
        accepting: dict[tuple[int, int], list[int]] = {}
        flat = _Flat(self)
        for (state, klass), transitions in sorted(self._transitions.items()):
            if all(_is_idle(state, outcome) and not outcome.marks for outcome in transitions.outcomes):
                continue
            choice[state, klass] = flat.choice(state, transitions)
            where = (int(region[state]), klass)
            if self._is_looked_at(state, transitions):
                reacting.setdefault(where, []).append(state)
            if any(mark.accepts for outcome in transitions.outcomes for mark in outcome.marks):
                accepting.setdefault(where, []).append(state)
        in_order = np.zeros((regions, classes), np.bool_)
        for (columns, klass), found in reacting.items():
            if columns == ROOT:
                continue
            choices_of = {state: self._transitions[state, klass] for state in found}
            ordered = _ordered(choices_of)
            if ordered is not None:
                reacting[columns, klass] = ordered
                in_order[columns, klass] = True
        creates, extends, most = self._creates(region, regions, classes)
        return TransitionTables(
            choice=choice,
            reacting=_by_region(reacting, regions, classes),
            in_order=in_order,
            creates=creates,
            extends=extends,
            most=most,
            equals=self._equals(region, regions, classes),
            accepting=_by_region(accepting, regions, classes),
            **flat.arrays(),
        )

    def _turns(self, classes: int) -> Turns:
        """By class all states that may change, where there is one in an order in which each can do so in place."""
        region = self._regions()
        turns, in_place = [], np.zeros(classes, np.bool_)
        goals, makes = np.zeros(classes, np.int64), np.zeros((classes, 2), np.int64)
        for klass in range(classes):
            by_state = {
                state: self._transitions[state, klass]
                for state, columns in enumerate(region)
                if columns != ROOT and self._is_looked_at(state, self._transitions[state, klass])
            }
            ordered = _ordered(by_state, anywhere=True)
            in_place[klass] = ordered is not None
            turns.append(ordered or list(by_state))
            for state, transitions in by_state.items():
                left = [_left(state, outcome) for outcome in transitions.outcomes]
                made = [sum(goal.place is Place.OTHER for goal in reached) for reached in left]
                numbers = [len(reached) for reached in left]
                # Starts of one vector may come to all outcomes.
                goals[klass] = max(goals[klass], sum(numbers) if region[state] == 0 else max(numbers))
                makes[klass, int(region[state] > 0)] += sum(made) if region[state] == 0 else max(made)
        return Turns(_padded([[*states, -1] for states in turns], -1), in_place, goals, makes)

    def _creates(self, region: Ints, regions: int, classes: int) -> tuple[Ints, Ints, Ints]:
        """By class and region, the most slots of each region that one slot makes, and the most nodes; after the
        regions, what a root makes. An outcome decides for every state by itself."""
        creates = np.zeros((classes, regions + 1, regions), np.int64)
        extends = np.zeros((classes, regions + 1), np.int64)
        for (state, klass), transitions in self._transitions.items():
            slots = np.zeros(regions, np.int64)
            nodes = 0
            for outcome in transitions.outcomes:
                goals = list(outcome.goals)
                targets = [region[goal.state] for goal in goals if goal.place is not Place.STAY]
                slots = np.maximum(slots, np.bincount(targets, minlength=regions) if targets else 0)
                # A list that goes to another slot may meet one that is there.
                nodes = max(nodes, len(goals) + sum(goal.place is Place.OTHER for goal in goals))
            if region[state] == ROOT:
                creates[klass, regions] = np.maximum(creates[klass, regions], slots)
                extends[klass, regions] = max(extends[klass, regions], nodes)
            elif self._is_looked_at(state, transitions):
                creates[klass, region[state]] += slots
                extends[klass, region[state]] += nodes
        most = np.stack([creates.sum(axis=2).max(axis=1), extends.max(axis=1)], axis=1)
        return creates, extends, most

    @staticmethod
    def _is_looked_at(state: int, transitions: Transitions) -> bool:
        return not all(_is_idle(state, outcome) for outcome in transitions.outcomes)

    def _equals(self, region: Ints, regions: int, classes: int) -> Ints:
        """By region and class, the word of the event that the indexed word of a slot must equal for it to move."""
        equals = np.full((regions, classes), -1, np.int64)
        for columns, at in self._indexed.items():
            states = [state for state in range(len(region)) if region[state] == columns]
            for klass in range(classes if columns < regions else 0):
                words = self._needed([self._transitions[state, klass] for state in states], states)
                equals[columns, klass] = words.get(at, -1)
        return equals

    def _needed(self, by_state: Sequence[Transitions], states: Sequence[int]) -> dict[int, int]:
        """The equalities without which nothing moves: by word of the slot, the word of the event."""
        found: list[dict[int, int]] = []
        for state, transitions in zip(states, by_state, strict=True):
            if all(_is_idle(state, outcome) and not outcome.marks for outcome in transitions.outcomes):
                continue
            words = {}
            for bit, asked in enumerate(transitions.asked):
                same = self._equality(asked.test) if asked.test < len(self._order) else None
                unmoved = (
                    _is_idle(state, outcome) and not outcome.marks
                    for bits, outcome in enumerate(transitions.outcomes)
                    if not bits >> bit & 1
                )
                if same is not None and all(unmoved):
                    event, register, word = same
                    column = asked.columns[self._order[asked.test][register]]
                    words[self.columns.at(column) + word] = event
            found.append(words)
        first, *others = found or [{}]
        return {at: word for at, word in first.items() if all(other.get(at) == word for other in others)}

    def _words_to_index(self) -> dict[int, int]:
        """By region the word of its slots to index by: the one that most classes of events need. Only where slots stay
        in their places until they leave the window."""
        if self._automaton.classes is None:
            return {}
        indexed = {}
        for columns, by_class in self._by_columns():
            wanted: Counter[int] = Counter()
            for by_state in by_class if columns != ROOT else ():
                if _ordered(by_state) is None:
                    wanted.clear()
                    break
                wanted.update(self._needed(list(by_state.values()), list(by_state)).keys())
            if wanted:
                indexed[columns] = wanted.most_common(1)[0][0]
        return indexed

    def _is_free_of_starts(self) -> bool:
        """Whether partial matches that remember events do the same whatever they began with, on every class there can
        be, and can do so in place."""
        if self._automaton.classes is None:
            return False
        return not any(
            _ordered(by_state) is None
            or any(0 in asked.columns for one in by_state.values() for asked in one.asked)
            for columns, by_class in self._by_columns()
            if columns > 0
            for by_state in by_class
        )

    def _by_columns(self) -> Iterator[tuple[int, Iterator[dict[int, Transitions]]]]:
        """By how many columns states remember, for each class there can be what these states do on it."""
        states_of: dict[int, list[int]] = {}
        for state in range(len(self._automaton)):
            states_of.setdefault(self._automaton.columns(state), []).append(state)
        for columns, states in states_of.items():
            known = self._automaton.classes or ()
            yield (
                columns,
                ({state: self._automaton.transitions(state, one) for state in states} for one in known),
            )

    def sources(self, goal: Goal) -> list[int]:
        """For each word that tells the slots of a goal apart, the word of the slot it is taken from, -1 for the event's
        own."""
        found = []
        for word in self._key(goal.state) if goal.place is Place.OTHER else ():
            place, offset = divmod(word - self.columns.at(1), self.columns.column)
            column = goal.carry[place]
            found.append(-1 if column == NEW else self.columns.at(column) + offset)
        return found

    def columns_of(self, test: int, columns: tuple[int, ...]) -> list[int]:
        """The words at which the columns a test reads begin, in the order of its program."""
        places = self._order[test] if test < len(self._order) else (0,)
        return [self.columns.at(columns[place]) for place in places]


class _Flat:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._asked_first = [0]
        self._asked_test: list[int] = []
        self._asked_columns: list[list[int]] = []
        self._row_first: list[int] = []
        self._idle: list[bool] = []
        self._skip: list[int] = []
        self._mark_first = [0]
        self._label: list[int] = []
        self._goal: list[int] = []
        self._accepts: list[bool] = []
        self._goals: dict[Goal, int] = {}

    def choice(self, state: int, transitions: Transitions) -> int:
        for asked in transitions.asked:
            self._asked_test.append(asked.test)
            self._asked_columns.append(self._tables.columns_of(asked.test, asked.columns))
        self._asked_first.append(len(self._asked_test))
        self._row_first.append(len(self._idle))
        for outcome in transitions.outcomes:
            self._idle.append(_is_idle(state, outcome))
            self._skip.append(self._number(outcome.skip))
            # What leads back to the state itself comes last, so that the others read what it held before.
            for mark in sorted(outcome.marks, key=lambda mark: mark.goal == Goal(state, Place.STAY)):
                self._label.append(mark.label)
                self._goal.append(self._number(mark.goal))
                self._accepts.append(mark.accepts)
            self._mark_first.append(len(self._label))
        return len(self._row_first) - 1

    def _number(self, goal: Goal | None) -> int:
        return NOWHERE if goal is None else self._goals.setdefault(goal, len(self._goals))

    def arrays(self) -> dict[str, Any]:
        """The arrays of `TransitionTables` that are per choice, test asked, row or mark, and the goals."""
        carries = [
            [-1 if column == NEW else self._tables.columns.at(column) for column in goal.carry]
            for goal in self._goals
        ]
        return {
            "asked_first": np.array(self._asked_first, np.int64),
            "asked_test": np.array(self._asked_test, np.int64),
            "asked_columns": _padded(self._asked_columns, 0),
            "row_first": np.array(self._row_first, np.int64),
            "idle": np.array(self._idle, np.bool_),
            "skip": np.array(self._skip, np.int64),
            "mark_first": np.array(self._mark_first, np.int64),
            "label": np.array(self._label, np.int64),
            "goal": np.array(self._goal, np.int64),
            "accepts": np.array(self._accepts, np.bool_),
            "goals": Goals(
                state=np.array([goal.state for goal in self._goals], np.int64),
                place=np.array([_PLACES[goal.place] for goal in self._goals], np.int64),
                carry=_padded(carries, _NONE),
                origin=_padded([self._tables.sources(goal) for goal in self._goals], -1),
            ),
        }


def _left(state: int, outcome: Outcome) -> list[Goal]:
    """What an outcome leads to, but for a skip that leaves all where it is."""
    stays = outcome.skip == Goal(state, Place.STAY)
    return list(outcome.marked if stays else outcome.goals)


def _ordered(by_state: dict[int, Transitions], anywhere: bool = False) -> list[int] | None:
    """The states of a region, or with `anywhere` of all, in an order in which each moves before others move to it, if
    skipping leaves all where they are."""
    before: dict[int, set[int]] = {}
    for state, transitions in by_state.items():
        before[state] = set()
        for outcome in transitions.outcomes:
            goals = list(outcome.marked)
            again = [goal for goal in goals if goal.state == state and (anywhere or goal.place is Place.STAY)]
            reached = {goal.state for goal in goals if anywhere or goal.place is Place.STAY}
            if outcome.skip != Goal(state, Place.STAY) or again not in ([], [outcome.skip]):
                return None
            before[state] |= reached - {state}
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        return None
    return [state for state in order if state in before]


def _is_idle(state: int, outcome: Outcome) -> bool:
    """Whether partial matches in the state are left as they are."""
    stays = outcome.skip is not None and outcome.skip.place is Place.STAY and outcome.skip.state == state
    return stays and all(mark.goal is None for mark in outcome.marks)


def _by_region(states: dict[tuple[int, int], list[int]], regions: int, classes: int) -> Ints:
    most = max((len(item) for item in states.values()), default=0)
    table = np.full((regions, classes, most + 1), -1, np.int64)
    for (region, klass), found in states.items():
        if region >= 0:
            table[region, klass, : len(found)] = found
    return table


def _padded(lists: list[list[int]], by: int) -> Ints:
    table = np.full((len(lists), max((len(item) for item in lists), default=0) or 1), by, np.int64)
    for number, item in enumerate(lists):
        table[number, : len(item)] = item
    return table
