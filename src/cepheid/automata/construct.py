"""Rewritten pattern → complex event automaton (`cel-cea`, theorem 3 and appendix C.2), without ε-transitions.

In: a pattern without filters, each condition on its atom, and the names the output shows, sets among them. Out:
a `CEA` that accepts exactly the pattern's (complex event, binding) pairs.
The paper glues automata together with ε-transitions; removing them gives the *position automaton*: one state
per atom, entered by marking that atom's event, so a pattern is described by which atoms can come first, which
can come last, and which can follow which. An atom follows another *loosely* (`;` and repetition: anything in
between) or *strictly* (`:`: the very next event). Invariant: state 0 is initial and always skips to itself;
every other state is a position or the waiting copy of one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

from cepheid.algebra.nodes import Atom, Pattern
from cepheid.algebra.variables import label_of
from cepheid.automata.cea import CEA, Mark, Predicate
from cepheid.automata.follow import positions_of
from cepheid.automata.positions import Fragment, Positions

Item = TypeVar("Item", bound=Hashable)


def construct(pattern: Pattern, shown: tuple[str, ...]) -> CEA:
    """The automaton of a rewritten pattern; events are labelled with the names in `shown` only.

    >>> from cepheid.algebra.nodes import Seq
    >>> automaton = construct(Seq(Atom("T", "x"), Atom("H", "y")), ("x",))
    >>> automaton.states, automaton.skips, sorted(automaton.finals)
    (3, (0, 1, None), [2])
    >>> [(mark.source, automaton.predicates[mark.predicate].type, mark.target) for mark in automaton.marks]
    [(0, 'T', 1), (1, 'H', 2)]
    """
    positions, whole = positions_of(pattern)
    return _automaton(positions, whole, frozenset(shown))


# ── from positions to states ────────────────────────────────────────────────────────────────────────────────


class Numbering(dict[Item, int]):
    """Gives each distinct item the next number, from 0."""

    def __missing__(self, item: Item) -> int:
        self[item] = len(self)
        return self[item]


def _automaton(positions: Positions, whole: Fragment, shown: frozenset[str]) -> CEA:
    predicates: Numbering[Predicate] = Numbering()
    labels: Numbering[frozenset[str]] = Numbering({frozenset(): 0})
    entering = [
        (predicates[Predicate(atom.type, atom.condition)], labels[label(atom, gatherers, shown)])
        for atom, gatherers in zip(positions.atoms, positions.gatherers, strict=True)
    ]
    marks: list[Mark] = []
    skips: list[int | None] = []
    for state, (followers, skip) in enumerate(_states(positions, whole)):
        skips.append(skip)
        marks.extend(Mark(state, *entering[target - 1], target) for target in sorted(followers))
    return CEA(len(skips), tuple(predicates), tuple(labels), tuple(marks), tuple(skips), whole.last)


def _states(positions: Positions, whole: Fragment) -> Iterator[tuple[set[int], int | None]]:
    """Each state's followers and where it skips to: the initial state, the positions, the waiting copies.

    Strict followers die with the first skip. A position that has both kinds skips to its waiting copy, which
    keeps the loose ones; with loose ones only it waits where it is; with none it has nothing to wait for.
    """
    yield set(whole.first), 0
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
