"""A window as guards: an automaton whose guards check the window.

In: an automaton and the query's window. Out: one whose runs store the first event that they mark, and read on only
while events are within the window of it. The evaluator's own window keeps partial matches by their first marked event,
so it cannot keep a run that has stored an event and marked none yet. Guards can.
"""

from __future__ import annotations

from dataclasses import replace

from cepheid.algebra.windows import Window
from cepheid.automata.automaton import Automaton, Transition
from cepheid.automata.derived import FIRST


def window_as_guards(automaton: Automaton, window: Window) -> Automaton:
    """The automaton with two copies of each state: for runs that have marked no event, and for those that have.

    Transitions that skip have the guard, too: no event after the window leads to a match, so that the run ends there.

    >>> from cepheid.algebra.windows import WindowUnit
    >>> from cepheid.automata.automaton import numbered
    >>> marks = [Transition(source, 1, label=frozenset()) for source in (0, 1)]
    >>> guarded = window_as_guards(numbered(2, marks, frozenset([1])), Window(5, WindowUnit.EVENTS))
    >>> [(one.source, one.target, sorted(one.writes), len(one.guard.within)) for one in guarded.transitions]
    [(0, 3, ['⊢'], 0), (1, 3, ['⊢'], 0), (2, 3, [], 1), (3, 3, [], 1)]
    """
    states = automaton.states

    def before(one: Transition) -> Transition:
        if one.label is None:
            return one
        return replace(one, writes=one.writes | {FIRST}, target=one.target + states)

    def after(one: Transition) -> Transition:
        guard = replace(one.guard, within=one.guard.within | {(FIRST, window)})
        return replace(one, guard=guard, source=one.source + states, target=one.target + states)

    return replace(
        automaton,
        states=2 * states,
        transitions=(*map(before, automaton.transitions), *map(after, automaton.transitions)),
        finals=automaton.finals | {state + states for state in automaton.finals},
        guarded=True,
    )
