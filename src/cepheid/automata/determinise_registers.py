"""Automaton with registers → deterministic automaton over classes of events and outcomes of tests.

In: an automaton and whether the query has a window. Out: states in the order of their discovery and, for a state and a
set of satisfied unary predicates, which tests must be asked and, for every outcome, where skipping leads and where each
label leads. It is the I/O-determinisation of `cel-cea` with registers: a state is the *set* of all (state, column of
each register) of the runs that have marked the same events with the same labels, so no match comes out twice.

A *column* is one of the events that the runs of such a set have stored. Column 0 is the first event of the match;
columns 1, 2, … are others, in the order in which they were stored. Only registers that some test may still read are
kept. The columns alone decide what partial matches share and how they are laid out; see `deterministic.Place`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cepheid.algebra.windows import Window
from cepheid.automata.automaton import Automaton, Guard, Numbering, Predicate, Test, Transition, registers_of
from cepheid.automata.deterministic import (
    NEW,
    ROOT,
    Asked,
    Class,
    Goal,
    Mark,
    Outcome,
    Place,
    Transitions,
)
from cepheid.automata.lazy_states import LazyStates
from cepheid.automata.trim import live_registers
from cepheid.errors import CepheidError
from cepheid.state_checks import is_count, require

MOST_COLUMNS = 6
MOST_ASKED = 8
MOST_STATES = 512

Member = tuple[int, tuple[tuple[str, int], ...]]  # a state and the column of each register
Members = frozenset[Member]


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A guard by the numbers of its predicates and tests: those that hold, and of each group that does not hold; the
    registers and numbers of nested windows."""

    predicates: frozenset[int]
    tests: tuple[int, ...]
    fails: tuple[tuple[frozenset[int], tuple[int, ...]], ...]
    within: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A transition that a member may take, to the members `reached`, where all tests of `needs` hold, as bits of those
    that are asked, and not all of any of `fails`."""

    transition: Transition
    label: int
    reached: frozenset[Member]
    needs: int
    fails: tuple[int, ...]

    def is_open(self, holding: int) -> bool:
        return holding & self.needs == self.needs and not any(
            holding & group == group for group in self.fails
        )


class RegisterDeterminiser:
    """The determinised automaton, built where it is asked for. State 0 is the start.

    `predicates` are its unary tests, which give events their classes; `tests` those of several events, with the
    registers each reads in `reads`; `windows` those of nested windows. `labels[0]` is the empty set.
    """

    classes: list[Class] | None = None

    def __init__(self, automaton: Automaton, windowed: bool, limit: int = MOST_STATES) -> None:
        self.windowed = windowed
        self.predicates, self.labels = automaton.predicates, automaton.labels
        self.tests = tuple(test for test in automaton.tests if isinstance(test, Predicate))
        self.reads = tuple(tuple(sorted(registers_of(test))) for test in self.tests)
        predicates: dict[Test, int] = {test: number for number, test in enumerate(self.predicates)}
        tests: dict[Test, int] = {test: number for number, test in enumerate(self.tests)}
        labels = {label: number for number, label in enumerate(self.labels)}
        windows: Numbering[Window] = Numbering()
        numbered = {
            guard: _numbered(guard, predicates, tests, windows)
            for guard in dict.fromkeys(one.guard for one in automaton.transitions)
        }
        self.windows = tuple(windows)
        self._leaving = [
            [(one, labels[one.label or frozenset()], numbered[one.guard]) for one in leaving]
            for leaving in automaton.by_source()
        ]
        self._finals = automaton.finals
        self._live = live_registers(automaton)
        self.is_idle_on_others = all(self._waits(state) for state in range(automaton.states))
        """Whether an event that satisfies no predicate changes nothing, whatever state it finds."""
        start: Members = frozenset([(0, ())])
        self._met: LazyStates[tuple[int, Members]] = LazyStates((ROOT, start), limit)

    def __len__(self) -> int:
        return len(self._met)

    def columns(self, state: int) -> int:
        """How many columns beside the first a state remembers, or ROOT where nothing is marked yet."""
        return self._met[state][0]

    def transitions(self, state: int, satisfied: Class) -> Transitions:
        """What `state` does on an event that satisfies exactly the predicates `satisfied`."""
        columns, members = self._met[state]
        possible = [
            (transition, label, guard, dict(where))
            for state, where in sorted(members)
            for transition, label, guard in self._leaving[state]
            if _is_possible(guard, satisfied)
        ]
        asked = sorted(
            {item for _, _, guard, where in possible for item in self._asked_by(guard, where)},
            key=lambda item: (item.test, item.columns),
        )
        if len(asked) > MOST_ASKED:
            raise _too_large(f"one event asks more than {MOST_ASKED} tests of a partial match")
        bits = {item: 1 << place for place, item in enumerate(asked)}
        candidates = [
            one
            for transition, label, guard, where in possible
            if (one := self._candidate(transition, label, guard, where, satisfied, bits)) is not None
        ]
        outcomes = [
            self._outcome(columns, [one for one in candidates if one.is_open(holding)])
            for holding in range(1 << len(asked))
        ]
        return without_idle(Transitions(tuple(asked), tuple(outcomes)))

    def _waits(self, state: int) -> bool:
        """Whether the one thing to do on an event that satisfies no predicate is to skip it and stay."""
        possible = [item for item, _, guard in self._leaving[state] if _is_possible(guard, frozenset())]
        if state == 0 or not self._leaving[state]:
            return not possible
        if len(possible) != 1:
            return False
        # Where the event is outside of a window the run would end here; it ends at the next event that is looked at.
        waiting = Transition(state, state, Guard(within=possible[0].guard.within))
        return possible[0] == waiting

    def _asked_by(self, guard: _Numbered, where: dict[str, int]) -> Iterable[Asked]:
        """The tests of several events that decide a guard. One that reads an empty register is decided: it fails."""
        for number in (*guard.tests, *(number for _, tests in guard.fails for number in tests)):
            if (item := self._instance(number, where)) is not None:
                yield item
        for register, window in guard.within:
            if register in where:
                yield self._distance(window, where[register])

    def _instance(self, number: int, where: dict[str, int]) -> Asked | None:
        registers = self.reads[number]
        if any(register not in where for register in registers):
            return None
        return Asked(number, tuple(where[register] for register in registers))

    def _distance(self, window: int, column: int) -> Asked:
        return Asked(len(self.tests) + window, (column,))

    def _candidate(
        self,
        transition: Transition,
        label: int,
        guard: _Numbered,
        where: dict[str, int],
        satisfied: frozenset[int],
        bits: dict[Asked, int],
    ) -> _Candidate | None:
        """What a transition comes to where these predicates are satisfied; None where it needs an empty register."""

        def all_of(tests: Iterable[int]) -> int | None:
            found = 0
            for number in tests:
                item = self._instance(number, where)
                if item is None:
                    return None
                found |= bits[item]
            return found

        needs = all_of(guard.tests)
        if needs is None or any(register not in where for register, _ in guard.within):
            return None
        for register, window in guard.within:
            needs |= bits[self._distance(window, where[register])]
        groups = (all_of(tests) for predicates, tests in guard.fails if predicates <= satisfied)
        fails = tuple(group for group in groups if group is not None)
        return _Candidate(transition, label, frozenset(self._reached(transition, where)), needs, fails)

    def _outcome(self, columns: int, open_transitions: list[_Candidate]) -> Outcome:
        skipping: set[Member] = {(0, ())} if columns == ROOT else set()
        marking: dict[int, set[Member]] = {}
        accepting: set[int] = set()
        for one in open_transitions:
            if one.transition.label is None:
                skipping |= one.reached
                continue
            marking.setdefault(one.label, set()).update(one.reached)
            if one.transition.target in self._finals:
                accepting.add(one.label)
        marks = tuple(
            Mark(label, self._goal(columns, marking[label], True), label in accepting)
            for label in sorted(marking)
            if marking[label] or label in accepting
        )
        return Outcome(self._goal(columns, skipping, False), marks)

    def _reached(self, transition: Transition, where: dict[str, int]) -> set[Member]:
        if not self._leaving[transition.target]:
            return set()
        kept = transition.held_after(where, NEW)
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
        """The state as a set of states with the column of each register."""
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
        self._met.load(self._restored(columns, members) for columns, members in states)

    def _restored(self, columns: Any, members: Any) -> tuple[int, Members]:
        """A state with members that there may be. Whether any event leads to it, those who use it find out."""
        require(
            columns == ROOT or is_count(columns, MOST_COLUMNS),
            "a state of its automaton has too many columns",
        )
        for state, where in members:
            require(
                is_count(state, len(self._leaving) - 1), "a state of its automaton is not one of the query's"
            )
            for register, column in where:
                known = isinstance(register, str) and is_count(column, max(columns, 0))
                require(known, "a state of its automaton has registers that the query has not")
        return columns, frozenset((state, tuple((r, c) for r, c in where)) for state, where in members)


def _numbered(
    guard: Guard, predicates: dict[Test, int], tests: dict[Test, int], windows: Numbering[Window]
) -> _Numbered:
    def split(group: Iterable[Test]) -> tuple[frozenset[int], tuple[int, ...]]:
        unary = frozenset(predicates[test] for test in group if test in predicates)
        return unary, tuple(sorted(tests[test] for test in group if test in tests))

    within = tuple(sorted((register, windows[window]) for register, window in sorted(guard.within, key=repr)))
    return _Numbered(*split(guard.holds), tuple(sorted(map(split, guard.fails), key=repr)), within)


def _is_possible(guard: _Numbered, satisfied: frozenset[int]) -> bool:
    """Whether the unary tests leave the guard open."""
    return guard.predicates <= satisfied and not any(
        not tests and predicates <= satisfied for predicates, tests in guard.fails
    )


def _moved(members: set[Member], columns: dict[int, int]) -> Members:
    return frozenset(
        (state, tuple((register, columns[column]) for register, column in where)) for state, where in members
    )


def without_idle(transitions: Transitions) -> Transitions:
    """The same without tests that change nothing."""
    asked, outcomes = list(transitions.asked), list(transitions.outcomes)
    for bit in range(len(asked) - 1, -1, -1):
        without = [outcome for bits, outcome in enumerate(outcomes) if not bits >> bit & 1]
        with_it = [outcome for bits, outcome in enumerate(outcomes) if bits >> bit & 1]
        if without == with_it:
            outcomes = without
            del asked[bit]
    return Transitions(tuple(asked), tuple(outcomes))


def _too_large(message: str) -> CepheidError:
    return CepheidError("too-large", message, hint="evaluator='semantics' runs it by the definition")
