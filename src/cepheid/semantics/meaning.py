"""What a pattern means over a finite stream: ⟦φ⟧ of `cel-cea`, sections 3 and 4, and of
`partition-by-chain-cea`, sections 2 and 3, as a set.

In: a pattern and a list of events. Out: every `Result` (C, ν, binding) such that C ∈ ⟦φ⟧(S, ν') for all
valuations ν' that extend ν, where ν is *partial*: a variable it does not mention may be any position.

The binding is the second-order valuation μ of the later paper: from names to sets of positions, united by
; ALL and iteration. `φ IN X` gives X all events of φ, `R AS x` gives x its one event; so under an iteration x
has those of all rounds, which is what the output shows. Only sets and PART-BY are asked about μ: a condition
on `x` is about ν, one event.

Beyond the papers: `φ : ψ`, `φ?` (φ OR ε), `φ{l,m}`, and ε, the match of no events, which is neutral for ; :
and ALL. `Recognise` is the sets that a SREMO recognises, see `reading`.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple, assert_never

from cepheid.algebra.conditions import (
    Condition,
    conjuncts,
    is_about_whole_sets,
    sets_read,
    variables,
)
from cepheid.algebra.nodes import (
    EVENTS,
    All,
    Atom,
    Bind,
    Filter,
    Or,
    PartBy,
    Pattern,
    Recognise,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    children,
    walk,
)
from cepheid.algebra.variables import defined_once, is_iteration, label_of
from cepheid.semantics.keys import is_one_key
from cepheid.semantics.reading import recognised
from cepheid.semantics.strategies import ComplexEvent, choose
from cepheid.semantics.stream import Stream
from cepheid.semantics.values import holds
from cepheid.semantics.whole_sets import holds_of_sets

Pairs = frozenset[tuple[str, int]]


class Result(NamedTuple):
    """C, ν and the binding μ; ν and μ are sets of (name, position), with one position per name in ν."""

    events: ComplexEvent
    valuation: Pairs
    binding: Pairs


Results = frozenset[Result]
EMPTY = Result((), frozenset(), frozenset())  # ε


def meaning(pattern: Pattern, stream: Stream, shown: Collection[str] | None = None) -> Results:
    """All results of a pattern, their bindings for the names in `shown` only, or for all if it is None.

    >>> from cepheid.semantics.stream import Event
    >>> stream = [Event("A", 0, {}), Event("B", 1, {}), Event("B", 2, {})]
    >>> found = meaning(Seq(Atom("A", "x"), Repeat(Atom("B", "y"), 1, None)), stream)
    >>> sorted(result.events for result in found)
    [(0, 1), (0, 1, 2), (0, 2)]
    """
    if shown is None:
        return _meaning(pattern, stream, None)
    names = frozenset(shown)
    results = _meaning(pattern, stream, names | asked_about(pattern))
    return frozenset(result._replace(binding=_only(result.binding, names)) for result in results)


def asked_about(pattern: Pattern) -> frozenset[str]:
    """The names whose events a filter on a set or a PART-BY asks about.

    >>> sorted(asked_about(PartBy(Seq(Bind(Atom("T"), "X"), Atom("H", "y")), (("X", "id"), ("y", "id")))))
    ['X', 'y']
    """
    asked: set[str] = set()
    for node in walk(pattern):
        match node:
            case Filter(_, condition):
                asked |= sets_read(condition)
            case PartBy(_, keys):
                asked |= {var for var, _ in keys if var is not None}
            case Atom() | Seq() | StrictSeq() | Or() | All() | Repeat() | Select() | Bind() | Recognise():
                pass
            case _:
                assert_never(node)
    return frozenset(asked)


def _meaning(pattern: Pattern, stream: Stream, shown: frozenset[str] | None) -> Results:
    match pattern:
        case Atom():
            return frozenset(_atom(pattern, stream, shown))
        case Filter(body, condition):
            return _filter(_meaning(body, stream, shown), condition, stream)
        case Or(parts):
            return frozenset[Result]().union(*(_meaning(part, stream, shown) for part in parts))
        case Seq(left, right):
            return _join(_meaning(left, stream, shown), _meaning(right, stream, shown), _after)
        case StrictSeq(left, right):
            return _join(_meaning(left, stream, shown), _meaning(right, stream, shown), _directly_after)
        case Repeat(body, lo, hi):
            results = _meaning(body, stream, shown)
            return (
                _iterate(results, defined_once(body), lo, hi)
                if is_iteration(pattern)
                else _option(results, lo)
            )
        case Select(strategy, body):
            results = _meaning(body, stream, shown)
            return _select(results, strategy, free(body) - defined_once(body), len(stream))
        case All(left, right):
            return _unite(_meaning(left, stream, shown), _meaning(right, stream, shown))
        case Bind(body, var):
            results = _meaning(body, stream, shown)
            return results if shown is not None and var not in shown else frozenset(_bind(results, var))
        case PartBy(body, keys):
            return frozenset(_part_by(_meaning(body, stream, shown), keys, stream))
        case Recognise(reading):
            return frozenset(_recognised(recognised(reading, stream), shown))
        case _:
            assert_never(pattern)


def _atom(atom: Atom, stream: Stream, shown: frozenset[str] | None) -> Iterator[Result]:
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


def _recognised(found: Iterable[ComplexEvent], shown: frozenset[str] | None) -> Iterator[Result]:
    for events in found:
        names = (EVENTS,) if shown is None or EVENTS in shown else ()
        yield Result(
            events, frozenset(), frozenset((name, position) for name in names for position in events)
        )


def _pair(name: str | None, position: int) -> Pairs:
    return frozenset() if name is None else frozenset([(name, position)])


def _filter(results: Results, condition: Condition, stream: Stream) -> Results:
    """ρ FILTER (P AND Q) is (ρ FILTER P) FILTER Q; any other condition is one predicate."""
    for part in conjuncts(condition):
        asked = _satisfying_of_whole_sets if is_about_whole_sets(part) else _satisfying
        results = frozenset(asked(results, part, stream))
    return results


def _satisfying(results: Results, condition: Condition, stream: Stream) -> Iterator[Result]:
    """ρ FILTER P(x̄): C ∈ ⟦ρ⟧(S, ν) and (S[ν(x₁)], …, S[ν(xₙ)]) ∈ P. Where P is asked of sets it is its
    second-order extension: it holds for every choice of one event of each, so for an empty set always."""
    gathered = sorted(sets_read(condition))
    names = sorted(variables(condition) - sets_read(condition))
    known: dict[tuple[int, ...], bool] = {}

    def holds_at(places: tuple[int, ...]) -> bool:
        if places not in known:
            events = zip((*names, *gathered), places, strict=True)
            known[places] = holds(condition, {name: stream[place].attributes for name, place in events})
        return known[places]

    for result in results:
        choices = list(itertools.product(*(_gathered(result, name) for name in gathered)))
        for valuation in _extensions(result.valuation, names, len(stream)):
            at = dict(valuation)
            if all(holds_at((*(at[name] for name in names), *chosen)) for chosen in choices):
                yield result._replace(valuation=valuation)


def _satisfying_of_whole_sets(results: Results, condition: Condition, stream: Stream) -> Iterator[Result]:
    """As `_satisfying`; aggregates are over all of μ(X), and `prev` is the event before the chosen one in μ(X)."""
    names = sorted(variables(condition) - sets_read(condition))
    for result in results:
        gathered = {
            name: [stream[place].attributes for place in sorted(_gathered(result, name))]
            for name in sets_read(condition)
        }
        for valuation in _extensions(result.valuation, names, len(stream)):
            events = {name: stream[place].attributes for name, place in valuation if name in names}
            if holds_of_sets(condition, gathered, events):
                yield result._replace(valuation=valuation)


def _gathered(result: Result, name: str) -> list[int]:
    """μ(X)."""
    return [position for gatherer, position in result.binding if gatherer == name]


def _bind(results: Results, var: str) -> Iterator[Result]:
    """ρ IN X: μ(X) = C."""
    for result in results:
        yield result._replace(binding=result.binding.union((var, position) for position in result.events))


def _part_by(results: Results, keys: tuple[tuple[str | None, str], ...], stream: Stream) -> Iterator[Result]:
    """ρ PART-BY [X₁.a₁, …]: S[l].aᵢ = S[m].aⱼ for all i, j, l ∈ μ(Xᵢ) and m ∈ μ(Xⱼ)."""
    for result in results:
        if is_one_key(
            stream[position].attributes[name]
            for var, name in keys
            for position in (result.events if var is None else _gathered(result, var))
        ):
            yield result


def _unite(lefts: Results, rights: Results) -> Results:
    """ρ₁ ALL ρ₂: C = C₁ ∪ C₂ and μ = μ₁ ∪ μ₂; C₁ and C₂ may share events."""
    united: set[Result] = set()
    for left, right in itertools.product(lefts, rights):
        valuation = _agreed(left.valuation, right.valuation)
        if valuation is not None:
            events = tuple(sorted({*left.events, *right.events}))
            united.add(Result(events, valuation, left.binding | right.binding))
    return frozenset(united)


def _extensions(valuation: Pairs, names: Iterable[str], length: int) -> Iterator[Pairs]:
    """Every extension of a partial valuation to `names`: an unassigned variable may have any position."""
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
        before, total = total, _join(total, once, _after)
        if total == before:
            break  # and so it stays
    fresh, times = total, lo
    # Results of fewer iterations need not be extended again: they had more iterations left.
    while fresh and (hi is None or times < hi):
        fresh, times = _join(fresh, once, _after) - total, times + 1
        total |= fresh
    return total


def _without(pairs: Pairs, names: frozenset[str]) -> Pairs:
    return frozenset(pair for pair in pairs if pair[0] not in names)


def _only(pairs: Pairs, names: frozenset[str]) -> Pairs:
    return frozenset(pair for pair in pairs if pair[0] in names)


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
    """The variables a pattern's filters mention, but for sets and those of an iteration inside it.

    >>> from cepheid.algebra.conditions import Attribute, Comparison
    >>> same = Comparison("=", Attribute("x", "id"), Attribute("y", "id"))
    >>> sorted(free(Repeat(Filter(Atom("T", "y"), same), 1, None)))
    ['x']
    """
    below = frozenset[str]().union(*(free(child) for child in children(pattern)))
    match pattern:
        case Filter(_, condition):
            return below | (variables(condition) - sets_read(condition))
        case Repeat(body) if is_iteration(pattern):
            return below - defined_once(body)
        case Atom() | Recognise():
            return below
        case Seq() | StrictSeq() | Or() | All() | Repeat() | PartBy() | Select() | Bind():
            return below
        case _:
            assert_never(pattern)
