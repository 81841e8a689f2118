"""Which condition is on which edge of an NFAᵇ (`sase-plus`, sections 3.2 and A.1).

In: an `Nfab` that `nfab_scope` has found well-formed. Out: for each component the conditions that an event has to meet
to begin it, to be taken into it, and that end it. A clause is a criterion on the last reference in it, in the order of
the pattern: on `b` or `a[1]` it is on the begin edge, on `a[i]` on the take edge, on `a[a.LEN]` or all of `a[]` on the
proceed edge. One that reads a negated component is a criterion on that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import assert_never

from cepheid.algebra.conditions import (
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Case,
    Cast,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Element,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    Previous,
    Record,
    RLike,
    children,
    rebuild,
    variables,
)
from cepheid.algebra.nfab import Component, Form, Nfab, Selection, reference, references
from cepheid.algebra.node import kept


class Edge(Enum):
    BEGIN = "begin"
    TAKE = "take"
    END = "proceed"


_EDGE = {
    Form.SINGLE: Edge.BEGIN,
    Form.FIRST: Edge.BEGIN,
    Form.PREVIOUS: Edge.TAKE,
    Form.BEFORE: Edge.TAKE,
    Form.EACH: Edge.TAKE,
    Form.LAST: Edge.END,
    Form.ALL: Edge.END,
}
_ORDER = (Edge.BEGIN, Edge.TAKE, Edge.END)
CRITERIA = frozenset([Form.SINGLE, Form.FIRST, Form.EACH, Form.LAST, Form.ALL])
"""The forms that a clause can be a criterion on; the others say what `a[i]` is compared with."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a clause is asked: on an edge of a component. `from_first`: on `a[i]` for i ≥ 1, else for i ≥ 2."""

    component: Component
    edge: Edge
    from_first: bool


def place_of(nfab: Nfab, condition: Condition) -> Place:
    """The edge of a clause.

    >>> from cepheid.algebra.conditions import Literal
    >>> nfab = Nfab((Component("A", "a"), Component("B", "b", kleene=True)))
    >>> hot = Comparison(">", Attribute("b[i]", "v"), Attribute("a", "v"))
    >>> place = place_of(nfab, hot)
    >>> place.component.var, place.edge.value, place.from_first
    ('b', 'take', True)
    """
    known = references(nfab)
    read = [known[name] for name in variables(condition) if name in known]
    component = max({component for component, _ in read}, key=lambda one: _rank(nfab, one))
    forms = {form for other, form in read if other == component}
    edge = max((_EDGE[form] for form in forms), key=_ORDER.index)
    return Place(component, edge, forms == {Form.EACH})


def _rank(nfab: Nfab, component: Component) -> tuple[bool, int]:
    return component.negated, nfab.components.index(component)


def criteria(place: Place) -> frozenset[str]:
    """The references of which each predicate of a clause at this place has to name one."""
    return frozenset(reference(place.component.var, form) for form in CRITERIA if _EDGE[form] is place.edge)


def predicates(condition: Condition) -> Iterator[Condition]:
    """The atomic formulas of a condition."""
    match condition:
        case Conjunction() | Disjunction() | Negation() | IsTrue():
            for child in children(condition):
                yield from predicates(child)
        case Comparison() | IsNull() | In() | Like() | RLike() | Literal() | Attribute() | Arithmetic():
            yield condition
        case Call() | Element() | Case() | Cast() | Aggregate() | Previous() | Record():
            yield condition
        case _:
            assert_never(condition)


@dataclass(frozen=True, slots=True)
class Edges:
    """The conditions of a component; `…_partition` are those among them that say what is in its partition."""

    begin: tuple[Condition, ...] = ()
    take: tuple[Condition, ...] = ()
    end: tuple[Condition, ...] = ()
    begin_partition: tuple[Condition, ...] = ()
    take_partition: tuple[Condition, ...] = ()


