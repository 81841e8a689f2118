"""The oracle against the paper's definition read as a yes-or-no question: is C in ⟦φ⟧(S, ν)?

`belongs` is section 3 of `cel-cea` word for word: a total valuation, one complex event, no sets. It is tried
for every set of positions of a tiny stream and every valuation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

from hypothesis import given, settings

from cepheid.algebra.conditions import variables
from cepheid.algebra.nodes import Atom, Filter, Or, Pattern, Query, Repeat, Seq, StrictSeq
from cepheid.algebra.variables import defined_once, is_iteration
from cepheid.semantics.oracle import evaluate
from cepheid.semantics.stream import Event
from cepheid.semantics.values import holds
from support.generators import Case, Limits, cases

Positions = tuple[int, ...]
Valuation = dict[str, int]


def belongs(events: Positions, pattern: Pattern, stream: list[Event], valuation: Valuation) -> bool:
    match pattern:
        case Atom(type, var):
            here = len(events) == 1 and stream[events[0]].type == type
            return here and (var is None or valuation[var] == events[0])
        case Filter(body, condition):
            bound = {name: stream[valuation[name]].attributes for name in variables(condition)}
            return holds(condition, bound) and belongs(events, body, stream, valuation)
        case Or(parts):
            return any(belongs(events, part, stream, valuation) for part in parts)
        case Seq(left, right) | StrictSeq(left, right):
            strict = isinstance(pattern, StrictSeq)
            return any(
                belongs(first, left, stream, valuation) and belongs(rest, right, stream, valuation)
                for first, rest in splits(events)
                if not (strict and first and rest) or first[-1] + 1 == rest[0]
            )
        case Repeat(body, lo, hi) if is_iteration(pattern):
            return iterates(events, body, stream, valuation, lo, hi)
        case Repeat(body, lo):
            return (lo == 0 and not events) or belongs(events, body, stream, valuation)
        case _:
            raise AssertionError(pattern)


def iterates(
    events: Positions, body: Pattern, stream: list[Event], valuation: Valuation, lo: int, hi: int | None
) -> bool:
    if lo == 0 and not events:
        return True
    if hi == 0:
        return False
    return any(
        belongs(first, body, stream, changed)
        and iterates(rest, body, stream, valuation, max(0, lo - 1), None if hi is None else hi - 1)
        for first, rest in splits(events)
        if first or lo > 0  # once enough, an empty iteration adds nothing
        for changed in rebound(valuation, sorted(defined_once(body)), len(stream))
    )


def splits(events: Positions) -> Iterator[tuple[Positions, Positions]]:
    return ((events[:cut], events[cut:]) for cut in range(len(events) + 1))


def rebound(valuation: Valuation, names: list[str], length: int) -> Iterator[Valuation]:
    """ν[ν'/U] for every ν'."""
    for positions in product(range(length), repeat=len(names)):
        yield {**valuation, **dict(zip(names, positions, strict=True))}


@settings(max_examples=400)
@given(cases(Limits(events=5, atoms=4)))
def test_the_oracle_finds_exactly_what_belongs_to_the_meaning(case: Case) -> None:
    stream, pattern = case.events, case.query.pattern
    subsets = [
        chosen for size in range(1, len(stream) + 1) for chosen in combinations(range(len(stream)), size)
    ]
    # The generator's patterns are well-formed: names of iterations are read inside them only.
    valuations = list(rebound({}, sorted(defined_once(pattern)), len(stream)))
    expected = {
        events
        for events in subsets
        if any(belongs(events, pattern, stream, valuation) for valuation in valuations)
    }
    found = evaluate(replace(Query(pattern), select=()), stream)
    assert {match.positions for match in found} == expected
