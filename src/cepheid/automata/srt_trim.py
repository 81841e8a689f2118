"""Trim for register transducers: no states, transitions and writes that no match needs, no two states that are alike.

In: an SRT. Out: one with the same matches over every stream. States may be merged whatever their registers hold: two
are alike when the same guards over the same registers lead on from them, to states that are alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from cepheid.algebra.conditions import variables
from cepheid.automata.refine import numbered_by_first, refined
from cepheid.automata.srt import SRT, Guard, Transition
from cepheid.automata.srt_guards import merge


def trim_srt(srt: SRT) -> SRT:
    """The transducer without what is useless.

    >>> step = Transition(0, Guard(), True, frozenset(["r"]), 1)
    >>> trim_srt(SRT(3, (step, replace(step, target=2)), frozenset([1]))) == SRT(
    ...     2, (replace(step, writes=frozenset()),), frozenset([1]))
    True
    """
    return _numbered(_fewer(_alike(_fewer(_needed_writes(_useful(srt))))))


def registers_read(guard: Guard) -> frozenset[str]:
    """The registers that a guard looks at."""
    tests = guard.holds.union(*guard.fails)
    conditions = (variables(test.condition) for test in tests if test.condition is not None)
    return frozenset(register for register, _ in guard.within).union(*conditions)


def _useful(srt: SRT) -> SRT:
    """What lies on a way from the start to a marking transition into a final state."""
    reached = _closure([0], ((one.source, one.target) for one in srt.transitions))
    accepting = [one for one in srt.transitions if one.marked and one.target in srt.finals]
    alive = _closure([one.source for one in accepting], ((one.target, one.source) for one in srt.transitions))
    kept = tuple(
        one
        for one in srt.transitions
        if one.source in reached and (one.target in alive or (one.marked and one.target in srt.finals))
    )
    finals = frozenset(one.target for one in kept if one.marked and one.target in srt.finals)
    return SRT(srt.states, _from_start(kept), finals)


def _from_start(transitions: tuple[Transition, ...]) -> tuple[Transition, ...]:
    """Without loops that only read on at the start, where a run may begin at the next event just as well."""

    def idle(one: Transition) -> bool:
        return one.source == one.target == 0 and not one.marked

    if all(idle(one) for one in transitions if one.target == 0):
        return tuple(one for one in transitions if not idle(one))
    return transitions


def _closure(start: Iterable[int], steps: Iterable[tuple[int, int]]) -> set[int]:
    followers: dict[int, list[int]] = {}
    for source, target in steps:
        followers.setdefault(source, []).append(target)
    found = set(start)
    waiting = list(found)
    while waiting:
        new = [state for state in followers.get(waiting.pop(), ()) if state not in found]
        found.update(new)
        waiting.extend(new)
    return found


def _needed_writes(srt: SRT) -> SRT:
    """Registers are written where they may be read later, before they are written again."""
    looked_at: list[frozenset[str]] = [frozenset()] * srt.states
    changed = True
    while changed:
        changed = False
        for one in reversed(srt.transitions):
            needed = registers_read(one.guard) | (looked_at[one.target] - one.writes)
            if not needed <= looked_at[one.source]:
                looked_at[one.source] |= needed
                changed = True
    return replace(
        srt,
        transitions=tuple(replace(one, writes=one.writes & looked_at[one.target]) for one in srt.transitions),
    )


def _fewer(srt: SRT) -> SRT:
    """Fewer transitions that do the same: guards between the same states merged, the weaker ones kept."""
    alike: dict[Transition, list[Guard]] = {}
    for one in srt.transitions:
        alike.setdefault(replace(one, guard=Guard()), []).append(one.guard)
    kept = [replace(one, guard=guard) for one, guards in alike.items() for guard in merge(guards)]
    return replace(srt, transitions=tuple(dict.fromkeys(kept)))


def _alike(srt: SRT) -> SRT:
    """One state for all that nothing later tells apart: classes are split until their states lead on alike."""
    moves: list[list[Transition]] = [[] for _ in range(srt.states)]
    for one in srt.transitions:
        moves[one.source].append(one)
    entering: dict[int, set[int]] = defaultdict(set)
    for one in srt.transitions:
        entering[one.target].add(one.source)

    def signature(state: int, block_of: list[int]) -> frozenset[object]:
        return frozenset(replace(one, source=0, target=block_of[one.target]) for one in moves[state])

    finality = [int(state in srt.finals) for state in range(srt.states)]
    classes = numbered_by_first(refined(finality, entering, signature))
    # State 0 is the first of its class, whose number is then 0.
    transitions = (
        replace(one, source=classes[one.source], target=classes[one.target]) for one in srt.transitions
    )
    finals = frozenset(classes[state] for state in srt.finals)
    return SRT(max(classes) + 1, tuple(dict.fromkeys(transitions)), finals)


def _numbered(srt: SRT) -> SRT:
    """States as they are met from the start, breadth first, and transitions in that order."""
    moves: dict[int, list[Transition]] = {}
    for one in srt.transitions:
        moves.setdefault(one.source, []).append(one)
    numbers = {0: 0}
    order = [0]
    for state in order:
        for one in moves.get(state, ()):
            if one.target not in numbers:
                numbers[one.target] = len(order)
                order.append(one.target)
    transitions = tuple(
        replace(one, source=numbers[one.source], target=numbers[one.target])
        for state in order
        for one in moves.get(state, ())
    )
    return SRT(len(order), transitions, frozenset(numbers[state] for state in srt.finals if state in numbers))
