"""Which variables a pattern defines, binds and shows (`cel-cea`, sections 3 and 5.1).

`defined` is vdef, `defined_once` is vdef₊ and `bound` is bound in the paper. Optional parts (`?`) are a choice
with the empty match, so what they define is not bound; other repetitions open a scope of their own. Set
variables (`partition-by-chain-cea`, section 2) are `sets`: they gather events on the way out of a formula,
iterations included, so no scope ends them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from cepheid.algebra.conditions import Condition, mentioned, with_attributes
from cepheid.algebra.nfab import events_shown
from cepheid.algebra.node import kept
from cepheid.algebra.nodes import (
    EVENTS,
    All,
    Atom,
    Bind,
    Computed,
    Filter,
    Nfab,
    Not,
    Or,
    PartBy,
    Pattern,
    Query,
    Recognise,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Within,
    children,
    rebuild,
    walk,
)


def defined(pattern: Pattern) -> frozenset[str]:
    """vdef: every variable some atom of the pattern names."""
    return frozenset(name for node in walk(pattern) if isinstance(node, Atom) for name in names_of(node))


def names_of(atom: Atom) -> frozenset[str]:
    """The variables that an atom binds."""
    return frozenset(atom.also) if atom.var is None else frozenset((atom.var, *atom.also))


def sets(pattern: Pattern) -> frozenset[str]:
    """The set variables that some `IN` of the pattern names.

    >>> sorted(sets(Seq(Bind(Atom("T", "x"), "X"), Repeat(Bind(Atom("H"), "Y"), 1, None))))
    ['X', 'Y']
    """
    return frozenset(node.var for node in walk(pattern) if isinstance(node, Bind))


def with_sets(pattern: Pattern) -> Pattern:
    """The pattern with every attribute of a set variable in its conditions marked as one.

    >>> from cepheid.algebra.conditions import Attribute
    >>> hot = Attribute("X", "hot")
    >>> with_sets(Filter(Bind(Atom("T"), "X"), hot)).condition
    Attribute(var='X', name='hot', each=True)
    """
    names = sets(pattern)
    return _with_sets(pattern, names) if names else pattern


def _with_sets(pattern: Pattern, names: frozenset[str]) -> Pattern:
    pattern = rebuild(pattern, lambda child: _with_sets(child, names))
    if not isinstance(pattern, Filter):
        return pattern
    return replace(pattern, condition=_reading_sets(pattern.condition, names))


def _reading_sets(condition: Condition, names: frozenset[str]) -> Condition:
    return with_attributes(condition, lambda one: replace(one, each=True) if one.var in names else one)


def is_iteration(pattern: Pattern) -> bool:
    """Whether the node repeats its body, so that variables inside are bound afresh each time."""
    return isinstance(pattern, Repeat) and pattern.hi != 1


@kept
def defined_once(pattern: Pattern) -> frozenset[str]:
    """vdef₊: the variables defined outside all iterations.

    >>> x, y = Atom("T", "x"), Atom("H", "y")
    >>> sorted(defined_once(Seq(x, Repeat(y, 1, None))))
    ['x']
    """
    match pattern:
        case Atom():
            return names_of(pattern)
        case Recognise() | Nfab():
            return frozenset()
        case Repeat() if is_iteration(pattern):
            return frozenset()
        case Seq() | StrictSeq() | Or() | All() | Repeat() | Filter():
            return frozenset[str]().union(*map(defined_once, children(pattern)))
        case PartBy() | Select() | Bind() | Not() | Within():
            return frozenset[str]().union(*map(defined_once, children(pattern)))
        case _:
            assert_never(pattern)


@kept
def bound(pattern: Pattern) -> frozenset[str]:
    """The variables that every match of the pattern binds.

    >>> sorted(bound(Or((Seq(Atom("T", "x"), Atom("H", "y")), Atom("T", "x")))))
    ['x']
    """
    match pattern:
        case Atom():
            return names_of(pattern)
        case Or(parts):
            return frozenset.intersection(*map(bound, parts))
        case Seq(left, right) | StrictSeq(left, right) | All(left, right):
            return bound(left) | bound(right)
        case Repeat(body, lo, hi):
            return bound(body) if (lo, hi) == (1, 1) else frozenset()
        case Recognise() | Nfab() | Not():
            return frozenset()
        case Filter(body) | PartBy(body) | Bind(body) | Select(_, body) | Within(body):
            return bound(body)
        case _:
            assert_never(pattern)


def absent(pattern: Pattern) -> frozenset[str]:
    """The variables and sets of what the pattern's NOTs forbid that a filter around it can read: a match binds none of
    them, so what the filter says of them it says of what is forbidden.

    >>> sorted(absent(Seq(Atom("A", "x"), Not(Atom("B", "y")))))
    ['y']
    """
    match pattern:
        case Not(body):
            return bound(body) | sets(body) | absent(body)
        case Repeat() if is_iteration(pattern):
            return frozenset()
        case Atom() | Select() | Recognise() | Nfab():
            return frozenset()
        case Seq() | StrictSeq() | Or() | All() | Repeat() | Filter() | PartBy() | Bind() | Within():
            return frozenset[str]().union(*map(absent, children(pattern)))
        case _:
            assert_never(pattern)


@dataclass(frozen=True, slots=True)
class Shown:
    """A selected variable: `many` when a match can bind it to several events (an array), else a struct."""

    name: str
    many: bool


def label_of(atom: Atom) -> str | None:
    """The name an atom's event is shown under: its variable, else its type."""
    return atom.var if atom.var is not None else atom.type


