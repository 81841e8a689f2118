"""SRT → deterministic automaton over classes of events and outcomes of tests, with what its runs remember.

In: an SRT and whether the query has a window. Out: states numbered as they are met and, for a state and a set of
satisfied unary predicates, which tests must be asked and, for every outcome, where skipping leads and where each label
leads. It is the I/O-determinisation of `cel-cea` done with registers: a state is the *set* of (SRT state, where its
registers are) of all runs that have marked the same events with the same labels, so no match comes out twice.

Where a register is, is a *column*: one of the events that such a set remembers together. Column 0 is the event a match
began with, 1, 2, … are others, in the order they were stored. Only registers that some test may still read are kept.
What partial matches share, and how they are laid out, follows from the columns alone; see `Place`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import product

from cepheid.algebra.conditions import attributes
from cepheid.algebra.windows import Window
from cepheid.automata.cea import Predicate
from cepheid.automata.construct import Numbering
from cepheid.automata.met import Met
from cepheid.automata.srt import SRT, Guard, Transition
from cepheid.errors import CepheidError

MOST_COLUMNS = 6
MOST_ASKED = 8
MOST_STATES = 512

NEW = -1  # in place of a column: the event at hand
ROOT = -1  # in place of a number of columns: nothing is marked yet

Member = tuple[int, tuple[tuple[str, int], ...]]  # an SRT state and the column of each register
Members = frozenset[Member]


class Place(Enum):
    """Where a partial match is kept after a move."""

    STAY = 0  # where it is
    BASE = 1  # with what remembers nothing but how it began
    OTHER = 2  # with what remembers the columns `carry`, of which one is the event at hand


@dataclass(frozen=True, slots=True)
class Asked:
    """A test (a number in `tests`, or after those in `windows`) about the events in these columns, one per register
    it reads."""

    test: int
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Goal:
    """Where a move leads: a state, where it is kept and, for OTHER, the columns it takes along (NEW: the event)."""

    state: int
    place: Place
    carry: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Marking:
    """Marking with `label` leads to `goal` (None: nothing can follow) and completes a match if `accepts`."""

    label: int
    goal: Goal | None
    accepts: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a state does when the tests came out one way; `skip` None: it dies when it skips."""

    skip: Goal | None
    marks: tuple[Marking, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """All that a state does on one class of events: the outcome is `outcomes[bits]`, bit i whether `asked[i]` holds."""

    asked: tuple[Asked, ...]
    outcomes: tuple[Outcome, ...]


class RegisterDeterminiser:
    """The determinised automaton, built where it is asked for. State 0 is the start.

    `predicates` are its unary tests, which give events their classes; `tests` those of several events, with the
    registers each reads in `reads`; `windows` those of nested windows. `labels[0]` is the empty set.
    """

    classes: list[frozenset[int]] | None = None

    def __init__(self, srt: SRT, windowed: bool, limit: int = MOST_STATES) -> None:
        self.windowed = windowed
        predicates: Numbering[Predicate] = Numbering()
        tests: Numbering[Predicate] = Numbering()
        windows: Numbering[Window] = Numbering()
        labels: Numbering[frozenset[str]] = Numbering({frozenset(): 0})
        self._leaving: list[list[tuple[Transition, int]]] = [[] for _ in range(srt.states)]
        for transition in srt.transitions:
            guard = transition.guard
            for test in sorted(_tests(guard), key=repr):
                (tests if registers_of(test) else predicates)[test]
            for _, window in sorted(guard.within, key=repr):
                windows[window]
            self._leaving[transition.source].append((transition, labels[transition.label]))
        self.predicates, self.tests, self.windows = tuple(predicates), tuple(tests), tuple(windows)
        self.labels = tuple(labels)
        self.reads = tuple(registers_of(test) for test in self.tests)
        self._predicate, self._test, self._window = predicates, tests, windows
        self._finals = srt.finals
        self._live = _live(srt)
        self.is_idle_on_others = all(self._waits(state) for state in range(srt.states))
        """Whether an event that satisfies no predicate changes nothing, whatever state it finds."""
        start: Members = frozenset([(0, ())])
        self._met: Met[tuple[int, Members]] = Met((ROOT, start), limit)

    def __len__(self) -> int:
        return len(self._met)

    def columns(self, state: int) -> int:
        """How many columns beside the first a state remembers, or ROOT where nothing is marked yet."""
        return self._met[state][0]

    def members(self, state: int) -> Members:
        return self._met[state][1]

    def choices(self, state: int, satisfied: frozenset[int]) -> Choices:
        """What `state` does on an event that satisfies exactly the predicates `satisfied`."""
        columns, members = self._met[state]
        moves = [
            (member, transition, label)
            for member in sorted(members)
            for transition, label in self._leaving[member[0]]
            if self._is_possible(transition.guard, satisfied)
        ]
        asked = sorted(
            {
                item
                for (_, where), transition, _ in moves
                for item in self._asked_by(transition.guard, dict(where))
            },
            key=lambda item: (item.test, item.columns),
        )
        if len(asked) > MOST_ASKED:
            raise _too_large(f"one event asks more than {MOST_ASKED} tests of a partial match")
        outcomes = []
        for bits in product((False, True), repeat=len(asked)):
            holding = {item for item, holds in zip(asked, reversed(bits), strict=True) if holds}
            outcomes.append(self._outcome(columns, moves, satisfied, holding))
        return without_idle(Choices(tuple(asked), tuple(outcomes)))

    def _waits(self, state: int) -> bool:
        """Whether the one thing to do on an event that satisfies no predicate is to skip it and stay."""
        possible = [item for item, _ in self._leaving[state] if self._is_possible(item.guard, frozenset())]
        if state == 0 or not self._leaving[state]:
            return not possible
        return len(possible) == 1 and possible[0] == Transition(state, Guard(), False, frozenset(), state)

    def _is_possible(self, guard: Guard, satisfied: frozenset[int]) -> bool:
        """Whether the unary tests leave the guard open."""
        if any(test in self._predicate and self._predicate[test] not in satisfied for test in guard.holds):
            return False
        return not any(
            all(test in self._predicate and self._predicate[test] in satisfied for test in group)
            for group in guard.fails
        )

    def _asked_by(self, guard: Guard, where: dict[str, int]) -> Iterable[Asked]:
        """The tests of several events that decide a guard. One that reads an empty register is decided: it fails."""
        for test in sorted(_tests(guard), key=repr):
            if test in self._test and (item := self._instance(test, where)) is not None:
                yield item
        for register, window in sorted(guard.within, key=repr):
            if register in where:
                yield self._distance(window, where[register])

    def _instance(self, test: Predicate, where: dict[str, int]) -> Asked | None:
        number = self._test[test]
        if any(register not in where for register in self.reads[number]):
            return None
        return Asked(number, tuple(where[register] for register in self.reads[number]))

    def _distance(self, window: Window, column: int) -> Asked:
        return Asked(len(self.tests) + self._window[window], (column,))

    def _passes(
        self, guard: Guard, where: dict[str, int], satisfied: frozenset[int], holding: set[Asked]
    ) -> bool:
        def holds(test: Predicate) -> bool:
            if test in self._predicate:
                return self._predicate[test] in satisfied
            return self._instance(test, where) in holding

        return (
            all(holds(test) for test in guard.holds)
            and not any(all(holds(test) for test in group) for group in guard.fails)
            and all(
                register in where and self._distance(window, where[register]) in holding
                for register, window in guard.within
            )
        )

    def _outcome(
        self,
        columns: int,
        moves: list[tuple[Member, Transition, int]],
        satisfied: frozenset[int],
        holding: set[Asked],
    ) -> Outcome:
        skipping: set[Member] = {(0, ())} if columns == ROOT else set()
        marking: dict[int, set[Member]] = {}
        accepting: set[int] = set()
        for (_, where), transition, label in moves:
            if not self._passes(transition.guard, dict(where), satisfied, holding):
                continue
            reached = self._reached(transition, dict(where))
            if not transition.marked:
                skipping |= reached
                continue
            marking.setdefault(label, set()).update(reached)
            if transition.target in self._finals:
                accepting.add(label)
        marks = tuple(
            Marking(label, self._goal(columns, marking[label], True), label in accepting)
            for label in sorted(marking)
            if marking[label] or label in accepting
        )
        return Outcome(self._goal(columns, skipping, False), marks)

    def _reached(self, transition: Transition, where: dict[str, int]) -> set[Member]:
        if not self._leaving[transition.target]:
            return set()
        kept = {**where, **dict.fromkeys(transition.writes, NEW)}
        live = self._live[transition.target]
        return {(transition.target, tuple(sorted((r, c) for r, c in kept.items() if r in live)))}

    def _goal(self, columns: int, members: set[Member], marked: bool) -> Goal | None:
        if not members:
            return None
        used = {column for _, where in members for _, column in where}
        if columns == ROOT and not marked:
            if used:
                raise _too_large("an event is stored before any is marked")
            return Goal(self._met.number((ROOT, frozenset(members))), Place.STAY)
        if columns == ROOT and self.windowed:
            started = _moved(members, {NEW: 0})
            return Goal(self._met.number((0, started)), Place.BASE)
        if NEW in used:
            carry = (*sorted(column for column in used if column > 0), NEW)
            if len(carry) > MOST_COLUMNS:
                raise _too_large(f"a partial match remembers more than {MOST_COLUMNS} events")
            moved = _moved(members, {0: 0} | {column: k for k, column in enumerate(carry, start=1)})
            return Goal(self._met.number((len(carry), moved)), Place.OTHER, carry)
        if columns > 0 and used - {0}:
            return Goal(self._met.number((columns, frozenset(members))), Place.STAY)
        place = Place.STAY if columns == 0 else Place.BASE
        return Goal(self._met.number((0, frozenset(members))), place)

    def describe(self, state: int) -> str:
        """The state as a set of SRT states with the column of each register."""
        written = [
            f"{number}" + "".join(f" {register}@{column}" for register, column in where)
            for number, where in sorted(self._met[state][1])
        ]
        return "{" + ", ".join(written) + "}"

    def save(self) -> list[list[object]]:
        """The states met so far as plain lists, in order of their numbers."""
        return [
            [columns, [[state, [list(pair) for pair in where]] for state, where in sorted(members)]]
            for columns, members in self._met
        ]

    def load(self, states: list[list[object]]) -> None:
        """Numbers states as they were when saved."""
        self._met.load(
            (columns, frozenset((state, tuple((r, c) for r, c in where)) for state, where in members))  # type: ignore[misc,attr-defined]
            for columns, members in states
        )


def registers_of(test: Predicate) -> tuple[str, ...]:
    """The registers that a test reads."""
    if test.condition is None:
        return ()
    return tuple(sorted({read.var for read in attributes(test.condition) if read.var is not None}))


def _tests(guard: Guard) -> frozenset[Predicate]:
    return guard.holds.union(*guard.fails)


def _live(srt: SRT) -> list[frozenset[str]]:
    """By state, the registers that a test may read before they are stored anew."""
    live: list[frozenset[str]] = [frozenset()] * srt.states
    changed = True
    while changed:
        changed = False
        for transition in srt.transitions:
            read = frozenset(name for test in _tests(transition.guard) for name in registers_of(test))
            read |= {register for register, _ in transition.guard.within}
            more = live[transition.source] | read | (live[transition.target] - transition.writes)
            if more != live[transition.source]:
                live[transition.source] = more
                changed = True
    return live


def _moved(members: set[Member], columns: dict[int, int]) -> Members:
    return frozenset(
        (state, tuple((register, columns[column]) for register, column in where)) for state, where in members
    )


def without_idle(choices: Choices) -> Choices:
    """The same without tests that change nothing."""
    asked, outcomes = list(choices.asked), list(choices.outcomes)
    for bit in range(len(asked) - 1, -1, -1):
        without = [outcome for bits, outcome in enumerate(outcomes) if not bits >> bit & 1]
        with_it = [outcome for bits, outcome in enumerate(outcomes) if bits >> bit & 1]
        if without == with_it:
            outcomes = without
            del asked[bit]
    return Choices(tuple(asked), tuple(outcomes))


def _too_large(message: str) -> CepheidError:
    return CepheidError("too-large", message, hint="evaluator='semantics' runs it by the definition")
