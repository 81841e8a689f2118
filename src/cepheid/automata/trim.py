"""Trim: drops states, transitions and writes that no match needs, and merges equivalent states.

In: an automaton. Out: one with the same (complex event, binding) pairs over every stream. Every state can be reached
and can still lead to a match. Two states are alike when the same guards, labels and writes lead on from them to states
that are alike, whatever their registers hold; they are found by partition refinement. Invariant: saved states hold
numbers of states, tests and labels, so their order must never change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from cepheid.automata.automaton import Automaton, Guard, Numbering, Transition, renumbered
from cepheid.automata.guards import merge
from cepheid.automata.partition_refinement import refined

MOST_WORK = (
    1_500_000  # transitions looked at for states that behave alike, each as often as it is; some 0.2 s
)

Transitions = Sequence[Transition]


def trim(automaton: Automaton) -> Automaton:
    """The automaton of a pattern without what no match needs. States keep their order, and the start stays a state of
    its own, which runs that have not begun are in.

    >>> from cepheid.algebra.nodes import Atom, Or, Seq
    >>> from cepheid.automata.construct import construct
    >>> alike = construct(Or((Seq(Atom("A"), Atom("C")), Seq(Atom("B"), Atom("C")))), ())
    >>> alike.states, trim(alike).states
    (5, 3)
    """
    small = _merged(_needed_writes(_useful(automaton)), start_apart=True)
    small = _renumbered(small, sorted(_reached(small.transitions)))
    guards = {id(one.guard): one.guard for one in small.transitions}.values()
    used = frozenset[object]().union(*(guard.tests for guard in guards))
    labels = {frozenset[str](), *(one.label for one in small.transitions)}
    return replace(
        small,
        predicates=tuple(test for test in automaton.predicates if test in used),
        tests=tuple(test for test in automaton.tests if test in used),
        labels=tuple(label for label in automaton.labels if label in labels),
    )


def trim_guards(automaton: Automaton) -> Automaton:
    """The same for an automaton with guards of any form, of which several between the same states are merged. States,
    tests and labels are numbered anew as they are met from the start, breadth first.

    >>> from cepheid.automata.automaton import numbered
    >>> step = Transition(0, 1, label=frozenset(), writes=frozenset(["r"]))
    >>> trim_guards(numbered(3, [step, replace(step, target=2)], frozenset([1]))) == numbered(
    ...     2, [replace(step, writes=frozenset())], frozenset([1]))
    True
    """
    small = _fewer(_merged(_fewer(_needed_writes(_useful(automaton))), start_apart=False))
    small = _renumbered(small, _breadth_first(small.by_source()))
    in_order = sorted(small.transitions, key=lambda one: one.source)
    return renumbered(replace(small, transitions=tuple(in_order)))


# ── useless states and writes ───────────────────────────────────────────────────────────────────────────────


def _useful(automaton: Automaton) -> Automaton:
    """The transitions on a way from the start to a mark into a final state. States keep their numbers."""
    finals = automaton.finals
    reached = _reached(automaton.transitions)
    accepting = [
        one.source for one in automaton.transitions if one.label is not None and one.target in finals
    ]
    alive = _closure(accepting, ((one.target, one.source) for one in automaton.transitions))
    kept = tuple(
        one
        for one in automaton.transitions
        if one.source in reached and (one.target in alive or (one.label is not None and one.target in finals))
    )
    entered = frozenset(one.target for one in kept if one.label is not None)
    return replace(automaton, transitions=_from_start(kept), finals=finals & entered)


def _from_start(transitions: tuple[Transition, ...]) -> tuple[Transition, ...]:
    """Without loops that only skip at the start, where a run may begin at the next event just as well."""
    entering = [one for one in transitions if one.target == 0]
    if entering and all(one.source == 0 and one.label is None for one in entering):
        return tuple(one for one in transitions if one.target != 0)
    return transitions


def _reached(transitions: Transitions) -> set[int]:
    return _closure([0], ((one.source, one.target) for one in transitions))


def _closure(start: Iterable[int], steps: Iterable[tuple[int, int]]) -> set[int]:
    followers: dict[int, list[int]] = defaultdict(list)
    for source, target in steps:
        followers[source].append(target)
    found = set(start)
    waiting = list(found)
    while waiting:
        new = set(followers.get(waiting.pop(), ())) - found
        found |= new
        waiting.extend(new)
    return found


def _needed_writes(automaton: Automaton) -> Automaton:
    """Registers are written where they may be read later, before they are written again."""
    if not any(_written(one) for one in automaton.transitions):
        return automaton
    live = live_registers(automaton)
    return replace(
        automaton,
        transitions=tuple(
            one if _written(one) <= live[one.target] else _writing(one, live[one.target])
            for one in automaton.transitions
        ),
    )


def _written(one: Transition) -> frozenset[str]:
    return one.writes.union(into for into, _ in one.moves)


def _writing(one: Transition, live: frozenset[str]) -> Transition:
    """The transition that writes only what is read later."""
    return replace(
        one, writes=one.writes & live, moves=frozenset(move for move in one.moves if move[0] in live)
    )


def live_registers(automaton: Automaton) -> list[frozenset[str]]:
    """By state, the registers that a guard may read before they are written anew."""
    live: list[frozenset[str]] = [frozenset()] * automaton.states
    reads = {guard: guard.registers for guard in {one.guard for one in automaton.transitions}}
    # From the end: a transition mostly leads to a state of a higher number, which is then known.
    backwards = [(one, reads[one.guard]) for one in reversed(automaton.transitions)]
    changed = True
    while changed:
        changed = False
        for one, read in backwards:
            after = live[one.target]
            moved = {out for into, out in one.moves if into in after}
            more = live[one.source] | read | moved | (after - _written(one))
            if more != live[one.source]:
                live[one.source] = more
                changed = True
    return live


def _fewer(automaton: Automaton) -> Automaton:
    """Fewer transitions that do the same: guards between the same states merged, the weaker ones kept."""
    alike: dict[Transition, list[Guard]] = {}
    for one in automaton.transitions:
        alike.setdefault(replace(one, guard=Guard()), []).append(one.guard)
    kept = [replace(one, guard=guard) for one, guards in alike.items() for guard in merge(guards)]
    return replace(automaton, transitions=tuple(dict.fromkeys(kept)))


# ── states that are alike ───────────────────────────────────────────────────────────────────────────────────


class _TooMuchWorkError(Exception):
    """More transitions were looked at than `MOST_WORK`."""


def _merged(automaton: Automaton, start_apart: bool) -> Automaton:
    """One state for all that are alike: the first, which acts for all. The same automaton where finding them takes too
    long."""
    finality = [int(state in automaton.finals) for state in range(automaton.states)]
    if start_apart:
        finality[0] = 2
    kinds = _kinds(automaton.transitions)
    leaving: list[list[tuple[int, int]]] = [[] for _ in range(automaton.states)]
    entering: dict[int, set[int]] = defaultdict(set)
    for one, kind in zip(automaton.transitions, kinds, strict=True):
        leaving[one.source].append((kind, one.target))
        entering[one.target].add(one.source)
    try:
        blocks = refined(finality, entering, _signatures(leaving))
    except _TooMuchWorkError:
        return automaton
    first: dict[int, int] = {}
    acting = [first.setdefault(block, state) for state, block in enumerate(blocks)]
    kept: dict[tuple[int, int, int], Transition] = {}
    for one, kind in zip(automaton.transitions, kinds, strict=True):
        if acting[one.source] == one.source:
            kept.setdefault((one.source, acting[one.target], kind), one)
    transitions = (_between(one, source, target) for (source, target, _), one in kept.items())
    finals = frozenset(acting[state] for state in automaton.finals)
    return replace(automaton, transitions=tuple(transitions), finals=finals)


def _kinds(transitions: Transitions) -> list[int]:
    """By transition a number for what it asks and does, the same for the same."""
    guards: Numbering[Guard] = Numbering()
    # A guard is hashed once: many transitions share it.
    number = {key: guards[guard] for key, guard in {id(one.guard): one.guard for one in transitions}.items()}
    kinds: Numbering[object] = Numbering()
    return [kinds[number[id(one.guard)], one.label, one.writes, one.moves] for one in transitions]


def _signatures(leaving: list[list[tuple[int, int]]]) -> Callable[[int, list[int]], object]:
    """How a state leads to blocks: the kinds of its transitions and the block that each enters."""
    work = 0

    def signature(state: int, block_of: list[int]) -> object:
        nonlocal work
        work += 1 + len(leaving[state])
        if work > MOST_WORK:
            raise _TooMuchWorkError
        return frozenset([(kind, block_of[target]) for kind, target in leaving[state]])

    return signature


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────


def _renumbered(automaton: Automaton, order: Sequence[int]) -> Automaton:
    """The states of `order`, all that transitions and finals have left, under the numbers of their places."""
    number = {state: place for place, state in enumerate(order)}
    return replace(
        automaton,
        states=len(order),
        transitions=tuple(
            _between(one, number[one.source], number[one.target]) for one in automaton.transitions
        ),
        finals=frozenset(number[state] for state in automaton.finals),
    )


def _between(one: Transition, source: int, target: int) -> Transition:
    """The same transition between other states."""
    if source == one.source and target == one.target:
        return one
    return Transition(source, target, one.guard, one.label, one.writes, one.moves)


def _breadth_first(leaving: list[list[Transition]]) -> list[int]:
    """The states in the order in which they are met from the start."""
    order = {0: None}
    waiting = [0]
    for state in waiting:
        new = [one.target for one in leaving[state] if one.target not in order]
        order |= dict.fromkeys(new)
        waiting += dict.fromkeys(new)
    return list(order)
