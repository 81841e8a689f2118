"""An automaton run over events, in the oracle's terms: a set of (complex event, binding)."""

from __future__ import annotations

from cepheid.algebra.nodes import Pattern, walk
from cepheid.automata.cea import CEA, Predicate
from cepheid.automata.chain import ChainCEA
from cepheid.automata.chain_determinise import ChainDeterminiser
from cepheid.automata.chain_simulate import simulate_chain, simulate_determinised
from cepheid.automata.simulate import Marked, simulate
from cepheid.semantics.meaning import Pairs, asked_about, meaning
from cepheid.semantics.stream import Event, Stream
from cepheid.semantics.values import holds

Found = set[tuple[tuple[int, ...], Pairs]]


RESULTS = 1000
"""Results of a part of a pattern that the oracle still joins in seconds."""


def affordable(pattern: Pattern, stream: Stream, shown: tuple[str, ...]) -> Stream:
    """The stream, or its longest prefix on which no part of the pattern has more than `RESULTS` results.

    One event more may multiply them: parts in any order, each repeated and bound to a set, have millions of results
    over eight events.
    """
    names = {*shown, *asked_about(pattern)}
    innermost_first = list(walk(pattern))[::-1]
    for length in range(1, len(stream) + 1):
        prefix = stream[:length]
        if any(len(meaning(part, prefix, names)) > RESULTS for part in innermost_first):
            return stream[: length - 1]
    return stream


def by_oracle(pattern: Pattern, stream: Stream, shown: tuple[str, ...]) -> Found:
    return {(result.events, result.binding) for result in meaning(pattern, stream, shown) if result.events}


def by_automaton(automaton: CEA, stream: Stream) -> Found:
    satisfied = [
        {number for number, predicate in enumerate(automaton.predicates) if accepts(predicate, event)}
        for event in stream
    ]
    return {_found(match) for match in simulate(automaton, satisfied)}


def accepts(predicate: Predicate, event: Event) -> bool:
    if predicate.type is not None and predicate.type != event.type:
        return False
    return predicate.condition is None or holds(predicate.condition, {None: event.attributes})


def by_chain(chain: ChainCEA, stream: Stream) -> Found:
    return {_found(match) for match in simulate_chain(chain, stream, satisfied_by(chain, stream))}


def by_determinised(chain: ChainCEA, stream: Stream) -> list[tuple[tuple[int, ...], Pairs]]:
    """One entry for each run that accepts, so that what is found twice is there twice."""
    automaton = ChainDeterminiser(chain)
    return [_found(match) for match in simulate_determinised(automaton, stream, satisfied_by(chain, stream))]


def satisfied_by(chain: ChainCEA, stream: Stream) -> list[frozenset[int]]:
    return [
        frozenset(number for number, predicate in enumerate(chain.predicates) if accepts(predicate, event))
        for event in stream
    ]


def _found(match: Marked) -> tuple[tuple[int, ...], Pairs]:
    return (
        tuple(position for position, _ in match),
        frozenset((name, position) for position, label in match for name in label),
    )
