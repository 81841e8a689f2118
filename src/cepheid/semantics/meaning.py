"""What a pattern means over a finite stream: ⟦φ⟧ of `cel-cea`, sections 3 and 4, as a set.

In: a pattern and a list of events. Out: every `Result` (C, ν, binding) such that C ∈ ⟦φ⟧(S, ν') for all
valuations ν' that extend ν, where ν is *partial*: a variable it does not mention may be any position. Beside
the paper's C and ν a result carries the binding, the names each event is shown under.

Beyond the paper: `φ : ψ`, `φ?` (φ OR ε), `φ{l,m}`, and ε, the match of no events, which is neutral for ; and
:. The nodes of later papers say *not yet*.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from cepheid.algebra.conditions import Condition
from cepheid.algebra.conditions import variables as mentioned
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Intersect,
    Not,
    Or,
    PartBy,
    Pattern,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    Within,
    children,
)
from cepheid.algebra.variables import defined_once, is_iteration, label_of
from cepheid.errors import CepheidError
from cepheid.semantics.strategies import ComplexEvent, choose
from cepheid.semantics.stream import Stream, inside
from cepheid.semantics.values import holds

Pairs = frozenset[tuple[str, int]]


class Result(NamedTuple):
    """C, ν and the binding; ν and the binding are sets of (name, position)."""

    events: ComplexEvent
    valuation: Pairs
    binding: Pairs


Results = frozenset[Result]
EMPTY = Result((), frozenset(), frozenset())  # ε


def meaning(pattern: Pattern, stream: Stream, shown: Collection[str] | None = None) -> Results:
    """All results of a pattern. The binding is recorded for the names in `shown`, for all if it is None.

    >>> from cepheid.semantics.stream import Event
    >>> stream = [Event("A", 0, {}), Event("B", 1, {}), Event("B", 2, {})]
    >>> found = meaning(Seq(Atom("A", "x"), Repeat(Atom("B", "y"), 1, None)), stream)
    >>> sorted(result.events for result in found)
    [(0, 1), (0, 1, 2), (0, 2)]
    """
    match pattern:
        case Atom(marked=True):
            return frozenset(_atom(pattern, stream, shown))
        case Filter(body, condition):
            return frozenset(_filter(meaning(body, stream, shown), condition, stream))
        case Or(left, right):
            return meaning(left, stream, shown) | meaning(right, stream, shown)
        case Seq(left, right):
            return _join(meaning(left, stream, shown), meaning(right, stream, shown), _after)
        case StrictSeq(left, right):
            return _join(meaning(left, stream, shown), meaning(right, stream, shown), _directly_after)
        case Repeat(body, lo, hi):
            results = meaning(body, stream, shown)
            return (
                _iterate(results, defined_once(body), lo, hi)
                if is_iteration(pattern)
                else _option(results, lo)
            )
        case Within(body, window):
            results = meaning(body, stream, shown)
            return frozenset(
                result
                for result in results
                if not result.events or inside(window, stream, result.events[0], result.events[-1])
            )
        case Select(strategy, body):
            return _select(
                meaning(body, stream, shown), strategy, free(body) - defined_once(body), len(stream)
            )
        case Atom() | All() | Intersect() | Not() | PartBy() | Bind():
            name = type(pattern).__name__
            raise CepheidError("not-yet", f"the operator {name} is not yet supported")


def _atom(atom: Atom, stream: Stream, shown: Collection[str] | None) -> Iterator[Result]:
    """R AS x: C = {ν(x)} and type(S[ν(x)]) = R."""
    label = label_of(atom)
    for position, event in enumerate(stream):
        if atom.type is not None and event.type != atom.type:
            continue
        if atom.condition is not None and not holds(atom.condition, {None: event.attributes}):
            continue
        valuation = _pair(atom.var, position)
        binding = _pair(label, position) if shown is None or label in shown else frozenset()
        yield Result((position,), valuation, binding)


def _pair(name: str | None, position: int) -> Pairs:
    return frozenset() if name is None else frozenset([(name, position)])


def _filter(results: Results, condition: Condition, stream: Stream) -> Iterator[Result]:
    """ρ FILTER P(x̄): C ∈ ⟦ρ⟧(S, ν) and (S[ν(x₁)], …, S[ν(xₙ)]) ∈ P."""
    names = sorted(mentioned(condition))
    known: dict[tuple[int, ...], bool] = {}
    for result in results:
        for valuation in _extensions(result.valuation, names, len(stream)):
            at = dict(valuation)
            key = tuple(at[name] for name in names)
            if key not in known:
                known[key] = holds(condition, {name: stream[at[name]].attributes for name in names})
            if known[key]:
                yield result._replace(valuation=valuation)


def _extensions(valuation: Pairs, names: Iterable[str], length: int) -> Iterator[Pairs]:
    """Every extension of a partial valuation to `names`: what it leaves open may be any position."""
    assigned = {name for name, _ in valuation}
    open_names = [name for name in names if name not in assigned]
    for positions in itertools.product(range(length), repeat=len(open_names)):
        yield valuation.union(zip(open_names, positions, strict=True))


def _after(left: ComplexEvent, right: ComplexEvent) -> bool:
    return left[-1] < right[0]


def _directly_after(left: ComplexEvent, right: ComplexEvent) -> bool:
    return left[-1] + 1 == right[0]


def _join(lefts: Results, rights: Results, follows: Callable[[ComplexEvent, ComplexEvent], bool]) -> Results:
    """ρ₁ ; ρ₂: C = C₁ · C₂ with C₁ ∈ ⟦ρ₁⟧(S, ν) and C₂ ∈ ⟦ρ₂⟧(S, ν), the same ν; ε is neutral."""
    joined: set[Result] = set()
    rights_by_first = defaultdict(list)
    for right in rights:
        rights_by_first[right.events[:1]].append(right)
    for left in lefts:
        for first, group in rights_by_first.items():
            if left.events and first and not follows(left.events, first):
                continue
            for right in group:
                valuation = _agreed(left.valuation, right.valuation)
                if valuation is not None:
                    joined.add(Result(left.events + right.events, valuation, left.binding | right.binding))
    return frozenset(joined)


def _agreed(one: Pairs, two: Pairs) -> Pairs | None:
    """The valuation that extends both, if no variable has two positions."""
    both = one | two
    return both if len({name for name, _ in both}) == len(both) else None


def _option(results: Results, lo: int) -> Results:
    """φ{1,1} is φ; φ{0,1} is φ OR ε. Neither opens a scope."""
    return results if lo == 1 else results | {EMPTY}


def _iterate(results: Results, scope: frozenset[str], lo: int, hi: int | None) -> Results:
    """ρ+: some ν' with C ∈ ⟦ρ⟧(S, ν[ν'/U]) or C ∈ ⟦ρ ; ρ+⟧(S, ν[ν'/U]), U = vdef₊(ρ): each iteration has its
    own positions for U (`scope`), so afterwards nothing is known of them; the other variables are shared."""
    once = frozenset(result._replace(valuation=_without(result.valuation, scope)) for result in results)
    total: Results = frozenset([EMPTY])
    for _ in range(lo):
        total = _join(total, once, _after)
    fresh, times = total, lo
    # What was reached with fewer iterations need not be extended again: more are left from there.
    while fresh and (hi is None or times < hi):
        fresh, times = _join(fresh, once, _after) - total, times + 1
        total |= fresh
    return total


def _without(pairs: Pairs, names: frozenset[str]) -> Pairs:
    return frozenset(pair for pair in pairs if pair[0] not in names)


def _select(results: Results, strategy: Strategy, outer: frozenset[str], length: int) -> Results:
    """A strategy inside a formula: for each valuation of the variables from outside, the strategy chooses
    among the complex events over all valuations of those inside."""
    by_outer: dict[Pairs, set[Result]] = defaultdict(set)
    for result in results:
        for valuation in _extensions(result.valuation, sorted(outer), length):
            seen_from_outside = frozenset(pair for pair in valuation if pair[0] in outer)
            by_outer[seen_from_outside].add(result._replace(valuation=valuation))
    kept: set[Result] = set()
    for group in by_outer.values():
        chosen = choose(strategy, (result.events for result in group))
        kept.update(result for result in group if result.events in chosen)
    return frozenset(kept)


def free(pattern: Pattern) -> frozenset[str]:
    """The variables a pattern's filters mention, but for those that belong to an iteration inside it.

    >>> from cepheid.algebra.conditions import Attribute, Comparison
    >>> same = Comparison("=", Attribute("x", "id"), Attribute("y", "id"))
    >>> sorted(free(Repeat(Filter(Atom("T", "y"), same), 1, None)))
    ['x']
    """
    below = frozenset[str]().union(*(free(child) for child in children(pattern)))
    if isinstance(pattern, Filter):
        return below | mentioned(pattern.condition)
    if isinstance(pattern, Repeat) and is_iteration(pattern):
        return below - defined_once(pattern.body)
    return below
