"""Rewritten pattern → complex event automaton (`cel-cea`, theorem 3 and appendix C.2), without ε-transitions.

In: a pattern without filters, each condition on its atom, and the names the output shows, sets among them. Out:
an automaton without registers that accepts exactly the pattern's (complex event, binding) pairs.
The paper glues automata together with ε-transitions; removing them gives the *position automaton*: one state
per atom, entered by marking that atom's event, so a pattern is described by which atoms can come first, which
can come last, and which can follow which. An atom follows another *loosely* (`;` and repetition: anything in
between) or *strictly* (`:`: the very next event). Invariant: state 0 is initial and nothing enters it; every other
state is a position or the waiting copy of one. A state has at most one skip; it asks that the event is not forbidden
by a NOT between the position and what follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cepheid.algebra.nodes import Atom, Pattern
from cepheid.algebra.variables import label_of
from cepheid.automata.automaton import ALWAYS, NOTHING, Automaton, Guard, Predicate, Transition
from cepheid.automata.positions import Fragment, Positions
from cepheid.automata.positions_of_pattern import positions_of


def construct(pattern: Pattern, shown: tuple[str, ...]) -> Automaton:
    """The automaton of a rewritten pattern; events are labelled with the names in `shown` only.

    >>> from cepheid.algebra.nodes import Seq
    >>> automaton = construct(Seq(Atom("T", "x"), Atom("H", "y")), ("x",))
    >>> automaton.states, sorted(automaton.finals), [predicate.type for predicate in automaton.predicates]
    (3, [2], ['T', 'H'])
    >>> [(one.source, one.target, one.label) for one in automaton.transitions]
    [(0, 1, frozenset({'x'})), (1, 2, frozenset()), (1, 1, None)]
    """
    positions, whole = positions_of(pattern)
    return _automaton(positions, whole, frozenset(shown))


# ── from positions to states ────────────────────────────────────────────────────────────────────────────────


def _automaton(positions: Positions, whole: Fragment, shown: frozenset[str]) -> Automaton:
    predicates = [Predicate(atom.type, atom.condition) for atom in positions.atoms]
    skipping = [_skipping(forbidden) for forbidden in positions.forbidden]
    forbidden = sorted(frozenset[Predicate]().union(*map(_unary, skipping)), key=repr)
    guards = {
        predicate: Guard(frozenset([predicate])) for predicate in dict.fromkeys([*predicates, *forbidden])
    }
    entering = [
        replace(guards[predicate], within=frozenset(atom.near)) if atom.near else guards[predicate]
        for predicate, atom in zip(predicates, positions.atoms, strict=True)
    ]
    labels = [
        label(atom, gatherers, shown)
        for atom, gatherers in zip(positions.atoms, positions.gatherers, strict=True)
    ]
    transitions: list[Transition] = []
    states = 0
    for state, (followers, skip) in enumerate(_states(positions, whole)):
        transitions += (
            Transition(state, target, entering[target - 1], labels[target - 1])
            for target in sorted(followers)
        )
        if skip is not None:
            guard = skipping[state - 1] if 0 < state <= len(skipping) else ALWAYS
            transitions.append(Transition(state, skip, guard))
        states += 1
    return Automaton(
        states,
        tuple(transitions),
        whole.last,
        tuple(guards),
        labels=tuple(dict.fromkeys([NOTHING, *labels])),
    )


def _skipping(forbidden: frozenset[Atom]) -> Guard:
    """What an event must not be for a run to skip it."""
    if not forbidden:
        return ALWAYS
    return Guard(fails=frozenset(frozenset([Predicate(atom.type, atom.condition)]) for atom in forbidden))


def _unary(guard: Guard) -> frozenset[Predicate]:
    return frozenset(test for test in guard.tests if isinstance(test, Predicate))


def _states(positions: Positions, whole: Fragment) -> Iterator[tuple[set[int], int | None]]:
    """Each state's followers and where it skips to: the initial state, in which no run waits, the positions, the
    waiting copies.

    Strict followers die with the first skip. A position that has both kinds skips to its waiting copy, which
    keeps the loose ones; with loose ones only it waits where it is; with none it has nothing to wait for.
    """
    yield set(whole.first), None
    waiting: list[set[int]] = []
    count = len(positions.atoms)
    for position, (loose, strict) in enumerate(zip(positions.loose, positions.strict, strict=True), start=1):
        if not loose:
            yield strict, None
        elif strict <= loose:
            yield loose, position
        else:
            waiting.append(loose)
            yield loose | strict, count + len(waiting)
    for number, loose in enumerate(waiting, start=1):
        yield loose, count + number


def label(atom: Atom, gatherers: Iterable[str], shown: frozenset[str]) -> frozenset[str]:
    """The shown names that the atom's event is bound to: its own and those of the sets around it."""
    name = label_of(atom)
    names = atom.also if name is None else (name, *atom.also)
    return shown.intersection((*names, *gatherers))
