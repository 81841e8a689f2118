"""Attach: every condition of several events on the atom whose event is the last of them.

In: a rewritten pattern whose filters compare events. Out: the same matches without filters: an atom's condition may
read, beside its own event (var None), variables that were bound before it, so that it is decided as soon as its
event is read. Variables of different scopes get different names, for an iteration binds its own afresh. Where a
condition has no such atom (it asks of all events of a set, or of an iteration, what only a later event can tell)
there is an error that says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from cepheid.algebra.conditions import (
    Attribute,
    Condition,
    Index,
    conjunction,
    conjuncts,
    sets_read,
    variables,
)
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
from cepheid.algebra.printing import print_condition, print_part_by
from cepheid.algebra.variables import bound, defined_once, is_iteration
from cepheid.errors import CepheidError


class NotAttachedError(CepheidError):
    """A condition cannot be decided at the last event it reads; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__("not-yet", reason)


@dataclass(frozen=True, slots=True)
class Attached:
    """`variable` says which variable each name in the pattern stands for."""

    pattern: Pattern
    variable: dict[str, str]


def attach(pattern: Pattern) -> Attached:
    """The pattern with every filter on its last atom.

    >>> from cepheid.algebra.conditions import Comparison
    >>> rising = Comparison(">", Attribute("y", "price"), Attribute("x", "price"))
    >>> attached = attach(Filter(Seq(Atom("A", "x"), Atom("B", "y")), rising))
    >>> print_condition(attached.pattern.right.condition)
    'price > "x′0".price'
    """
    names = _Names()
    placed, pending = _place(_renamed(pattern, {}, names))
    for condition in pending:
        placed = _attached(condition, placed)
    return Attached(placed, names.variable)


# ── one name per variable and scope ─────────────────────────────────────────────────────────────────────────


class _Names:
    def __init__(self) -> None:
        self.variable: dict[str, str] = {}
        self._next = count()

    def scope(self, names: frozenset[str]) -> dict[str, str]:
        number = next(self._next)
        fresh = {name: f"{name}′{number}" for name in sorted(names)}
        self.variable |= {new: name for name, new in fresh.items()}
        return fresh


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


def _place(pattern: Pattern) -> tuple[Pattern, list[Condition]]:
    """The pattern without its filters, and those that wait for variables bound further right."""
    match pattern:
        case Atom():
            return pattern, []
        case Filter(body, condition):
            placed, waiting = _place(body)
            for item in conjuncts(condition):
                free = variables(item) - sets_read(item) - defined_once(placed)
                if free and not sets_read(item):
                    waiting.append(item)
                else:
                    placed = _attached(item, placed)
            return placed, waiting
        case Seq(left, right) | StrictSeq(left, right):
            one, first = _place(left)
            two, second = _place(right)
            whole = type(pattern)(one, two)
            waiting = []
            for item in (*first, *second):
                if variables(item) <= defined_once(whole):
                    attached = _attached(item, whole)
                    assert isinstance(attached, Seq | StrictSeq)
                    whole = attached
                else:
                    waiting.append(item)
            return whole, waiting
        case Bind(body):
            placed, waiting = _place(body)
            return replace(pattern, body=placed), waiting
        case Or() | Repeat():
            # What a filter in here reads from outside must have been bound before.
            return rebuild(pattern, _placed), []
        case PartBy(_, keys):
            raise NotAttachedError(f"{print_part_by(keys)} compares events")
        case All():
            raise NotAttachedError("ALL takes its parts in any order")
        case Select(strategy):
            raise NotAttachedError(f"{strategy.value} compares matches inside the formula")
        case Intersect() | Not() | Within() | Recognise():
            raise NotAttachedError("an operator has no automaton yet")


def _placed(pattern: Pattern) -> Pattern:
    placed, waiting = _place(pattern)
    for condition in waiting:
        placed = _attached(condition, placed)
    return placed


def _attached(condition: Condition, pattern: Pattern) -> Pattern:
    gathered = sets_read(condition)
    if len(gathered) > 1:
        raise NotAttachedError(f"FILTER {print_condition(condition)} compares events of sets")
    if gathered:
        (name,) = gathered
        return _on_all_of(name, condition, pattern)
    return _on_last(condition, pattern)


def _on_last(condition: Condition, pattern: Pattern) -> Pattern:
    names = variables(condition)
    match pattern:
        case Atom(var=var) if var in names:
            return _restricted(pattern, _about(condition, var))
        case Seq(left, right) | StrictSeq(left, right):
            sequence = type(pattern)
            if names & bound(right):
                return sequence(left, _on_last(condition, right))
            if not names & defined_once(right):
                return sequence(_on_last(condition, left), right)
        case Or(left, right):
            return Or(_on_last(condition, left), _on_last(condition, right))
        case Bind(body):
            return replace(pattern, body=_on_last(condition, body))
        case Repeat(body, 1, 1):
            return replace(pattern, body=_on_last(condition, body))
        case _:
            pass
    raise NotAttachedError(f"FILTER {_printed(condition)} reads a variable that not every match binds")


def _on_all_of(name: str, condition: Condition, pattern: Pattern) -> Pattern:
    """For every event of a set: on all atoms it gathers."""
    if isinstance(pattern, Bind) and pattern.var == name:
        about = _about_each(condition)
        return replace(pattern, body=_on_every_atom(about, pattern.body))
    return rebuild(pattern, lambda child: _on_all_of(name, condition, child))


def _on_every_atom(condition: Condition, pattern: Pattern) -> Pattern:
    if isinstance(pattern, Atom):
        return _restricted(pattern, condition)
    return rebuild(pattern, lambda child: _on_every_atom(condition, child))


def _restricted(atom: Atom, condition: Condition) -> Atom:
    kept = () if atom.condition is None else (atom.condition,)
    return replace(atom, condition=conjunction((*kept, condition)))


def _about(condition: Condition, var: str | None) -> Condition:
    if isinstance(condition, Attribute):
        return replace(condition, var=None) if condition.var == var else condition
    return rebuild_condition(condition, lambda child: _about(child, var))


def _about_each(condition: Condition) -> Condition:
    if isinstance(condition, Attribute):
        each = condition.index is Index.EACH
        return replace(condition, var=None, index=None) if each else condition
    return rebuild_condition(condition, _about_each)


def _printed(condition: Condition) -> str:
    return print_condition(_with_plain_names(condition))


def _with_plain_names(condition: Condition) -> Condition:
    if isinstance(condition, Attribute) and condition.var is not None:
        return replace(condition, var=condition.var.partition("′")[0])
    return rebuild_condition(condition, _with_plain_names)
