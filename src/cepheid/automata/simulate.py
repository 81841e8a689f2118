"""A complex event automaton run literally: every run kept, nothing shared (`cel-cea`, section 6).

In: an automaton and, per event, the predicates it satisfies. Out: the set of its matches. Slow and short; for
tests and for following a query by hand.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cepheid.automata.cea import CEA

Marked = tuple[tuple[int, frozenset[str]], ...]


def simulate(automaton: CEA, satisfied: Sequence[Collection[int]]) -> set[Marked]:
    """The matches over the whole stream: each is its (position, label) pairs in order.

    >>> from cepheid.algebra.nodes import Atom, Seq
    >>> from cepheid.automata.construct import construct
    >>> automaton = construct(Seq(Atom("T", "x"), Atom("H", "y")), ("x", "y"))
    >>> sorted([position for position, _ in match] for match in simulate(automaton, [{0}, {0}, {1}]))
    [[0, 2], [1, 2]]
    """
    runs: set[tuple[int, Marked]] = {(0, ())}
    accepted: set[Marked] = set()
    for position, holding in enumerate(satisfied):
        marked = {
            (mark.target, (*so_far, (position, automaton.labels[mark.label])))
            for state, so_far in runs
            for mark in automaton.marks
            if mark.source == state and mark.predicate in holding
        }
        skipped = {
            (target, so_far) for state, so_far in runs if (target := automaton.skips[state]) is not None
        }
        accepted |= {so_far for state, so_far in marked if state in automaton.finals}
        runs = marked | skipped
    return accepted
