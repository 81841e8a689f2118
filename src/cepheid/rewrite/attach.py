"""Attach: every condition of several events on the atom whose event is the last of them.

In: a rewritten pattern whose filters compare events. Out: the same matches without filters: an atom's condition may
read, beside its own event (var None), variables that were bound before it, so that it is decided as soon as its
event is read. Variables of different scopes get different names, for an iteration binds its own afresh.

A filter inside one alternative that reads a variable bound later takes what is around it apart: `(ρ FILTER P OR σ) ; τ`
is `(ρ ; τ) FILTER P OR σ ; τ`. So a part of a pattern is here a set of alternatives by the conditions that still wait,
and only alternatives that wait for different ones are kept apart. Rounds `{l,m}` whose own events wait for later ones
are written out; an iteration without bound would have to remember all its rounds, which is an error that says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count

from cepheid.algebra.conditions import Attribute, Condition, Index, conjuncts, sets_read, variables
from cepheid.algebra.conditions import rebuild as rebuild_condition
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
    Recognise,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Within,
    rebuild,
)
from cepheid.algebra.printing import print_part_by
from cepheid.algebra.variables import bound, defined, defined_once, is_iteration
from cepheid.rewrite.attach_atoms import (
    NotAttachedError,
    non_empty,
    not_bound,
    on_all_of,
    on_first,
    on_last,
    printed,
)
from cepheid.rewrite.empty import EMPTY, either, is_empty, nullable
from cepheid.rewrite.limits import guarded

MOST_PARTS = 256


@dataclass(frozen=True, slots=True)
class Attached:
    """`variable` says which variable each name in the pattern stands for."""

    pattern: Pattern
    variable: dict[str, str]


def attach(pattern: Pattern) -> Attached:
    """The pattern with every filter on its last atom.

    >>> from cepheid.algebra.conditions import Comparison
    >>> from cepheid.algebra.printing import print_condition
    >>> rising = Comparison(">", Attribute("y", "price"), Attribute("x", "price"))
    >>> attached = attach(Filter(Seq(Atom("A", "x"), Atom("B", "y")), rising))
    >>> print_condition(attached.pattern.right.condition)
    'price > "x′0".price'
    """
    names = _Names()
    parts = _parts(_renamed(pattern, {}, names), frozenset(), names)
    for waiting in parts:
        for condition in waiting:
            raise not_bound(condition)
    return Attached(parts[()], names.variable)


# ── one name per variable and scope ─────────────────────────────────────────────────────────────────────────


class _Names:
    def __init__(self) -> None:
        self.variable: dict[str, str] = {}
        self._next = count()

    def scope(self, names: frozenset[str]) -> dict[str, str]:
        """Names for these variables in a scope of their own."""
        number = next(self._next)
        return {name: self._noted(name, number) for name in sorted(names)}

    def again(self, names: frozenset[str]) -> dict[str, str]:
        """Other names for what names given here stand for: two may stand for the same variable in different scopes."""
        return {name: self._noted(self.variable[name], next(self._next)) for name in sorted(names)}

    def _noted(self, variable: str, number: int) -> str:
        name = f"{variable}′{number}"
        self.variable[name] = variable
        return name


def _renamed(pattern: Pattern, scope: dict[str, str], names: _Names) -> Pattern:
    if not scope:
        scope = names.scope(defined_once(pattern))
    match pattern:
        case Atom(var=var):
            return replace(pattern, var=None if var is None else scope[var])
        case Repeat(body) if is_iteration(pattern):
            inner = {**scope, **names.scope(defined_once(body))}
            return replace(pattern, body=_renamed(body, inner, names))
        case Filter(body, condition):
            renamed = _with_names(condition, scope)
            return replace(pattern, body=_renamed(body, scope, names), condition=renamed)
        case _:
            return rebuild(pattern, lambda child: _renamed(child, scope, names))


def _with_names(condition: Condition, scope: dict[str, str]) -> Condition:
    if isinstance(condition, Attribute):
        if condition.index is Index.EACH or condition.var is None:
            return condition
        if condition.var not in scope:
            raise NotAttachedError(f"`{condition.var}` is bound nowhere that its filter could see")
        return replace(condition, var=scope[condition.var])
    return rebuild_condition(condition, lambda child: _with_names(child, scope))


# ── filters to atoms ────────────────────────────────────────────────────────────────────────────────────────

Parts = dict[tuple[Condition, ...], Pattern]
"""The alternatives of a pattern, without filters, by the conditions on them that wait for other variables."""


def _parts(pattern: Pattern, known: frozenset[str], names: _Names) -> Parts:
    """`known` are the variables that every match binds before this pattern."""
    match pattern:
        case Atom():
            return {(): pattern}
        case Filter(body, condition):
            parts = _parts(body, known, names)
            for item in conjuncts(condition):
                parts = _merged(_filtered(part, (*waiting, item), known) for waiting, part in parts.items())
            return parts
        case Seq(left, right) | StrictSeq(left, right):
            lefts, rights = _parts(left, known, names), _parts(right, known | bound(left), names)
            return _joined(type(pattern), lefts, rights, known)
        case Or(left, right):
            return _merged([_parts(left, known, names), _parts(right, known, names)])
        case Bind(body):
            return {
                waiting: part if is_empty(part) else replace(pattern, body=part)
                for waiting, part in _parts(body, known, names).items()
            }
        case Repeat(body):
            return _repeated(pattern, _parts(body, known, names), known, names)
        case PartBy(_, keys):
            raise NotAttachedError(f"{print_part_by(keys)} compares events")
        case All():
            raise NotAttachedError("ALL takes its parts in any order")
        case Select(strategy):
            raise NotAttachedError(f"{strategy.value} compares matches inside the formula")
        case Intersect() | Not() | Within() | Recognise():
            raise NotAttachedError("an operator has no automaton yet")


def _filtered(pattern: Pattern, conditions: Iterable[Condition], known: frozenset[str]) -> Parts:
    """The pattern with those conditions on its atoms that can be decided by now; the others wait."""
    parts: Parts = {(): pattern}
    for condition in conditions:
        parts = _merged(
            {tuple(dict.fromkeys((*waiting, *more))): result}
            for waiting, part in parts.items()
            for more, result in _decided(part, condition, known).items()
        )
    return parts


def _decided(pattern: Pattern, condition: Condition, known: frozenset[str]) -> Parts:
    """One that reads only what was bound before has no atom in the empty match, which so waits for a neighbour."""
    if sets_read(condition):
        return {(): on_all_of(condition, pattern)}
    binds = bound(pattern)
    if not variables(condition) <= known | binds:
        return {(condition,): pattern}
    if variables(condition) & binds:
        return {(): on_last(condition, pattern)}
    if not nullable(pattern):
        return {(): on_first(condition, pattern)}
    rest = non_empty(pattern)
    return {(condition,): EMPTY} | ({} if rest is None else {(): on_first(condition, rest)})


def _joined(
    sequence: type[Seq] | type[StrictSeq], lefts: Parts, rights: Parts, known: frozenset[str]
) -> Parts:
    if len(lefts) * len(rights) > MOST_PARTS:
        raise _too_many()
    parts = _merged(
        _filtered(_in_sequence(sequence, left, right), (*first, *second), known)
        for first, left in lefts.items()
        for second, right in rights.items()
    )
    guarded(either(parts.values()), "attach")
    return parts


def _too_many() -> NotAttachedError:
    return NotAttachedError("filters in alternatives wait for later events in too many combinations")


def _in_sequence(sequence: type[Seq] | type[StrictSeq], left: Pattern, right: Pattern) -> Pattern:
    return right if is_empty(left) else left if is_empty(right) else sequence(left, right)


def _merged(several: Iterable[Parts]) -> Parts:
    """One pattern for all alternatives that wait for the same conditions."""
    found: dict[tuple[Condition, ...], list[Pattern]] = {}
    for parts in several:
        for waiting, part in parts.items():
            found.setdefault(waiting, []).append(part)
    return {waiting: either(parts) for waiting, parts in found.items()}


# ── rounds ──────────────────────────────────────────────────────────────────────────────────────────────────


def _repeated(pattern: Repeat, parts: Parts, known: frozenset[str], names: _Names) -> Parts:
    """The repetition itself where nothing waits, else one alternative, or more, for each number of rounds."""
    if pattern.hi == 0:
        return {(): EMPTY}
    if set(parts) == {()}:
        return {(): replace(pattern, body=parts[()])}
    if not is_iteration(pattern):
        return parts if pattern.lo == 1 else _merged([parts, {(): EMPTY}])
    own = frozenset[str]().union(*(defined(part) for part in parts.values()))
    if not any(variables(condition) & own for waiting in parts for condition in waiting):
        return _in_all_rounds(pattern, parts)
    if pattern.hi is None:
        condition = next(condition for waiting in parts for condition in waiting)
        raise NotAttachedError(
            f"FILTER {printed(condition)} compares every round of an iteration with what comes later"
        )
    done: Parts = {(): EMPTY}
    found = [done] if pattern.lo == 0 else []
    for number in range(1, pattern.hi + 1):
        done = _joined(Seq, done, _afresh(parts, names), known)
        if number >= pattern.lo:
            found.append(done)
    return _merged(found)


def _in_all_rounds(pattern: Repeat, parts: Parts) -> Parts:
    """Where no condition that waits is about a round's own events: what one round waits for, all may."""
    unions = [frozenset[Condition]()]
    for waiting in parts:
        unions = list(dict.fromkeys([*unions, *(union.union(waiting) for union in unions)]))
        if len(unions) > MOST_PARTS:
            raise _too_many()
    found: Parts = {}
    for union in unions:
        allowed = [part for waiting, part in parts.items() if union.issuperset(waiting)]
        ordered = tuple(dict.fromkeys(item for waiting in parts for item in waiting if item in union))
        if allowed or pattern.lo == 0:
            found[ordered] = replace(pattern, body=either(allowed)) if allowed else EMPTY
    return found


def _afresh(parts: Parts, names: _Names) -> Parts:
    """One more round, with variables of its own."""
    scope = names.again(frozenset[str]().union(*(defined(part) for part in parts.values())))
    return {
        tuple(_other_names(condition, scope) for condition in waiting): _copied(part, scope)
        for waiting, part in parts.items()
    }


def _copied(pattern: Pattern, scope: dict[str, str]) -> Pattern:
    if not isinstance(pattern, Atom):
        return rebuild(pattern, lambda child: _copied(child, scope))
    condition = None if pattern.condition is None else _other_names(pattern.condition, scope)
    return replace(pattern, var=None if pattern.var is None else scope[pattern.var], condition=condition)


def _other_names(condition: Condition, scope: dict[str, str]) -> Condition:
    if isinstance(condition, Attribute):
        return (
            condition
            if condition.var is None
            else replace(condition, var=scope.get(condition.var, condition.var))
        )
    return rebuild_condition(condition, lambda child: _other_names(child, scope))
