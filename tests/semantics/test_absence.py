"""NOT in the oracle against its definition read word for word: a match of the pattern without the NOT is rejected if
the pattern with the NOT made positive has a match that restricts to it.

Where no choice and no round tells matches apart, that can be asked of two patterns that have no NOT.
"""

from __future__ import annotations

from dataclasses import replace

from cepheid.algebra.conditions import conjuncts, variables
from cepheid.algebra.empty import EMPTY, is_empty
from cepheid.algebra.nodes import (
    All,
    Bind,
    Filter,
    Not,
    Or,
    Pattern,
    Query,
    Repeat,
    Select,
    Within,
    rebuild,
    walk,
)
from cepheid.algebra.variables import absent
from cepheid.semantics.oracle import evaluate
from cepheid.semantics.stream import Event
from support.generators import Limits
from support.varied_patterns import ABSENCE, CONJUNCTION, seeded_varied

FORBIDDEN = "forbidden"


def nots(pattern: Pattern) -> list[Not]:
    return [node for node in walk(pattern) if isinstance(node, Not)]


def is_plain(pattern: Pattern) -> bool:
    """One way to a match, and no NOT inside of a NOT."""
    choices = Or | Repeat | Select | Within
    found = nots(pattern)
    nested = any(nots(node.body) for node in found)
    shares = any(isinstance(node, All) and not node.apart for node in walk(pattern))
    outside = any(isinstance(node, choices) and not is_empty(node) for node in walk(made(pattern, None)))
    return (
        bool(found)
        and not nested
        and not shares
        and not outside
        and all(node.within is None for node in found)
    )


def made(pattern: Pattern, positive: Not | None) -> Pattern:
    """The pattern with one NOT made positive, and without the others and what is said of them."""
    if isinstance(pattern, Filter):
        about = absent(pattern.body) - (frozenset() if positive is None else absent(positive))
        left = [part for part in conjuncts(pattern.condition) if not variables(part) & about]
        body = made(pattern.body, positive)
        for part in left:
            body = Filter(body, part)
        return body
    if isinstance(pattern, Not):
        return Bind(pattern.body, FORBIDDEN) if pattern is positive else EMPTY
    return rebuild(pattern, lambda child: made(child, positive))


def matches(
    query: Query, pattern: Pattern, stream: list[Event]
) -> set[tuple[tuple[int, ...], frozenset[tuple[str, int]]]]:
    """Matches by what is not forbidden of them."""
    found = set()
    for match in evaluate(replace(query, pattern=pattern, select=None), stream):
        gone = {position for name, position in match.binding if name == FORBIDDEN}
        kept = tuple(position for position in match.positions if position not in gone)
        found.add((kept, frozenset(pair for pair in match.binding if pair[1] not in gone)))
    return found


def test_a_match_is_rejected_by_what_restricts_to_it() -> None:
    asked = rejected = 0
    for seed in range(3000):
        case = seeded_varied(seed, Limits(events=7, atoms=3), (ABSENCE, ABSENCE, CONJUNCTION))
        if not is_plain(case.query.pattern):
            continue
        query, stream = replace(Query(case.query.pattern), window=case.query.window), case.events
        positive = matches(query, made(query.pattern, None), stream)
        expected = positive.difference(
            *(matches(query, made(query.pattern, node), stream) for node in nots(query.pattern))
        )
        assert matches(query, query.pattern, stream) == expected, (seed, case)
        asked, rejected = asked + bool(positive), rejected + (expected != positive)
    assert (asked > 80, rejected > 20) == (True, True)
