"""Which variables a pattern defines, binds and shows (`cel-cea`, sections 3 and 5.1).

`defined` is vdef, `defined_once` is vdef₊ and `bound` is bound in the paper. Optional parts (`?`) are a choice
with the empty match, so what they define is not bound; other repetitions open a scope of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

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
    Query,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Within,
    children,
    walk,
)


def defined(pattern: Pattern) -> frozenset[str]:
    """vdef: every variable some atom of the pattern names."""
    return frozenset(node.var for node in walk(pattern) if isinstance(node, Atom) and node.var is not None)


def is_iteration(pattern: Pattern) -> bool:
    """Whether the node repeats its body, so that variables inside are bound afresh each time."""
    return isinstance(pattern, Repeat) and pattern.hi != 1


def defined_once(pattern: Pattern) -> frozenset[str]:
    """vdef₊: the variables defined outside all iterations.

    >>> x, y = Atom("T", "x"), Atom("H", "y")
    >>> sorted(defined_once(Seq(x, Repeat(y, 1, None))))
    ['x']
    """
    if isinstance(pattern, Atom):
        return frozenset() if pattern.var is None else frozenset([pattern.var])
    if is_iteration(pattern) or isinstance(pattern, Not):
        return frozenset()
    return frozenset[str]().union(*(defined_once(child) for child in children(pattern)))


def bound(pattern: Pattern) -> frozenset[str]:
    """The variables that every match of the pattern binds.

    >>> sorted(bound(Or(Seq(Atom("T", "x"), Atom("H", "y")), Atom("T", "x"))))
    ['x']
    """
    match pattern:
        case Atom(_, var):
            return frozenset() if var is None else frozenset([var])
        case Or(left, right):
            return bound(left) & bound(right)
        case Seq(left, right) | StrictSeq(left, right) | All(left, right) | Intersect(left, right):
            return bound(left) | bound(right)
        case Repeat(body, lo, hi):
            return bound(body) if (lo, hi) == (1, 1) else frozenset()
        case Not():
            return frozenset()
        case Filter(body) | PartBy(body) | Within(body) | Bind(body) | Select(_, body):
            return bound(body)
        case _:
            assert_never(pattern)


@dataclass(frozen=True, slots=True)
class Shown:
    """A variable of the output: `many` when a match can bind it to several events (an array), else a struct."""

    name: str
    many: bool


def label_of(atom: Atom) -> str | None:
    """The name an atom's event is shown under: its variable, else its type."""
    return atom.var if atom.var is not None else atom.type


def shown(query: Query) -> tuple[Shown, ...]:
    """The variables of the output in order of first appearance; unnamed atoms are shown under their type.

    >>> shown(Query(Seq(Atom("A", "x"), Repeat(Atom("B"), 1, None))))
    (Shown(name='x', many=False), Shown(name='B', many=True))
    """
    counts = _at_most(query.pattern)
    names = query.select if query.select is not None else tuple(counts)
    return tuple(Shown(name, counts.get(name, 0) > 1) for name in names)


def _at_most(pattern: Pattern) -> dict[str, int]:
    """How many events one match can bind to each shown name: 0, 1 or 2 for more."""
    match pattern:
        case Atom():
            label = label_of(pattern)
            return {} if label is None or not pattern.marked else {label: 1}
        case Seq(left, right) | StrictSeq(left, right) | All(left, right) | Intersect(left, right):
            one, two = _at_most(left), _at_most(right)
            # A variable defined once on both sides cannot be two events; anything else adds up.
            same = defined_once(left) & defined_once(right)
            both = {name: one.get(name, 0) + two.get(name, 0) for name in (*one, *two)}
            return {
                name: min(2, count) if name not in same else max(one[name], two[name])
                for name, count in both.items()
            }
        case Or(left, right):
            one, two = _at_most(left), _at_most(right)
            return {name: max(one.get(name, 0), two.get(name, 0)) for name in (*one, *two)}
        case Repeat(body, _, hi):
            return _at_most(body) if hi == 1 else dict.fromkeys(_at_most(body), 2)
        case Not():
            return {}
        case Bind(body, var):
            return {**_at_most(body), var: 2}
        case Filter(body) | PartBy(body) | Within(body) | Select(_, body):
            return _at_most(body)
        case _:
            assert_never(pattern)
