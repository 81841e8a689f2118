"""Results: what a pattern means is a set of them, and these are the operations on one or two.

A `Result` is a complex event C under a partial valuation ν with a binding μ. Its *rivals* reject it: each is what the
pattern around a NOT would have found with a match of the NOT's body in that place, the result's own events beside the
forbidden ones. So an operator treats a rival as it treats the result: what does not fit into its order, condition or
window is no rival. A rival may have rivals itself, of a NOT inside the NOT. What fits to the end rejects.

Two pseudo-variables of ν stand for events around a part: `PREVIOUS`, the last one of the match before it, and
`FOLLOWING`, the first after it; `NOBODY` where there is none. A sequence settles them: it knows the neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from cepheid.algebra.nodes import PREVIOUS
from cepheid.semantics.strategies import ComplexEvent

Pairs = frozenset[tuple[str, int]]

FOLLOWING = "\0"
NOBODY = -1


class Result(NamedTuple):
    """C, ν and the binding μ; ν and μ are sets of (name, position), with one position per name in ν."""

    events: ComplexEvent
    valuation: Pairs
    binding: Pairs
    rivals: frozenset[Result] = frozenset()


Results = frozenset[Result]
EMPTY = Result((), frozenset(), frozenset())  # ε

Combine = Callable[[ComplexEvent, ComplexEvent], ComplexEvent | None]


def agreed(one: Pairs, two: Pairs) -> Pairs | None:
    """The valuation that extends both, if no variable has two positions."""
    both = one | two
    return both if len({name for name, _ in both}) == len(both) else None


def without(pairs: Pairs, names: frozenset[str]) -> Pairs:
    return frozenset(pair for pair in pairs if pair[0] not in names)


def only(pairs: Pairs, names: frozenset[str]) -> Pairs:
    return frozenset(pair for pair in pairs if pair[0] in names)


def stands(result: Result) -> bool:
    """Whether nothing rejects the result: no rival that stands itself.

    >>> rival = Result((0, 1), frozenset(), frozenset(), frozenset([Result((0, 1, 2), frozenset(), frozenset())]))
    >>> stands(rival), stands(Result((0,), frozenset(), frozenset(), frozenset([rival])))
    (False, True)
    """
    return not any(map(stands, result.rivals))


def mapped(result: Result, change: Callable[[Result], Result]) -> Result:
    """The change done to the result and to its rivals."""
    rivals = frozenset(mapped(rival, change) for rival in result.rivals)
    return change(result)._replace(rivals=rivals)


def kept(result: Result, test: Callable[[Result], bool]) -> Result | None:
    """The result with those rivals that pass the test, if it passes itself."""
    if not test(result):
        return None
    return result._replace(rivals=_those(kept(rival, test) for rival in result.rivals))


def all_kept(results: Iterable[Result], test: Callable[[Result], bool]) -> Results:
    return _those(kept(result, test) for result in results)


def under(result: Result, valuation: Pairs) -> Result | None:
    """The result where these variables have these positions, too."""
    both = agreed(result.valuation, valuation)
    if both is None:
        return None
    return result._replace(valuation=both, rivals=_those(under(rival, valuation) for rival in result.rivals))


def _those(results: Iterable[Result | None]) -> Results:
    return frozenset(result for result in results if result is not None)


def combined(left: Result, right: Result, combine: Combine) -> Result | None:
    """Both with one valuation; `combine` gives their events, or None. What rejects one rejects both together, if it
    fits beside the other."""
    events = combine(left.events, right.events)
    valuation = None if events is None else agreed(left.valuation, right.valuation)
    if events is None or valuation is None:
        return None
    binding = left.binding | right.binding
    if not left.rivals and not right.rivals:
        return Result(events, valuation, binding)
    one, other = left._replace(rivals=frozenset()), right._replace(rivals=frozenset())
    rivals = [*(combined(rival, other, combine) for rival in left.rivals)]
    rivals += [combined(one, rival, combine) for rival in right.rivals]
    return Result(events, valuation, binding, _those(rivals))


def mentions(results: Iterable[Result], name: str) -> bool:
    return any(name in dict(result.valuation) or mentions(result.rivals, name) for result in results)


def settled(result: Result, name: str, position: int) -> Result | None:
    """The result where `PREVIOUS` or `FOLLOWING` turns out to be this event; afterwards nothing is asked of it."""
    if dict(result.valuation).get(name, position) != position:
        return None
    rivals = _those(settled(rival, name, position) for rival in result.rivals)
    return result._replace(valuation=without(result.valuation, frozenset([name])), rivals=rivals)


def whole(results: Iterable[Result]) -> Iterator[Result]:
    """The results with nothing around them: nobody comes before or after."""
    for result in results:
        first = settled(result, PREVIOUS, NOBODY)
        last = None if first is None else settled(first, FOLLOWING, NOBODY)
        if last is not None:
            yield last
