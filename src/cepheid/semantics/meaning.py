"""What a pattern means over a finite stream: ⟦φ⟧ of `cel-cea`, sections 3 and 4, and of
`partition-by-chain-cea`, sections 2 and 3, as a set.

In: a pattern and a list of events. Out: every `Result` (C, ν, binding) such that C ∈ ⟦φ⟧(S, ν') for all
valuations ν' that extend ν, where ν is *partial*: a variable it does not mention may be any position.

The binding is the second-order valuation μ of the later paper: from names to sets of positions, united by
; ALL and iteration. `φ IN X` gives X all events of φ, `R AS x` gives x its one event; so under an iteration x
has those of all rounds, which is what the output shows. Only sets and PART-BY are asked about μ: a condition
on `x` is about ν, one event.

Beyond the papers: `φ : ψ`, `φ?` (φ OR ε), `φ{l,m}`, `φ:+`, windows of parts, and ε, the match of no events, which is
neutral for ; : and ALL. AND and NOT are those of `lazy-chain-nfa`, section 4; `results` says how NOT is evaluated.
`Recognise` is the sets that a SREMO recognises, see `reading`.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import assert_never

from cepheid.algebra.conditions import (
    Condition,
    conjuncts,
    is_about_whole_sets,
    sets_read,
    variables,
)
from cepheid.algebra.nodes import (
    EVENTS,
    PREVIOUS,
    All,
    Atom,
    Bind,
    Filter,
    Nfab,
    Not,
    Or,
    PartBy,
    Pattern,
    Recognise,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    Window,
    Within,
    children,
    walk,
)
from cepheid.algebra.variables import absent, defined_once, is_iteration, label_of
from cepheid.semantics.keys import is_one_key
from cepheid.semantics.reading import recognised
from cepheid.semantics.results import (
    EMPTY,
    FOLLOWING,
    NOBODY,
    Combine,
    Pairs,
    Result,
    Results,
    all_kept,
    combined,
    kept,
    mapped,
    mentions,
    only,
    settled,
    stands,
    under,
    whole,
    without,
)
from cepheid.semantics.strategies import ComplexEvent, choose
from cepheid.semantics.stream import Stream, inside
from cepheid.semantics.values import holds
from cepheid.semantics.whole_sets import holds_of_sets


def meaning(pattern: Pattern, stream: Stream, shown: Collection[str] | None = None) -> Results:
    """All results of a pattern, their bindings for the names in `shown` only, or for all if it is None. Those of a
    pattern with a NOT come with their rivals: a window around may still say that these are too far.

    >>> from cepheid.semantics.stream import Event
    >>> stream = [Event("A", 0, {}), Event("B", 1, {}), Event("B", 2, {})]
    >>> found = meaning(Seq(Atom("A", "x"), Repeat(Atom("B", "y"), 1, None)), stream)
    >>> sorted(result.events for result in found)
    [(0, 1), (0, 1, 2), (0, 2)]
    """
    if shown is None:
        return frozenset(whole(_meaning(pattern, stream, None)))
    names = frozenset(shown)
    results = whole(_meaning(pattern, stream, names | asked_about(pattern)))
    return frozenset(result._replace(binding=only(result.binding, names)) for result in results)


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
            case (
                Atom()
                | Seq()
                | StrictSeq()
                | Or()
                | All()
                | Repeat()
                | Select()
                | Bind()
                | Recognise()
                | Nfab()
            ):
                pass
            case Not() | Within():
                pass
            case _:
                assert_never(node)
    return frozenset(asked)


def _meaning(pattern: Pattern, stream: Stream, shown: frozenset[str] | None) -> Results:
    match pattern:
        case Atom():
            return frozenset(_atom(pattern, stream, shown))
        case Filter(body, condition):
            return _filter(_meaning(body, stream, shown), condition, stream, absent(body))
        case Or(parts):
            return frozenset[Result]().union(*(_meaning(part, stream, shown) for part in parts))
        case Seq(left, right):
            return _join(_meaning(left, stream, shown), _meaning(right, stream, shown), _after)
        case StrictSeq(left, right):
            return _join(_meaning(left, stream, shown), _meaning(right, stream, shown), _directly_after)
        case Repeat(body):
            results = _meaning(body, stream, shown)
            return _iterate(pattern, results) if is_iteration(pattern) else _option(results, pattern.lo)
        case Select(strategy, body):
            results = _meaning(body, stream, shown)
            return _select(results, strategy, free(body) - defined_once(body), len(stream))
        case All(left, right, apart):
            shared = defined_once(left) & defined_once(right) if apart else None
            return _unite(_meaning(left, stream, shown), _meaning(right, stream, shown), shared)
        case Not(body, within):
            forbidden = _meaning(body, stream, shown)
            return _not(forbidden if within is None else _near_neighbour(forbidden, within, stream))
        case Within(body, window, of=of):
            results = _meaning(body, stream, shown)
            if of is None:
                return all_kept(results, lambda result: _within(result, window, stream))
            return frozenset(_within_of(results, window, of, stream))
        case Bind(body, var):
            results = _meaning(body, stream, shown)
            return results if shown is not None and var not in shown else frozenset(_bind(results, var))
        case PartBy(body, keys):
            return _part_by(_meaning(body, stream, shown), keys, stream)
        case Recognise(reading):
            return frozenset(_recognised(recognised(reading, stream), shown))
        case Nfab():
            raise AssertionError(pattern)  # a whole pattern, whose runs its query's window bounds (`nfab`)
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


def _filter(results: Results, condition: Condition, stream: Stream, forbidden: frozenset[str]) -> Results:
    """ρ FILTER (P AND Q) is (ρ FILTER P) FILTER Q; any other condition is one predicate."""
    for part in conjuncts(condition):
        results = frozenset(_satisfying(results, part, stream, forbidden))
    return results


def _satisfying(
    results: Results, condition: Condition, stream: Stream, forbidden: frozenset[str]
) -> Iterator[Result]:
    """ρ FILTER P(x̄): C ∈ ⟦ρ⟧(S, ν) and (S[ν(x₁)], …, S[ν(xₙ)]) ∈ P. Where P is asked of an event that a NOT forbids,
    only the rivals that have it are asked."""
    names = variables(condition) - sets_read(condition)
    holds_under = (_of_whole_sets if is_about_whole_sets(condition) else _of_each)(condition, names, stream)

    def satisfying(result: Result) -> Iterator[Result]:
        bound = {name for name, _ in result.valuation | result.binding}
        if any(name in forbidden and name not in bound for name in variables(condition)):
            rivals = frozenset(one for rival in result.rivals for one in satisfying(rival))
            yield result._replace(rivals=rivals)
            return
        holds_at = holds_under(result)
        for valuation in _extensions(result.valuation, sorted(names), len(stream)):
            if holds_at(dict(valuation)):
                here = under(result, valuation)
                assert here is not None
                yield here._replace(
                    rivals=frozenset(one for rival in here.rivals for one in satisfying(rival))
                )

    for result in results:
        yield from satisfying(result)


HoldsUnder = Callable[[Result], Callable[[dict[str, int]], bool]]


def _of_each(condition: Condition, names: frozenset[str], stream: Stream) -> HoldsUnder:
    """Of sets P is its second-order extension: it holds for every choice of one event of each, so for an empty set
    always."""
    gathered = sorted(sets_read(condition))
    order = (*sorted(names), *gathered)
    known: dict[tuple[int, ...], bool] = {}

    def holds_at(places: tuple[int, ...]) -> bool:
        if places not in known:
            events = zip(order, places, strict=True)
            known[places] = holds(condition, {name: stream[place].attributes for name, place in events})
        return known[places]

    def of_result(result: Result) -> Callable[[dict[str, int]], bool]:
        choices = list(itertools.product(*(_gathered(result, name) for name in gathered)))
        return lambda at: all(
            holds_at((*(at[name] for name in sorted(names)), *chosen)) for chosen in choices
        )

    return of_result


def _of_whole_sets(condition: Condition, names: frozenset[str], stream: Stream) -> HoldsUnder:
    """Aggregates are over all of μ(X), and `prev` is the event before the chosen one in μ(X)."""

    def of_result(result: Result) -> Callable[[dict[str, int]], bool]:
        gathered = {
            name: [stream[place].attributes for place in sorted(_gathered(result, name))]
            for name in sets_read(condition)
        }
        return lambda at: holds_of_sets(
            condition, gathered, {name: stream[at[name]].attributes for name in names}
        )

    return of_result


def _gathered(result: Result, name: str) -> list[int]:
    """μ(X)."""
    return [position for gatherer, position in result.binding if gatherer == name]


def _bind(results: Results, var: str) -> Iterator[Result]:
    """ρ IN X: μ(X) = C."""

    def bound(result: Result) -> Result:
        return result._replace(binding=result.binding.union((var, position) for position in result.events))

    return (mapped(result, bound) for result in results)


def _part_by(results: Results, keys: tuple[tuple[str | None, str], ...], stream: Stream) -> Results:
    """ρ PART-BY [X₁.a₁, …]: S[l].aᵢ = S[m].aⱼ for all i, j, l ∈ μ(Xᵢ) and m ∈ μ(Xⱼ)."""
    return all_kept(
        results,
        lambda result: is_one_key(
            stream[position].attributes[name]
            for var, name in keys
            for position in (result.events if var is None else _gathered(result, var))
        ),
    )


def _unite(lefts: Results, rights: Results, shared: frozenset[str] | None) -> Results:
    """ρ₁ ALL ρ₂: C = C₁ ∪ C₂ and μ = μ₁ ∪ μ₂; C₁ and C₂ may share events. ρ₁ AND ρ₂, where `shared` is not None: they
    share those of the variables that both define, and no others."""
    united: set[Result] = set()
    for left, right in itertools.product(lefts, rights):
        if shared is not None:
            same = {position for _, position in only(left.valuation & right.valuation, shared)}
            both = combined(left, right, partial(_apart, same))
        else:
            both = combined(left, right, _union)
        if both is not None:
            united.add(both)
    return frozenset(united)


def _union(left: ComplexEvent, right: ComplexEvent) -> ComplexEvent:
    return tuple(sorted({*left, *right}))


def _apart(same: set[int], left: ComplexEvent, right: ComplexEvent) -> ComplexEvent | None:
    return _union(left, right) if set(left).intersection(right) <= same else None


def _extensions(valuation: Pairs, names: Iterable[str], length: int) -> Iterator[Pairs]:
    """Every extension of a partial valuation to `names`: an unassigned variable may have any position."""
    assigned = {name for name, _ in valuation}
    open_names = [name for name in names if name not in assigned]
    for positions in itertools.product(range(length), repeat=len(open_names)):
        yield valuation.union(zip(open_names, positions, strict=True))


def _after(left: ComplexEvent, right: ComplexEvent) -> ComplexEvent | None:
    return left + right if not left or not right or left[-1] < right[0] else None


def _directly_after(left: ComplexEvent, right: ComplexEvent) -> ComplexEvent | None:
    return left + right if not left or not right or left[-1] + 1 == right[0] else None


def _join(lefts: Results, rights: Results, combine: Combine) -> Results:
    """ρ₁ ; ρ₂: C = C₁ · C₂ with C₁ ∈ ⟦ρ₁⟧(S, ν) and C₂ ∈ ⟦ρ₂⟧(S, ν), the same ν; ε is neutral."""
    joined: set[Result] = set()
    rights_by_first = defaultdict(list)
    for right in rights:
        rights_by_first[right.events[:1]].append(right)
    asks_left, asks_right = mentions(lefts, FOLLOWING), mentions(rights, PREVIOUS)
    for left in lefts:
        for first, group in rights_by_first.items():
            if combine(left.events, first) is None:
                continue
            one = settled(left, FOLLOWING, first[0]) if asks_left and first else left
            for right in group:
                two = settled(right, PREVIOUS, left.events[-1]) if asks_right and left.events else right
                both = None if one is None or two is None else combined(one, two, combine)
                if both is not None:
                    joined.add(both)
    return frozenset(joined)


def _option(results: Results, lo: int) -> Results:
    """φ{1,1} is φ; φ{0,1} is φ OR ε. Neither opens a scope."""
    return results if lo == 1 else results | {EMPTY}


def _iterate(pattern: Repeat, results: Results) -> Results:
    """ρ+: some ν' with C ∈ ⟦ρ⟧(S, ν[ν'/U]) or C ∈ ⟦ρ ; ρ+⟧(S, ν[ν'/U]), U = vdef₊(ρ): each iteration has its
    own positions for U, so afterwards nothing is known of them; the other variables are shared. ρ:+: by `:`."""
    scope, combine = defined_once(pattern.body), _directly_after if pattern.strict else _after
    once = frozenset(
        mapped(result, lambda one: one._replace(valuation=without(one.valuation, scope)))
        for result in results
    )
    total: Results = frozenset([EMPTY])
    for _ in range(pattern.lo):
        before, total = total, _join(total, once, combine)
        if total == before:
            break  # and so it stays
    fresh, times = total, pattern.lo
    # Results of fewer iterations need not be extended again: they had more iterations left.
    while fresh and (pattern.hi is None or times < pattern.hi):
        fresh, times = _join(fresh, once, combine) - total, times + 1
        total |= fresh
    return total


def _not(forbidden: Iterable[Result]) -> Results:
    """NOT ρ: ε, unless some C ∈ ⟦ρ⟧(S, ν) fits in its place."""
    return frozenset([EMPTY._replace(rivals=frozenset(result for result in forbidden if result.events))])


def _near_neighbour(forbidden: Iterable[Result], window: Window, stream: Stream) -> Iterator[Result]:
    """NOT ρ FOR w: C lies within w of the last event before it, or, where there is none, of the first after it."""
    for result in forbidden:
        if not result.events:
            continue
        for position in range(result.events[0]):
            yield from _tied(result, {PREVIOUS: position}, position, window, stream)
        for position in range(result.events[-1] + 1, len(stream)):
            yield from _tied(result, {PREVIOUS: NOBODY, FOLLOWING: position}, position, window, stream)


def _within_of(results: Results, window: Window, of: str, stream: Stream) -> Iterator[Result]:
    """ρ WITHIN w OF x: every event of C lies within w of S[ν(x)]; OF PREVIOUS: of the event before C, if any."""
    for result in results:
        if not result.events:
            yield result
        elif of == PREVIOUS:
            for position in range(result.events[0]):
                yield from _tied(result, {PREVIOUS: position}, position, window, stream)
            yield from filter(None, [under(result, frozenset([(PREVIOUS, NOBODY)]))])
        else:
            for valuation in _extensions(result.valuation, [of], len(stream)):
                yield from _tied(result, dict(valuation), dict(valuation)[of], window, stream)


def _tied(
    result: Result, places: dict[str, int], anchor: int, window: Window, stream: Stream
) -> Iterator[Result]:
    """The result with variables at these places, if all of its events lie within the window of the anchor."""
    here = under(result, frozenset(places.items()))
    if here is not None:
        tied = kept(
            here,
            lambda one: _within(one._replace(events=tuple(sorted((*one.events, anchor)))), window, stream),
        )
        yield from filter(None, [tied])


def _within(result: Result, window: Window, stream: Stream) -> bool:
    return not result.events or inside(window, stream, result.events[0], result.events[-1])


def _select(results: Results, strategy: Strategy, outer: frozenset[str], length: int) -> Results:
    """A strategy inside a formula: for each valuation of the variables from outside, the strategy chooses
    among the complex events over all valuations of those inside. What a NOT inside rejects is no choice; nothing around
    the part matters for that."""
    by_outer: dict[Pairs, set[Result]] = defaultdict(set)
    for result in whole(results):
        for valuation in _extensions(result.valuation, sorted(outer), length):
            seen_from_outside = only(valuation, outer)
            here = under(result, valuation)
            if here is not None and stands(here):
                by_outer[seen_from_outside].add(here._replace(rivals=frozenset()))
    chosen_results: set[Result] = set()
    for group in by_outer.values():
        chosen = choose(strategy, (result.events for result in group))
        chosen_results.update(result for result in group if result.events in chosen)
    return frozenset(chosen_results)


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
        case Within(of=str(name)) if name != PREVIOUS:
            return below | {name}
        case Repeat(body) if is_iteration(pattern):
            return below - defined_once(body)
        case Atom() | Recognise() | Nfab():
            return below
        case Seq() | StrictSeq() | Or() | All() | Repeat() | PartBy() | Select() | Bind() | Not() | Within():
            return below
        case _:
            assert_never(pattern)
