"""The oracle against the second-order definition read literally: which μ have C ∈ ⟦φ⟧(S, μ)?

`Definition.valuations` is sections 2 and 3 of `partition-by-chain-cea`, clause by clause: one complex event C at a
time, taken apart in every way, and never a stream as a whole. It is tried for every set of positions of a tiny
stream. `AS` comes from `cel-cea`: one valuation ν of single events for the whole formula, tried in every way too.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from cepheid.algebra.conditions import Condition, Conjunction, attributes
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Or,
    PartBy,
    Pattern,
    Query,
    Repeat,
    Seq,
    StrictSeq,
)
from cepheid.algebra.printing import print_pattern
from cepheid.algebra.variables import defined_once, is_iteration, shown
from cepheid.semantics.oracle import evaluate
from cepheid.semantics.stream import Event
from cepheid.semantics.values import holds
from support.generators import Case, Limits, cases

Positions = tuple[int, ...]
Mu = frozenset[tuple[str, int]]  # μ: pairs of a name and a position
Nu = tuple[tuple[str, int], ...]  # ν: one position per name

NOTHING: Mu = frozenset()


class Definition:
    """Answers are kept, since the same part is asked about the same positions again and again."""

    def __init__(self, stream: list[Event]) -> None:
        self.stream = stream
        self.known: dict[object, frozenset[Mu]] = {}

    def valuations(self, pattern: Pattern, events: Positions, nu: Nu) -> frozenset[Mu]:
        """All μ under which these events are a complex event of the pattern."""
        asked = (id(pattern), events, nu)
        if asked not in self.known:
            self.known[asked] = frozenset(self._valuations(pattern, events, nu))
        return self.known[asked]

    def _valuations(self, pattern: Pattern, events: Positions, nu: Nu) -> Iterator[Mu]:
        match pattern:
            case Atom(type, var):
                here = len(events) == 1 and self.stream[events[0]].type == type
                if here and (var is None or dict(nu)[var] == events[0]):
                    yield frozenset([(var or type or "", events[0])])
            case Bind(body, var):
                for mu in self.valuations(body, events, nu):
                    others = {(name, place) for name, place in mu if name != var}
                    yield frozenset(others | {(var, place) for place in events})
            case Filter(body, condition):
                for mu in self.valuations(body, events, nu):
                    if self.passes(condition, mu, nu):
                        yield mu
            case PartBy(body, keys):
                for mu in self.valuations(body, events, nu):
                    if self.is_one_partition(keys, mu, events):
                        yield mu
            case Or(parts):
                yield from frozenset[Mu]().union(*(self.valuations(part, events, nu) for part in parts))
            case Seq(left, right) | StrictSeq(left, right):
                for first, rest in splits(events):
                    if isinstance(pattern, StrictSeq) and first and rest and first[-1] + 1 != rest[0]:
                        continue
                    yield from self.both((left, first), (right, rest), nu)
            case All(left, right):
                for one, two in covers(events):
                    yield from self.both((left, one), (right, two), nu)
            case Repeat(body, lo, hi) if is_iteration(pattern):
                yield from self.iterated(body, lo, hi, events, nu)
            case Repeat(body, lo):
                if lo == 0 and not events:
                    yield NOTHING
                yield from self.valuations(body, events, nu)
            case _:
                raise AssertionError(pattern)

    def both(self, left: tuple[Pattern, Positions], right: tuple[Pattern, Positions], nu: Nu) -> Iterator[Mu]:
        for one, two in product(self.valuations(*left, nu), self.valuations(*right, nu)):
            yield one | two

    def iterated(self, body: Pattern, lo: int, hi: int | None, events: Positions, nu: Nu) -> Iterator[Mu]:
        if lo == 0 and not events:
            yield NOTHING
        if hi == 0:
            return
        own = sorted(defined_once(body))
        for first, rest in splits(events):
            if not first and lo == 0:
                continue  # once enough, an empty iteration adds nothing
            after = set(self.iterated(body, max(0, lo - 1), None if hi is None else hi - 1, rest, nu))
            for changed in rebound(nu, own, len(self.stream)) if after else ():
                for one, two in product(self.valuations(body, first, changed), after):
                    yield one | two

    def passes(self, condition: Condition, mu: Mu, nu: Nu) -> bool:
        """AND stands for several filters; each holds for all events of the sets it mentions."""
        if isinstance(condition, Conjunction):
            return all(self.passes(part, mu, nu) for part in condition.operands)
        read = {item.var: item.each for item in attributes(condition)}
        gathered = [name for name, each in read.items() if each]
        at = {name: self.stream[place].attributes for name, place in nu}
        choices = product(*([place for name, place in mu if name == each] for each in gathered))
        return all(
            holds(
                condition,
                {
                    **at,
                    **{
                        name: self.stream[place].attributes
                        for name, place in zip(gathered, places, strict=True)
                    },
                },
            )
            for places in choices
        )

    def is_one_partition(self, keys: tuple[tuple[str | None, str], ...], mu: Mu, events: Positions) -> bool:
        for (one, a), (two, b) in product(keys, repeat=2):
            for left, right in product(of(one, mu, events), of(two, mu, events)):
                if not same(self.stream[left].attributes[a], self.stream[right].attributes[b]):
                    return False
        return True


def of(var: str | None, mu: Mu, events: Positions) -> Positions:
    return events if var is None else tuple(place for name, place in mu if name == var)


def same(one: Any, two: Any) -> bool:
    """NULL is a key like any other, and so is NaN."""
    if one is None or two is None:
        return one is two
    return bool(one == two or (one != one and two != two))


def splits(events: Positions) -> Iterator[tuple[Positions, Positions]]:
    return ((events[:cut], events[cut:]) for cut in range(len(events) + 1))


def subsets(events: Positions) -> list[Positions]:
    return [chosen for size in range(len(events) + 1) for chosen in combinations(events, size)]


def covers(events: Positions) -> Iterator[tuple[Positions, Positions]]:
    """All pairs of subsets whose union is the whole: an event is in the one, in the other, or in both."""
    for where in product((1, 2, 3), repeat=len(events)):
        yield (
            tuple(event for event, side in zip(events, where, strict=True) if side & 1),
            tuple(event for event, side in zip(events, where, strict=True) if side & 2),
        )


def rebound(nu: Nu, names: list[str], length: int) -> Iterator[Nu]:
    """ν[ν'/U] for every ν'."""
    for places in product(range(length), repeat=len(names)):
        yield tuple(sorted({**dict(nu), **dict(zip(names, places, strict=True))}.items()))


def expected(pattern: Pattern, stream: list[Event], names: set[str]) -> set[tuple[Positions, Mu]]:
    definition = Definition(stream)
    return {
        (events, frozenset(pair for pair in mu if pair[0] in names))
        for events in subsets(tuple(range(len(stream))))
        if events
        for nu in rebound((), sorted(defined_once(pattern)), len(stream))
        for mu in definition.valuations(pattern, events, nu)
    }


@pytest.mark.parametrize(
    "limits",
    [Limits(events=7, atoms=4, sets=True, names=False), Limits(events=4, atoms=4, sets=True)],
    ids=["sets alone", "sets and variables"],
)
def test_the_oracle_finds_exactly_what_the_definition_says(limits: Limits) -> None:
    @settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(cases(limits))
    def agrees(case: Case) -> None:
        query = Query(case.query.pattern)
        names = {item.name for item in shown(query)}
        found = {(match.positions, match.binding) for match in evaluate(query, case.events)}
        assert found == expected(query.pattern, case.events, names), print_pattern(query.pattern)

    agrees()
