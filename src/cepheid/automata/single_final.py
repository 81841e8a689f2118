"""One final state: a transition that accepts and may continue becomes two, one for either.

In: an automaton. Out: one with the same matches and one final state, which no transition leaves. Then an accepting
state is equivalent to the skipping loop behind it, `trim_guards` merges the two into a state that skips in place, and
events without a transition from that state cost nothing.
"""

from __future__ import annotations

from dataclasses import replace

from cepheid.automata.automaton import Automaton


def with_single_final(automaton: Automaton) -> Automaton:
    """Every mark into a final state gets a copy into a new one, which no transition leaves.

    >>> from cepheid.automata.automaton import Transition, numbered
    >>> once, again = (Transition(source, 1, label=frozenset()) for source in (0, 1))
    >>> automaton = with_single_final(numbered(2, [once, again], frozenset([1])))
    >>> [(one.source, one.target) for one in automaton.transitions]
    [(0, 1), (1, 1), (0, 2), (1, 2)]
    """
    goes_on = {one.source for one in automaton.transitions}
    final = automaton.states
    ending = [
        replace(one, target=final)
        for one in automaton.transitions
        if one.label is not None and one.target in automaton.finals
    ]
    kept = [one for one in automaton.transitions if one.target in goes_on]
    return replace(automaton, states=final + 1, transitions=(*kept, *ending), finals=frozenset([final]))
