"""Trim: an automaton without states and transitions that no match needs.

In: a CEA. Out: one that accepts the same (complex event, binding) pairs. Every state can be reached and can
still lead to a match, no two states behave alike from there on, and predicates and labels that no transition
uses are gone. States that behave alike are found by partition refinement: start from one block per finality,
and move a state to a block of its own kind until all states of a block have the same moves between blocks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from cepheid.automata.cea import CEA, Mark
from cepheid.automata.refine import refined

MOST_WORK = (
    1_500_000  # transitions looked at for states that behave alike, each as often as it is; some 0.2 s
)


def trim(automaton: CEA) -> CEA:
    """The automaton without useless states, with states that behave alike merged.

    >>> from cepheid.algebra.nodes import Atom, Or, Seq
    >>> from cepheid.automata.construct import construct
    >>> alike = construct(Or((Seq(Atom("A"), Atom("C")), Seq(Atom("B"), Atom("C")))), ())
    >>> alike.states, trim(alike).states
    (5, 3)
    """
    return _compact(_merged(_without_useless(automaton)))


# ── useless states ──────────────────────────────────────────────────────────────────────────────────────────


def _without_useless(automaton: CEA) -> CEA:
    """Keeps the states that some accepting run passes through. Numbers are unchanged, so gaps are left."""
    leading = _leading(automaton) | {0}
    useful = [mark for mark in automaton.marks if mark.target in automaton.finals or mark.target in leading]
    skips = tuple(skip if skip is not None and skip in leading else None for skip in automaton.skips)
    reached = _closure({0}, _moves(useful, skips))
    return replace(
        automaton,
        marks=tuple(mark for mark in useful if mark.source in reached),
        skips=tuple(skip if state in reached else None for state, skip in enumerate(skips)),
        finals=automaton.finals & {mark.target for mark in useful if mark.source in reached},
    )


def _leading(automaton: CEA) -> set[int]:
    """The states from which a later event can complete a match."""
    back: dict[int, set[int]] = defaultdict(set)
    for source, skip in enumerate(automaton.skips):
        if skip is not None:
            back[skip].add(source)
    for mark in automaton.marks:
        back[mark.target].add(mark.source)
    completing = {mark.source for mark in automaton.marks if mark.target in automaton.finals}
    return _closure(completing, back)


def _moves(marks: Iterable[Mark], skips: tuple[int | None, ...]) -> dict[int, set[int]]:
    moves: dict[int, set[int]] = defaultdict(set)
    for mark in marks:
        moves[mark.source].add(mark.target)
    for source, skip in enumerate(skips):
        if skip is not None:
            moves[source].add(skip)
    return moves


def _closure(start: set[int], moves: dict[int, set[int]]) -> set[int]:
    found, open_states = set(start), list(start)
    while open_states:
        new = moves.get(open_states.pop(), set()) - found
        found |= new
        open_states.extend(new)
    return found


# ── states that behave alike ────────────────────────────────────────────────────────────────────────────────


def _merged(automaton: CEA) -> CEA:
    """One state per block: its smallest, which acts for all. The same automaton where finding blocks takes too long."""
    try:
        block_of = _blocks(automaton)
    except _TooMuchWorkError:
        return automaton
    smallest: dict[int, int] = {}
    for state, block in enumerate(block_of):
        smallest.setdefault(block, state)
    acting = [smallest[block] for block in block_of]
    marks = dict.fromkeys(
        replace(mark, target=acting[mark.target])
        for mark in automaton.marks
        if acting[mark.source] == mark.source
    )
    return replace(
        automaton,
        marks=tuple(marks),
        skips=tuple(None if skip is None else acting[skip] for skip in automaton.skips),
        finals=frozenset(acting[state] for state in automaton.finals),
    )


def _blocks(automaton: CEA) -> list[int]:
    """A block number per state."""
    kinds = [1 if state in automaton.finals else 0 for state in range(automaton.states)]
    kinds[0] = 2  # the initial state is entered by nothing else
    return refined(kinds, _entering(automaton), _signatures(automaton))


def _entering(automaton: CEA) -> dict[int, set[int]]:
    entering: dict[int, set[int]] = defaultdict(set)
    for source, targets in _moves(automaton.marks, automaton.skips).items():
        for target in targets:
            entering[target].add(source)
    return entering


class _TooMuchWorkError(Exception):
    """More transitions were looked at than `MOST_WORK`."""


def _signatures(automaton: CEA) -> Callable[[int, list[int]], object]:
    """How a state moves between blocks: its marking moves and its skip."""
    work = 0
    marks_of: dict[int, list[Mark]] = defaultdict(list)
    for mark in automaton.marks:
        marks_of[mark.source].append(mark)

    def signature(state: int, block_of: list[int]) -> object:
        nonlocal work
        work += 1 + len(marks_of[state])
        if work > MOST_WORK:
            raise _TooMuchWorkError
        skip = automaton.skips[state]
        marks = frozenset((mark.predicate, mark.label, block_of[mark.target]) for mark in marks_of[state])
        return marks, None if skip is None else block_of[skip]

    return signature


# ── numbers without gaps ────────────────────────────────────────────────────────────────────────────────────


def _compact(automaton: CEA) -> CEA:
    """The states, predicates and labels in use, numbered anew in the same order."""
    states = sorted(_closure({0}, _moves(automaton.marks, automaton.skips)))
    state_at = {state: number for number, state in enumerate(states)}
    marks = [mark for mark in automaton.marks if mark.source in state_at]
    predicate_at = {old: new for new, old in enumerate(sorted({mark.predicate for mark in marks}))}
    label_at = {old: new for new, old in enumerate(sorted({0} | {mark.label for mark in marks}))}
    skips = (automaton.skips[state] for state in states)
    return CEA(
        states=len(states),
        predicates=tuple(automaton.predicates[old] for old in predicate_at),
        labels=tuple(automaton.labels[old] for old in label_at),
        marks=tuple(
            Mark(
                state_at[mark.source],
                predicate_at[mark.predicate],
                label_at[mark.label],
                state_at[mark.target],
            )
            for mark in marks
        ),
        skips=tuple(None if skip is None else state_at[skip] for skip in skips),
        finals=frozenset(state_at[state] for state in automaton.finals if state in state_at),
    )
