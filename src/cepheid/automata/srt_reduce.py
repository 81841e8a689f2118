"""States of a register transducer that behave alike, made one.

In: an SRT. Out: one with the same matches and fewer states. Its one final state has nothing behind it: what accepts and
may go on does either. Then states whose transitions agree in guard, output, stores, label and (merged) target are the
same. So a state and that of the skipping loop behind it, which a sequence of SREMO makes for each of its parts, become
one that skips in place, and events that cannot move it cost nothing.
"""

from __future__ import annotations

from dataclasses import replace

from cepheid.automata.srt import SRT, Transition


def reduce_srt(srt: SRT) -> SRT:
    """The coarsest merging, by refinement; unreachable states are dropped.

    >>> from cepheid.automata.srt import Guard
    >>> free = Guard()
    >>> loop = [Transition(source, free, False, frozenset(), 2) for source in (1, 2)]
    >>> ends = [Transition(source, free, True, frozenset(), 3) for source in (1, 2)]
    >>> srt = SRT(4, (Transition(0, free, True, frozenset(), 1), *loop, *ends), frozenset([3]))
    >>> reduce_srt(srt).states
    3
    """
    srt = _with_one_end(srt)
    block = [0 if state == 0 else 2 if state in srt.finals else 1 for state in range(srt.states)]
    leaving: list[list[Transition]] = [[] for _ in range(srt.states)]
    for transition in srt.transitions:
        leaving[transition.source].append(transition)
    count = 0
    while count != len(set(block)):
        count = len(set(block))
        numbers: dict[object, int] = {}
        signatures = [
            (
                block[state],
                frozenset((t.guard, t.marked, t.writes, t.label, block[t.target]) for t in leaving[state]),
            )
            for state in range(srt.states)
        ]
        block = [numbers.setdefault(signature, len(numbers)) for signature in signatures]
    return _merged(srt, block, leaving)


def _with_one_end(srt: SRT) -> SRT:
    """Every mark into a final state leads to a new one, too, from which nothing leads on."""
    goes_on = {transition.source for transition in srt.transitions}
    ending = [
        replace(transition, target=srt.states)
        for transition in srt.transitions
        if transition.marked and transition.target in srt.finals
    ]
    kept = [item for item in srt.transitions if item.target in goes_on]
    return SRT(srt.states + 1, (*kept, *ending), frozenset([srt.states]))


def _merged(srt: SRT, block: list[int], leaving: list[list[Transition]]) -> SRT:
    numbers = {block[0]: 0}
    transitions: dict[Transition, None] = {}
    waiting = [0]
    while waiting:
        state = waiting.pop()
        for transition in leaving[state]:
            if block[transition.target] not in numbers:
                numbers[block[transition.target]] = len(numbers)
                waiting.append(transition.target)
            moved = replace(
                transition, source=numbers[block[state]], target=numbers[block[transition.target]]
            )
            transitions[moved] = None
    finals = frozenset(numbers[block[state]] for state in srt.finals if block[state] in numbers)
    ordered = sorted(transitions, key=lambda item: (item.source, item.target))
    return SRT(len(numbers), tuple(ordered), finals)
