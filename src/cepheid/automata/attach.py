"""Attach: every condition of several events on the atom whose event is the last of them.

In: a rewritten pattern whose filters compare events. Out: the same matches without filters: an atom's condition may
read, beside its own event (var None), variables that were bound before it, so that it is decided as soon as its
event is read. Variables of different scopes get different names, for an iteration binds its own afresh.

A filter inside one alternative that reads a variable bound later takes what is around it apart: `(ρ FILTER P OR σ) ; τ`
is `(ρ ; τ) FILTER P OR σ ; τ`. So a part of a pattern is here a set of alternatives by the conditions that still wait,
and only alternatives that wait for different ones are kept apart. Of ALL every order is written out (`regular`).
Rounds `{l,m}` whose own events wait for later ones are written out; in an iteration without bound these events are a
set. Conditions on sets are put in place where the last scope ends that binds one of their other variables
(`attach_sets`): a set without events asks for nothing, so that alternatives need not be kept apart for them. PART-BY
compares all events of its body with the first (`attach_keys`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import assert_never

from cepheid.algebra.conditions import (
    Attribute,
    Condition,
    conjunction,
    conjuncts,
    sets_read,
    variables,
    with_attributes,
    with_names,
)
from cepheid.algebra.empty import EMPTY, either, is_empty, nullable
from cepheid.algebra.limits import guarded
from cepheid.algebra.nodes import (
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
    StrictSeq,
    rebuild,
)
from cepheid.algebra.variables import bound, defined, defined_once, is_iteration, names_of
from cepheid.automata.attach_atoms import NotAttachedError, non_empty, not_bound, on_first, on_last
from cepheid.automata.attach_keys import with_one_key
from cepheid.automata.attach_names import MARK
from cepheid.automata.attach_rounds import Check, check_bound, check_of, with_first_marked
from cepheid.automata.attach_sets import NoExtremeError, on_sets
from cepheid.automata.pattern_alternatives import in_sequence
from cepheid.automata.pattern_of_positions import pattern_of
from cepheid.automata.positions_of_pattern import positions_of

MOST_PARTS = 256


@dataclass(frozen=True, slots=True)
class Attached:
    """`variable` says which variable each name in the pattern stands for. `checks`: what is left to ask of whole
    matches, by names in the pattern."""

    pattern: Pattern
    variable: dict[str, str]
    checks: tuple[Check, ...] = ()


def attach(pattern: Pattern, extremes: bool = True) -> Attached:
    """The pattern with every filter on its last atom. Without `extremes` all filters on sets are left as checks, where
    whole matches tell.

    >>> from cepheid.algebra.conditions import Comparison
    >>> from cepheid.algebra.printing import print_condition
    >>> rising = Comparison(">", Attribute("y", "price"), Attribute("x", "price"))
    >>> attached = attach(Filter(Seq(Atom("A", "x"), Atom("B", "y")), rising))
    >>> print_condition(attached.pattern.right.condition)
    'price > "x′0".price'
    """
    names = _Names(extremes)
    parts = _parts(_renamed(pattern, {}, names), frozenset(), names)
    for waiting in parts:
        for condition in waiting:
            raise not_bound(condition)
    whole, checks = parts[()], []
    for check in names.on_sets:
        decided = _decided_by_one(check, {(): whole}, frozenset(), names)
        if decided is not None:
            whole = decided[()]
            continue
        check_bound(check, whole, check.singles)
        singles = ((name, ()) for name in sorted(check.singles))
        checks.append(Check(check.condition, (*check.paths, *singles)))
    return Attached(whole, names.variable, tuple(checks))


# ── one name per variable and scope ─────────────────────────────────────────────────────────────────────────


class _Names:
    """`on_sets` are the conditions on sets, by names given here, that are not yet in their place."""

    def __init__(self, extremes: bool) -> None:
        self.extremes = extremes
        self.variable: dict[str, str] = {}
        self.on_sets: list[Check] = []
        self._next = count()

    def unseen(self, name: str) -> str:
        """A name for events that a match does not show under it."""
        return f"{name.partition(MARK)[0]}{MARK}{next(self._next)}"

    def scope(self, names: frozenset[str]) -> dict[str, str]:
        """Names for these variables in a scope of their own."""
        number = next(self._next)
        return {name: self._noted(name, number) for name in sorted(names)}

    def again(self, names: frozenset[str]) -> dict[str, str]:
        """Other names for what names given here stand for: two may stand for the same variable in different scopes."""
        return {name: self._noted(self.variable[name], next(self._next)) for name in sorted(names)}

    def _noted(self, variable: str, number: int) -> str:
        name = f"{variable}{MARK}{number}"
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
            renamed = _in_scope(condition, scope)
            return replace(pattern, body=_renamed(body, scope, names), condition=renamed)
        case Seq() | StrictSeq() | Or() | All() | Repeat() | PartBy() | Select() | Bind() | Recognise():
            return rebuild(pattern, lambda child: _renamed(child, scope, names))
        case _:
            assert_never(pattern)


def _in_scope(condition: Condition, scope: dict[str, str]) -> Condition:
    def named(attribute: Attribute) -> Attribute:
        if attribute.each or attribute.var is None:
            return attribute
        if attribute.var not in scope:
            raise NotAttachedError(f"`{attribute.var}` is bound nowhere that its filter could see")
        return replace(attribute, var=scope[attribute.var])

    return with_attributes(condition, named)


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
            alike = dict[frozenset[str], list[Condition]]()
            for item in conjuncts(condition):
                if sets_read(item):
                    parts = _with_sets_named(parts, item, names)
                else:
                    alike.setdefault(variables(item), []).append(item)
            # Those that read the same events go to the same atoms: one by one, many would take quadratic time.
            for items in alike.values():
                item = conjunction(tuple(items))
                parts = _merged(_filtered(part, (*waiting, item), known) for waiting, part in parts.items())
            return parts
        case Seq(left, right) | StrictSeq(left, right):
            lefts, rights = _parts(left, known, names), _parts(right, known | bound(left), names)
            return _joined(partial(in_sequence, type(pattern)), lefts, rights, known)
        case All(left, right):
            return _joined(_in_any_order, _parts(left, known, names), _parts(right, known, names), known)
        case Or(parts):
            return _merged([_parts(part, known, names) for part in parts])
        case Bind(body):
            return {
                waiting: part if is_empty(part) else replace(pattern, body=part)
                for waiting, part in _parts(body, known, names).items()
            }
        case Repeat(body) if is_iteration(pattern):
            before = len(names.on_sets)
            parts = _parts(body, known, names)
            return _repeated(pattern, _with_sets_compared(parts, before, known, names), known, names)
        case Repeat(body):
            return _repeated(pattern, _parts(body, known, names), known, names)
        case PartBy(body):
            return {
                waiting: with_one_key(replace(pattern, body=part), names.variable, names.unseen)
                for waiting, part in _parts(body, known, names).items()
            }
        case Select(strategy):
            raise NotAttachedError(f"{strategy.value} compares matches inside the formula")
        case Recognise():
            raise NotAttachedError("an operator has no automaton yet")
        case _:
            assert_never(pattern)


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
    join: Callable[[Pattern, Pattern], Pattern], lefts: Parts, rights: Parts, known: frozenset[str]
) -> Parts:
    if len(lefts) * len(rights) > MOST_PARTS:
        raise _too_many()
    parts = _merged(
        _filtered(join(left, right), (*first, *second), known)
        for first, left in lefts.items()
        for second, right in rights.items()
    )
    guarded(either(parts.values()), "attach")
    return parts


def _too_many() -> NotAttachedError:
    return NotAttachedError("filters in alternatives wait for later events in too many combinations")


def _in_any_order(left: Pattern, right: Pattern) -> Pattern:
    """Every order written out, so that it is known which of the compared events is the last."""
    return pattern_of(*positions_of(All(left, right)))


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
        return _repeated(pattern, _with_rounds_gathered(parts, own, names), known, names)
    done: Parts = {(): EMPTY}
    found = [done] if pattern.lo == 0 else []
    for number in range(1, pattern.hi + 1):
        done = _joined(partial(in_sequence, Seq), done, _afresh(parts, names), known)
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


# ── sets ────────────────────────────────────────────────────────────────────────────────────────────────────


def _with_sets_named(parts: Parts, condition: Condition, names: _Names) -> Parts:
    """Notes a condition on sets under names for what they gather here: elsewhere they may gather more."""
    scope = {name: names.unseen(name) for name in sorted(sets_read(condition))}
    names.on_sets.append(check_of(with_names(condition, scope)))
    return {waiting: _gathered_twice(part, scope) for waiting, part in parts.items()}


def _gathered_twice(pattern: Pattern, scope: dict[str, str]) -> Pattern:
    pattern = rebuild(pattern, lambda child: _gathered_twice(child, scope))
    return (
        Bind(pattern, scope[pattern.var]) if isinstance(pattern, Bind) and pattern.var in scope else pattern
    )


def _with_sets_compared(parts: Parts, before: int, known: frozenset[str], names: _Names) -> Parts:
    """One round with its conditions on sets in place, but for those that read what other scopes bind later, and those
    that no one event decides: of these the events of a round go together."""
    mine = frozenset[str]().union(*(defined_once(part) for part in parts.values()))
    noted, names.on_sets = names.on_sets[before:], names.on_sets[:before]
    together = []
    for check in noted:
        decided = _decided_by_one(check, parts, known, names) if check.singles <= known | mine else None
        if decided is not None:
            parts = decided
        elif check.singles & mine or (len(check.paths) > 1 and not check.is_of_rounds):
            together.append(check)
        else:
            names.on_sets.append(check)
    if together:
        marker = names.unseen("round")
        for check in together:
            parts = _with_round_gathered(check, parts, marker, check.singles & mine, names)
        parts = {waiting: with_first_marked(part, marker) for waiting, part in parts.items()}
    return parts


def _decided_by_one(check: Check, parts: Parts, known: frozenset[str], names: _Names) -> Parts | None:
    """The parts with the condition in place, where of each set one event decides for all."""
    if check.is_of_rounds or not names.extremes:
        return None
    try:
        return {
            waiting: on_sets(check.condition, part, known, names.unseen) for waiting, part in parts.items()
        }
    except NoExtremeError:
        return None


def _with_round_gathered(
    check: Check, parts: Parts, marker: str, own: frozenset[str], names: _Names
) -> Parts:
    """Notes the condition for events of a round that go together: `own` ones, and those of its sets."""
    for part in parts.values():
        check_bound(check, part, own)
    scope = {name: names.unseen(name) for name in sorted(own)}
    paths = [(name, (marker, *path)) for name, path in check.paths]
    paths += [(name, (marker,)) for name in scope.values()]
    names.on_sets.append(Check(_of_each(check.condition, scope), tuple(paths)))
    return {waiting: _with_events_gathered(part, scope) for waiting, part in parts.items()}


def _with_rounds_gathered(parts: Parts, own: frozenset[str], names: _Names) -> Parts:
    """Rounds whose own events no condition waits for: the events that one did are a set, of all rounds."""
    found: list[Parts] = []
    noted: dict[Condition, dict[str, str]] = {}
    for waiting, part in parts.items():
        kept = tuple(condition for condition in waiting if not variables(condition) & own)
        for condition in waiting:
            if condition in kept:
                continue
            mine = variables(condition) & own
            if not mine <= bound(part):
                raise not_bound(condition)
            scope = noted.setdefault(condition, {name: names.unseen(name) for name in sorted(mine)})
            part = _with_events_gathered(part, scope)
        found.append({kept: part})
    merged, marker = _merged(found), names.unseen("round")
    for condition, scope in noted.items():
        path = (marker,) if len(scope) > 1 else ()
        names.on_sets.append(
            Check(_of_each(condition, scope), tuple((name, path) for name in scope.values()))
        )
    if any(len(scope) > 1 for scope in noted.values()):
        merged = {waiting: with_first_marked(part, marker) for waiting, part in merged.items()}
    return merged


def _with_events_gathered(pattern: Pattern, scope: dict[str, str]) -> Pattern:
    if not isinstance(pattern, Atom):
        return rebuild(pattern, lambda child: _with_events_gathered(child, scope))
    found: Pattern = pattern
    for name in sorted(names_of(pattern) & scope.keys()):
        found = Bind(found, scope[name])
    return found


def _of_each(condition: Condition, scope: dict[str, str]) -> Condition:
    return with_attributes(
        condition, lambda one: replace(one, var=scope[one.var], each=True) if one.var in scope else one
    )


# ── names in other rounds ───────────────────────────────────────────────────────────────────────────────────


def _afresh(parts: Parts, names: _Names) -> Parts:
    """One more round, with variables of its own."""
    scope = names.again(frozenset[str]().union(*(defined(part) for part in parts.values())))
    return {
        tuple(with_names(condition, scope) for condition in waiting): _copied(part, scope)
        for waiting, part in parts.items()
    }


def _copied(pattern: Pattern, scope: dict[str, str]) -> Pattern:
    if not isinstance(pattern, Atom):
        return rebuild(pattern, lambda child: _copied(child, scope))
    condition = None if pattern.condition is None else with_names(pattern.condition, scope)
    var, also = (
        (None if pattern.var is None else scope[pattern.var]),
        tuple(map(scope.__getitem__, pattern.also)),
    )
    return replace(pattern, var=var, also=also, condition=condition)
