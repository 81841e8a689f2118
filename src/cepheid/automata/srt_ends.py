"""One end for a register transducer: what accepts and may go on does either.

In: an SRT. Out: one with the same matches whose only final state has nothing behind it. Then a state that accepts is
like the one of the skipping loop behind it, `trim_srt` makes them one that skips in place, and events that cannot move
it cost nothing.
"""

from __future__ import annotations

from dataclasses import replace

from cepheid.automata.srt import SRT


def with_one_end(srt: SRT) -> SRT:
    """Every mark into a final state leads to a new one, too, from which nothing leads on.

    >>> from cepheid.automata.srt import Guard, Transition
    >>> one = Transition(0, Guard(), True, frozenset(), 1)
    >>> again = Transition(1, Guard(), True, frozenset(), 1)
    >>> [(item.source, item.target) for item in with_one_end(SRT(2, (one, again), frozenset([1]))).transitions]
    [(0, 1), (1, 1), (0, 2), (1, 2)]
    """
    goes_on = {transition.source for transition in srt.transitions}
    ending = [
        replace(transition, target=srt.states)
        for transition in srt.transitions
        if transition.marked and transition.target in srt.finals
    ]
    kept = [item for item in srt.transitions if item.target in goes_on]
    return SRT(srt.states + 1, (*kept, *ending), frozenset([srt.states]))
