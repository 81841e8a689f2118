"""Chain complex event automata run literally: every run kept, nothing shared (`partition-by-chain-cea`, section 4).

In: an automaton, a stream and, per event, the predicates it satisfies. Out: its matches. Slow and short; for
tests and for following a query by hand.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cepheid.automata.chain import ChainCEA, link_holds
from cepheid.automata.chain_determinise import ChainDeterminiser
from cepheid.automata.simulate import Marked
from cepheid.semantics.stream import Stream


def simulate_chain(chain: ChainCEA, stream: Stream, satisfied: Sequence[Collection[int]]) -> set[Marked]:
    """The matches over the whole stream: each is its (position, label) pairs in order.

    >>> from cepheid.algebra.nodes import Atom, PartBy, Seq
    >>> from cepheid.automata.chain_construct import construct_chain
    >>> from cepheid.semantics.stream import Event
    >>> chain = construct_chain(PartBy(Seq(Atom("T", "x"), Atom("H", "y")), ((None, "id"),)), ("x", "y"))
    >>> stream = [Event(type, 0, {"id": id}) for type, id in (("T", 1), ("T", 2), ("H", 1))]
    >>> [[position for position, _ in match] for match in simulate_chain(chain, stream, [{0}, {0}, {1}])]
    [[0, 2]]
    """
    runs: set[tuple[int, Marked]] = {(0, ())}
    accepted: set[Marked] = set()
    for position, holding in enumerate(satisfied):
        marked = set()
        for state, so_far in runs:
            linked = _linked(chain, stream, so_far, position)
            for mark in chain.marks:
                if mark.source != state or mark.predicate not in holding:
                    continue
                if mark.equal <= linked and not mark.different & linked:
                    marked.add((mark.target, (*so_far, (position, chain.labels[mark.label]))))
        accepted |= {so_far for state, so_far in marked if state in chain.finals}
        runs |= marked
    return accepted


def simulate_determinised(
    automaton: ChainDeterminiser, stream: Stream, satisfied: Sequence[frozenset[int]]
) -> list[Marked]:
    """The matches of the determinised automaton, one for each run that accepts.

    >>> from cepheid.algebra.nodes import Atom, Or
    >>> from cepheid.automata.chain_construct import construct_chain
    >>> from cepheid.semantics.stream import Event
    >>> automaton = ChainDeterminiser(construct_chain(Or((Atom("A"), Atom("A", "x"))), ()))
    >>> simulate_determinised(automaton, [Event("A", 0, {})], [frozenset([0])])
    [((0, frozenset()),)]
    """
    runs: list[tuple[int, Marked]] = [(0, ())]
    accepted: list[Marked] = []
    for position, holding in enumerate(satisfied):
        for state, so_far in list(runs):
            linked = _linked(automaton.chain, stream, so_far, position)
            for move in automaton.moves(state, holding):
                if not move.equal <= linked or move.different & linked:
                    continue
                longer = (*so_far, (position, automaton.chain.labels[move.label]))
                if move.accepts:
                    accepted.append(longer)
                if move.target is not None:
                    runs.append((move.target, longer))
    return accepted


def _linked(chain: ChainCEA, stream: Stream, so_far: Marked, position: int) -> frozenset[int]:
    """The links that hold between the last marked event of a run and the one at hand."""
    if not so_far:
        return frozenset()
    last = so_far[-1][0]
    return frozenset(
        number for number, link in enumerate(chain.links) if link_holds(link, stream, last, position)
    )