@kept
def edges_of(nfab: Nfab) -> dict[Component, Edges]:
    """The conditions of every component.

    >>> from cepheid.algebra.nfab import Clause
    >>> rising = Clause(Comparison(">", Attribute("a[i]", "v"), Attribute("a[i-1]", "v")))
    >>> a = Component("A", "a", kleene=True)
    >>> edges = edges_of(Nfab((a,), (rising,)))[a]
    >>> len(edges.begin), len(edges.take), len(edges.end)
    (0, 1, 0)
    """
    custom = has_own_partition(nfab)
    made = {component: Edges() for component in nfab.components}
    for equal in nfab.equal:
        for component in nfab.components:
            for edge, condition in _equal(nfab, component, equal.name):
                made[component] = _with(made[component], edge, condition, equal.partitions or not custom)
    for clause in nfab.clauses:
        place = place_of(nfab, clause.condition)
        condition = over_whole(nfab, clause.condition, but=place)
        edges = made[place.component]
        if place.edge is Edge.TAKE and place.from_first:
            edges = _with(edges, Edge.BEGIN, condition, clause.partitions)
        made[place.component] = _with(edges, place.edge, condition, clause.partitions)
    return made


def has_own_partition(nfab: Nfab) -> bool:
    """Whether PARTITION(…) says what a partition is, and not all of `[attr]`."""
    marked = [clause.partitions for clause in nfab.clauses] + [equal.partitions for equal in nfab.equal]
    return any(marked)


def _equal(nfab: Nfab, component: Component, name: str) -> Iterator[tuple[Edge, Condition]]:
    """`[name]`: what the first event of a match has, its other events have, too."""
    first = nfab.positive[0]
    model = Attribute(_begun(first), name, indexed=first.kleene)
    if component != first:
        own = Attribute(_begun(component), name, indexed=component.kleene)
        yield Edge.BEGIN, Comparison("=", own, model)
    if component.kleene:
        own = Attribute(reference(component.var, Form.EACH), name, indexed=True)
        yield Edge.TAKE, Comparison("=", own, model)


def _begun(component: Component) -> str:
    return reference(component.var, Form.FIRST if component.kleene else Form.SINGLE)


def _with(edges: Edges, edge: Edge, condition: Condition, partitions: bool) -> Edges:
    match edge:
        case Edge.BEGIN:
            parts = (*edges.begin_partition, condition) if partitions else edges.begin_partition
            return replace(edges, begin=(*edges.begin, condition), begin_partition=parts)
        case Edge.TAKE:
            parts = (*edges.take_partition, condition) if partitions else edges.take_partition
            return replace(edges, take=(*edges.take, condition), take_partition=parts)
        case Edge.END:
            return replace(edges, end=(*edges.end, condition))


def over_whole(nfab: Nfab, condition: Expression, but: Place | None = None) -> Expression:
    """The condition where Kleene variables are complete: `a[i]` stands for every event of `a[]`, and `a[i-1]` for the
    one before it. Not those of the clause's own component while it is being matched.

    >>> from cepheid.algebra.printing import print_condition
    >>> each, previous = (Attribute(name, "v", indexed=True) for name in ("a[i]", "a[i-1]"))
    >>> rising = Comparison(">", each, previous)
    >>> print_condition(over_whole(Nfab((Component("A", "a", kleene=True),)), rising))
    'a[].v > prev(a[].v)'
    """
    if not isinstance(condition, Attribute):
        return rebuild(condition, lambda child: over_whole(nfab, child, but))
    component, form = references(nfab).get(condition.var or "", (None, Form.SINGLE))
    if component is None or (but is not None and component == but.component and but.edge is not Edge.END):
        return condition
    if form not in (Form.EACH, Form.PREVIOUS):
        return condition
    each = replace(condition, var=reference(component.var, Form.ALL), each=True)
    return each if form is Form.EACH else Previous(each)


def is_maximal(nfab: Nfab) -> bool:
    """Whether a match ends with a Kleene variable that ends only when its run stops: it has no condition to end by, and
    no strategy under which every part of it is a match of its own."""
    last = nfab.positive[-1]
    return last.kleene and not edges_of(nfab)[last].end and last.selection is not Selection.ANY


def is_known_later(nfab: Nfab) -> bool:
    """Whether a match may be known only some time after its last event: when its run stops, or when a negated component
    at the end of the pattern can no longer occur."""
    return nfab.components[-1].negated or is_maximal(nfab)


def skips_other_keys(nfab: Nfab) -> bool:
    """Whether no event stops a run, or keeps it waiting, whose attributes differ from what `[attr]` asks for: then the
    events of each key are a stream of their own. Under strict contiguity every event stops a run that does not take
    it, and so does under partition contiguity one that lies in a partition by other predicates."""
    used = {component.selection for component in nfab.components}
    custom = has_own_partition(nfab)
    return Selection.STRICT not in used and not (Selection.PARTITION in used and custom)
