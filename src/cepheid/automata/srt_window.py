"""A window as guards: a register transducer that keeps to a window by itself.

In: an SRT and the query's window. Out: one whose runs store the first event that they mark, and read on only while
events are within the window of it. The evaluator's own window keeps partial matches by their first marked event, so it
cannot keep a run that has stored an event and marked none yet. Guards need no such order.
"""

from __future__ import annotations

from dataclasses import replace

from cepheid.algebra.windows import Window
from cepheid.automata.srt import SRT, Guard, Transition

FIRST = "⊢"
"""The register that holds the first marked event; no register of a query has this name."""


def window_as_guards(srt: SRT, window: Window) -> SRT:
    """The transducer with two copies of each state: for runs that have marked no event, and for those that have.

    Transitions that skip have the guard, too: no event after the window leads to a match, so that the run ends there.

    >>> from cepheid.algebra.windows import WindowUnit
    >>> mark = Transition(0, Guard(), True, frozenset(), 1)
    >>> again = Transition(1, Guard(), True, frozenset(), 1)
    >>> guarded = window_as_guards(SRT(2, (mark, again), frozenset([1])), Window(5, WindowUnit.EVENTS))
    >>> [(one.source, one.target, sorted(one.writes), len(one.guard.within)) for one in guarded.transitions]
    [(0, 3, ['⊢'], 0), (1, 3, ['⊢'], 0), (2, 3, [], 1), (3, 3, [], 1)]
    """

    def before(one: Transition) -> Transition:
        if not one.marked:
            return one
        return replace(one, writes=one.writes | {FIRST}, target=one.target + srt.states)

    def after(one: Transition) -> Transition:
        guard = Guard(one.guard.holds, one.guard.fails, one.guard.within | {(FIRST, window)})
        return replace(one, guard=guard, source=one.source + srt.states, target=one.target + srt.states)

    return replace(
        srt,
        states=2 * srt.states,
        transitions=(*map(before, srt.transitions), *map(after, srt.transitions)),
        finals=srt.finals | {state + srt.states for state in srt.finals},
        guarded=True,
    )