def labels(pattern: Pattern) -> Iterator[str]:
    """The names that events are shown under."""
    for node in walk(pattern):
        if (label := label_at(node)) is not None:
            yield label


def label_at(node: Pattern) -> str | None:
    """The name that a node shows events under."""
    match node:
        case Recognise():
            return EVENTS
        case Bind(_, var):
            return var
        case Atom():
            return label_of(node)
        case (
            Seq() | StrictSeq() | Or() | All() | Repeat() | Filter() | PartBy() | Select() | Not() | Within()
        ):
            return None
        case Nfab():
            return None
        case _:
            assert_never(node)


def shown(query: Query) -> tuple[Shown, ...]:
    """The selected variables, those that expressions of SELECT read among them, in order of first appearance; unnamed
    atoms are shown under their type, but for `*` not where all those of the type are inside sets: the sets show them.

    >>> shown(Query(Seq(Atom("A", "x"), Repeat(Atom("B"), 1, None))))
    (Shown(name='x', many=False), Shown(name='B', many=True))
    >>> shown(Query(Bind(Repeat(Atom("B"), 1, None), "X")))
    (Shown(name='X', many=True),)
    """
    counts = _at_most(query.pattern)
    names = _listed(query.pattern, counts) if query.select is None else _selected(query.select)
    if isinstance(query.pattern, Nfab):
        # Matches are told apart by all of their events, whatever is returned of them.
        whole = [next(iter(events_shown(component))) for component in query.pattern.positive]
        names = (*whole, *names)
    return tuple(Shown(name, counts.get(name, 0) > 1) for name in dict.fromkeys(names))


def output_columns(query: Query) -> tuple[Shown | Computed, ...]:
    """The columns that SELECT asks for, in order.

    >>> from cepheid.algebra.conditions import Attribute
    >>> twice = Computed("v", Attribute("x", "v"))
    >>> output_columns(Query(Atom("A", "x"), select=(twice, "x"))) == (twice, Shown("x", many=False))
    True
    """
    variables = {item.name: item for item in shown(query)}
    items = tuple(variables) if query.select is None else query.select
    return tuple(item if isinstance(item, Computed) else variables[item] for item in items)


def _selected(items: Iterable[str | Computed]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Computed):
            yield from (read.var for read in mentioned(item.value) if read.var is not None)
        else:
            yield item


def with_many(pattern: Pattern, items: tuple[str | Computed, ...]) -> tuple[str | Computed, ...]:
    """The items of a SELECT with every attribute of a variable that can be several events marked as one.

    >>> from cepheid.algebra.conditions import Attribute
    >>> (item,) = with_many(Repeat(Atom("A", "x"), 1, None), (Computed("v", Attribute("x", "v")),))
    >>> item.value.each
    True
    """
    names = frozenset(name for name, count in _at_most(pattern).items() if count > 1)
    return tuple(
        replace(item, value=_reading_sets(item.value, names)) if isinstance(item, Computed) else item
        for item in items
    )


def listed(pattern: Pattern) -> tuple[str, ...]:
    """The variables that `*` stands for."""
    return _listed(pattern, _at_most(pattern))


def _listed(pattern: Pattern, counts: dict[str, int]) -> tuple[str, ...]:
    outside = _labels_outside_sets(pattern) | defined(pattern) | sets(pattern)
    return tuple(name for name in counts if name in outside)


def _labels_outside_sets(pattern: Pattern) -> frozenset[str]:
    match pattern:
        case Bind() | Not():
            return frozenset()
        case Recognise():
            return frozenset([EVENTS])
        case Nfab():
            return frozenset()
        case Atom():
            label = label_of(pattern)
            return frozenset() if label is None else frozenset([label])
        case Seq() | StrictSeq() | Or() | All() | Repeat() | Filter() | PartBy() | Select() | Within():
            return frozenset[str]().union(*map(_labels_outside_sets, children(pattern)))
        case _:
            assert_never(pattern)


def _at_most(pattern: Pattern) -> dict[str, int]:
    """How many events one match can bind to each shown name: 0, 1 or 2 for more."""
    match pattern:
        case Atom():
            label = label_of(pattern)
            return {} if label is None else {label: 1}
        case Seq(left, right) | StrictSeq(left, right) | All(left, right):
            one, two = _at_most(left), _at_most(right)
            # A variable defined once on both sides cannot be two events; anything else adds up.
            same = defined_once(left) & defined_once(right)
            both = {name: one.get(name, 0) + two.get(name, 0) for name in (*one, *two)}
            return {
                name: min(2, count) if name not in same else max(one[name], two[name])
                for name, count in both.items()
            }
        case Or(parts):
            counts = [_at_most(part) for part in parts]
            return {name: max(count.get(name, 0) for count in counts) for one in counts for name in one}
        case Repeat(body, _, hi):
            return _at_most(body) if hi == 1 else dict.fromkeys(_at_most(body), 2)
        case Recognise():
            return {EVENTS: 2}
        case Nfab():
            shown = [events_shown(component) for component in pattern.positive]
            return {name: 2 if many else 1 for one in shown for name, many in one.items()}
        case Bind(body, var):
            return {**_at_most(body), var: 2}
        case Not():
            return {}
        case Filter(body) | PartBy(body) | Select(_, body) | Within(body):
            return _at_most(body)
        case _:
            assert_never(pattern)
