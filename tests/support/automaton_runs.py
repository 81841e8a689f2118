"""An automaton run over events, in the oracle's terms: a set of (complex event, binding)."""

from __future__ import annotations

from cepheid.algebra.nodes import Pattern, walk
from cepheid.automata.automaton import LAST, Automaton
from cepheid.automata.determinise_chain import ChainDeterminiser
from cepheid.semantics.meaning import Pairs, asked_about, meaning
from cepheid.semantics.results import stands
from cepheid.semantics.stream import Stream
from support.literal_runs import Marked, passes, simulate

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
    return {
        (result.events, result.binding)
        for result in meaning(pattern, stream, shown)
        if result.events and stands(result)
    }


def by_automaton(automaton: Automaton, stream: Stream) -> Found:
    return {_found(match) for match in simulate(automaton, stream)}


def by_determinised(chain: Automaton, stream: Stream) -> list[tuple[tuple[int, ...], Pairs]]:
    """One entry for each run of the determinised chain automaton that accepts, so that what is found twice is there
    twice."""
    automaton = ChainDeterminiser(chain)
    runs: list[tuple[int, Marked]] = [(0, ())]
    accepted: list[Marked] = []
    for position, satisfied in enumerate(satisfied_by(chain, stream)):
        for state, so_far in list(runs):
            registers = {LAST: so_far[-1][0]} if so_far else {}
            linked = {
                number
                for number, link in enumerate(automaton.links)
                if passes(link, stream, position, registers)
            }
            for one in automaton.transitions(state, satisfied):
                if not one.equal <= linked or one.different & linked:
                    continue
                longer = (*so_far, (position, automaton.labels[one.label]))
                if one.accepts:
                    accepted.append(longer)
                if one.target is not None:
                    runs.append((one.target, longer))
    return [_found(match) for match in accepted]


def satisfied_by(automaton: Automaton, stream: Stream) -> list[frozenset[int]]:
    """The numbers of the unary predicates that each event satisfies."""
    return [
        frozenset(
            number
            for number, predicate in enumerate(automaton.predicates)
            if passes(predicate, stream, position, {})
        )
        for position in range(len(stream))
    ]


def _found(match: Marked) -> tuple[tuple[int, ...], Pairs]:
    return (
        tuple(position for position, _ in match),
        frozenset((name, position) for position, label in match for name in label),
    )
