"""Selection strategies: which complex events stay (`cel-cea`, section 4).

In: a set of complex events. Out: those that no other one with the same last position is better than. A
complex event is a tuple of ascending positions; the empty tuple ε competes with nothing.

The paper states the strategies under one valuation, but its examples ({5,8} loses to {1,8} under NXT(φ1), where x
differs) compare over all valuations of the variables inside; so complex events are all that is compared here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import cmp_to_key
from typing import assert_never

from cepheid.algebra.nodes import Strategy

ComplexEvent = tuple[int, ...]


def choose(strategy: Strategy, complex_events: Iterable[ComplexEvent]) -> frozenset[ComplexEvent]:
    """The complex events that the strategy keeps.

    >>> candidates = [(1, 2), (1, 8), (5, 8)]
    >>> sorted(choose(Strategy.NXT, candidates)), sorted(choose(Strategy.LAST, candidates))
    ([(1, 2), (1, 8)], [(1, 2), (5, 8)])
    """
    by_last = sorted(set(complex_events), key=lambda events: events[-1:])
    kept: set[ComplexEvent] = set()
    for _, group in itertools.groupby(by_last, key=lambda events: events[-1:]):
        kept.update(_choose_among(strategy, list(group)))
    return frozenset(kept)


def _choose_among(strategy: Strategy, group: list[ComplexEvent]) -> Iterable[ComplexEvent]:
    """`group` holds distinct complex events with the same last position."""
    match strategy:
        case Strategy.ALL:
            return group
        case Strategy.STRICT:
            return [events for events in group if is_interval(events)]
        case Strategy.NXT:
            return [max(group, key=cmp_to_key(_compare_next))]
        case Strategy.LAST:
            return [max(group, key=cmp_to_key(_compare_last))]
        case Strategy.MAX:
            return _maximal(group)
        case _:
            assert_never(strategy)


def is_interval(events: ComplexEvent) -> bool:
    """Whether no position between the first and the last is left out."""
    return not events or events[-1] - events[0] + 1 == len(events)


def _compare_next(one: ComplexEvent, two: ComplexEvent) -> int:
    """one ≤next two iff they are equal or min(one △ two) ∈ two."""
    differing = set(one) ^ set(two)
    return 0 if not differing else -1 if min(differing) in two else 1


def _compare_last(one: ComplexEvent, two: ComplexEvent) -> int:
    """one ≤last two iff they are equal or max(one △ two) ∈ two."""
    differing = set(one) ^ set(two)
    return 0 if not differing else -1 if max(differing) in two else 1


def _maximal(group: list[ComplexEvent]) -> list[ComplexEvent]:
    """Those without a strict superset in the group. Largest first, so that only kept ones need be looked at."""
    kept: list[frozenset[int]] = []
    for events in sorted(map(frozenset, group), key=len, reverse=True):
        if not any(events < larger for larger in kept):
            kept.append(events)
    return [tuple(sorted(events)) for events in kept]
