"""Rewritten pattern → complex event automaton (`cel-cea`, theorem 3 and appendix C.2), without ε-transitions.

In: a pattern without filters, each condition on its atom, and the names the output shows, sets among them. Out:
an automaton without registers that accepts exactly the pattern's (complex event, binding) pairs.
The paper glues automata together with ε-transitions; removing them gives the *position automaton*: one state
per atom, entered by marking that atom's event, so a pattern is described by which atoms can come first, which
can come last, and which can follow which. An atom follows another *loosely* (`;` and repetition: anything in
between) or *strictly* (`:`: the very next event). Invariant: state 0 is initial and nothing enters it; every other
state is a position or a waiting copy of one. A state has at most one skip.

Where a NOT forbids something between two positions, the first has a copy that waits for the second and skips nothing
that is forbidden. Where it forbids something before the first event of a match or after its last, the transitions that
begin or end matches ask for it by derived columns (`derived`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from cepheid.algebra.conditions import attributes, conjunction
from cepheid.algebra.nodes import Atom, Pattern
from cepheid.algebra.variables import label_of
from cepheid.algebra.windows import Window
from cepheid.automata.automaton import ALWAYS, NOTHING, Automaton, Guard, Predicate, Transition
from cepheid.automata.derived import FIRST, AbsenceTest, derived_columns, is_near, none_after, none_before
from cepheid.automata.positions import FREE, PRESENT, Absence, Fragment, Positions
from cepheid.automata.positions_of_pattern import positions_of
from cepheid.errors import CepheidError


def construct(pattern: Pattern, shown: tuple[str, ...], window: Window | None = None) -> Automaton:
    """The automaton of a rewritten pattern; events are labelled with the names in `shown` only. `window` is that of the
    query, which bounds what a NOT before or after a match looks at.

    >>> from cepheid.algebra.nodes import Seq
    >>> automaton = construct(Seq(Atom("T", "x"), Atom("H", "y")), ("x",))
    >>> automaton.states, sorted(automaton.finals), [predicate.type for predicate in automaton.predicates]
    (3, [2], ['T', 'H'])
    >>> [(one.source, one.target, one.label) for one in automaton.transitions]
    [(0, 1, frozenset({'x'})), (1, 2, frozenset()), (1, 1, None)]
    """
    positions, whole = positions_of(pattern)
    _check_edges(whole)
    return _Construction(positions, whole, frozenset(shown), window).automaton()


def _check_edges(whole: Fragment) -> None:
    """What may not come before or after a match is decided by the stream alone."""
    for edge in (whole.before, whole.after):
        for one in (one for several in edge.values() for absence in several for one in absence):
            condition = one.atom.condition
            if condition is not None and any(
                item.var is not None or item.each for item in attributes(condition)
            ):
                raise CepheidError("not-yet", "a NOT at the edge of a match compares events")


# ── from positions to states ────────────────────────────────────────────────────────────────────────────────


class _State(NamedTuple):
    """Of a position (0: the start; None: of a position's run that has skipped): who follows it, where it skips to, and
    what may not come until then."""

    position: int | None
    followers: set[int]
    skip: int | None
    absence: Absence = PRESENT


class _Construction:
    """Within a window, matches that begin where something is forbidden before them go through a copy of all states, the
    end of which asks for that: how far back the window reaches is known at the end."""

    def __init__(
        self, positions: Positions, whole: Fragment, shown: frozenset[str], window: Window | None
    ) -> None:
        self._atoms, self._whole, self._window = positions.atoms, whole, window
        self._labels = [
            label(atom, gatherers, shown)
            for atom, gatherers in zip(positions.atoms, positions.gatherers, strict=True)
        ]
        self._states = list(_states(positions, whole))
        self._states_of: list[list[int]] = [[] for _ in range(len(positions.atoms) + 1)]
        for number, state in enumerate(self._states):
            if state.position is not None:
                self._states_of[state.position].append(number)
        begins = (whole.before.get(position, FREE) for position in whole.first)
        several = frozenset[Absence]().union(*begins) if window else frozenset[Absence]()
        self._copies = sorted(several, key=repr) or [PRESENT]
        self._end = len(self._copies) * len(self._states)
        """The state of matches whose end has asked for something."""
        self._tests: dict[AbsenceTest, None] = {}
        self._entering: dict[tuple[int, tuple[AbsenceTest, ...]], Guard] = {}

    def automaton(self) -> Automaton:
        for position in range(1, len(self._atoms) + 1):
            self._guard(position, ())
        skipping = {state: self._skipping(state) for state in range(len(self._states))}
        transitions = [one for number in range(len(self._copies)) for one in self._copy(number, skipping)]
        if any(test.register == FIRST for test in self._tests):
            transitions = [
                one if one.source else replace(one, writes=one.writes | {FIRST}) for one in transitions
            ]
        entering = [test for guard in self._entering.values() for test in guard.holds]
        forbidden = sorted({test for guard in skipping.values() for test in guard.tests}, key=repr)
        shift = self._copies.index(PRESENT) * len(self._states) if PRESENT in self._copies else None
        finals = frozenset(
            position + shift
            for position in self._whole.last
            if shift is not None and PRESENT in self._whole.after.get(position, FREE)
        )
        asks = any(one.target == self._end for one in transitions)
        predicates = dict.fromkeys(test for test in [*entering, *forbidden] if isinstance(test, Predicate))
        return Automaton(
            self._end + asks,
            tuple(transitions),
            finals | {self._end} if asks else finals,
            tuple(predicates),
            labels=tuple(dict.fromkeys([NOTHING, *self._labels])),
            derived=derived_columns(self._tests),
        )

    def _copy(self, number: int, skipping: dict[int, Guard]) -> Iterator[Transition]:
        before, shift = self._copies[number], number * len(self._states)
        for state, (_, followers, skip, _) in enumerate(self._states):
            source = state + shift if state else 0
            for target in sorted(followers):
                begins = self._begins(target, before) if state == 0 else [()]
                for asked in begins:
                    yield from self._marks(source, target, asked, before, shift)
            if skip is not None:
                yield Transition(source, skip + shift, skipping[state])

    def _begins(self, position: int, before: Absence) -> list[tuple[AbsenceTest, ...]]:
        """What is asked of an event that begins a match, in each way to forbid something before it."""
        alternatives = self._whole.before.get(position, FREE)
        if self._window:
            return [()] if before in alternatives else []
        return [tuple(none_before(absence, None, None)) for absence in sorted(alternatives, key=repr)]

    def _marks(
        self, source: int, position: int, asked: tuple[AbsenceTest, ...], before: Absence, shift: int
    ) -> Iterator[Transition]:
        """The ways to mark an event at a position: into each of its states, and into the end where that asks more."""
        names = self._labels[position - 1]
        for state in self._states_of[position]:
            timed = any(one.within for one in self._states[state].absence)
            writes = frozenset([_register(position)]) if timed else NOTHING
            yield Transition(source, state + shift, self._guard(position, asked), names, writes)
        if position not in self._whole.last:
            return
        first = FIRST if source else None
        for after in sorted(self._whole.after.get(position, FREE), key=repr):
            if before or after:
                ends = (*none_before(before, self._window, first), *none_after(after, self._window, first))
                yield Transition(source, self._end, self._guard(position, (*asked, *ends)), names)

    def _guard(self, position: int, asked: tuple[AbsenceTest, ...]) -> Guard:
        if (position, asked) not in self._entering:
            self._tests |= dict.fromkeys(asked)
            atom = self._atoms[position - 1]
            tests = frozenset([_predicate(atom, asked)])
            self._entering[position, asked] = Guard(tests, within=frozenset(atom.near))
        return self._entering[position, asked]

    def _skipping(self, number: int) -> Guard:
        """What an event must not be for a run to skip it."""
        position, _, _, absence = self._states[number]
        groups = set()
        for one in absence:
            near = () if one.within is None else (is_near(one.within, _register(position)),)
            self._tests |= dict.fromkeys(near)
            groups.add(frozenset([_predicate(one.atom, near)]))
        return Guard(fails=frozenset(groups)) if groups else ALWAYS


def _predicate(atom: Atom, asked: tuple[AbsenceTest, ...]) -> Predicate:
    if not asked:
        return Predicate(atom.type, atom.condition)
    own = () if atom.condition is None else (atom.condition,)
    return Predicate(atom.type, conjunction((*own, *(test.condition for test in asked))))


def _register(position: int | None) -> str:
    """Holds the event at a position for as long as a NOT after it counts from that."""
    return f"{FIRST}{position}"


def _states(positions: Positions, whole: Fragment) -> Iterator[_State]:
    """Each state's followers and where it skips to: the initial state, in which no run waits, the positions, and the
    waiting copies.

    Strict followers die with the first skip. A position that has both kinds skips to its waiting copy, which
    keeps the loose ones; with loose ones only it waits where it is; with none it has nothing to wait for. For followers
    before which something is forbidden there are copies that wait for them from the start.
    """
    yield _State(0, set(whole.first), None)
    watched: dict[tuple[int, Absence], set[int]] = {}
    for source, target in sorted(positions.gaps):
        for absence in sorted(positions.gaps[source, target], key=repr):
            watched.setdefault((source, absence), set()).add(target)
    several = [source for source, _ in watched]
    waiting: list[set[int]] = []
    count = len(positions.atoms)
    for position, (every, strict) in enumerate(zip(positions.loose, positions.strict, strict=True), start=1):
        loose = every
        if positions.gaps:
            loose = {target for target in every if (position, target) not in positions.gaps}
        is_end = position in whole.last and PRESENT in whole.after.get(position, FREE)
        if not loose and not strict and not is_end and several.count(position) == 1:
            absence = next(absence for source, absence in watched if source == position)
            yield _State(position, watched.pop((position, absence)), position, absence)
        elif not loose:
            yield _State(position, strict, None)
        elif strict <= loose:
            yield _State(position, loose, position)
        else:
            waiting.append(loose)
            yield _State(position, loose | strict, count + len(waiting))
    for number, loose in enumerate(waiting, start=1):
        yield _State(None, loose, count + number)
    for number, ((position, absence), loose) in enumerate(watched.items(), start=count + len(waiting) + 1):
        yield _State(position, loose, number, absence)


def label(atom: Atom, gatherers: Iterable[str], shown: frozenset[str]) -> frozenset[str]:
    """The shown names that the atom's event is bound to: its own and those of the sets around it."""
    name = label_of(atom)
    names = atom.also if name is None else (name, *atom.also)
    return shown.intersection((*names, *gatherers))
