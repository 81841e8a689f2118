"""Conditions: expressions over the attributes of events, never run as Python code.

An expression has a value for given events; a condition is an expression of kind boolean and *holds* only when
its value is true (SQL's three-valued logic: NULL does not hold). Nodes are immutable values; `span` is where
the text stood and takes no part in equality.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import assert_never

from cepheid.algebra.cast_types import CastType
from cepheid.algebra.kinds import Kind
from cepheid.algebra.moments import Interval, Moment, TimeOfDay
from cepheid.algebra.node import Node, node
from cepheid.algebra.precision import DecimalType
from cepheid.errors import Span

type_of_value = (
    None | bool | int | float | str | Decimal | dt.date | dt.datetime | Moment | TimeOfDay | Interval
)


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A constant. Equality minds the type, as `v + 1` and `v + 1.0` are not one expression.

    >>> Literal(1) == Literal(1.0), Literal(1) == Literal(True), Literal(1) == Literal(1)
    (False, False, True)
    """

    value: type_of_value
    span: Span | None = field(default=None, compare=False, repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        if type(self.value) is not type(other.value) or self.value != other.value:
            return False
        # 0.10 has a digit more than 0.1, which counts in the types of results.
        return not isinstance(self.value, Decimal) or self.value.same_quantum(other.value)  # type: ignore[arg-type]

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@node
class Attribute(Node):
    """`var.name`; `var` None is the event being read (an atom's own condition, SREMO's plain names). `each`: `var` is
    a set (CEL's `IN`), and the condition must hold for every event of it. `indexed`: `var` is a reference of SASE+,
    such as `a[1]`, and not a name."""

    var: str | None
    name: str
    each: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)
    indexed: bool = field(default=False, repr=False)

    @property
    def variable_span(self) -> Span | None:
        """The span of `var` alone if the text spells it plainly, else of the whole attribute."""
        if self.span is None or self.var is None or not self.span.text.startswith(self.var):
            return self.span
        return Span(self.span.source, self.span.start, self.span.start + len(self.var))

    @property
    def name_span(self) -> Span | None:
        """The span of `name` alone if the text spells it plainly, else of the whole attribute."""
        if self.span is None or not self.span.text.endswith(self.name):
            return self.span
        return Span(self.span.source, self.span.end - len(self.name), self.span.end)


@node
class Arithmetic(Node):
    """`left op right`, op one of + - * / %. Division is of reals; by zero, and on overflow, the value is NULL.

    `result`: the type of the value where decimals are computed with, which typing notes (`number_types`); the value is
    then rounded to its scale, halves away from zero, and NULL where it has more digits. `kind`: the kind of the value
    where times or durations are computed with, which typing notes (`time_arithmetic`); these are exact."""

    op: str
    left: Expression
    right: Expression
    span: Span | None = field(default=None, compare=False, repr=False)
    result: DecimalType | None = field(default=None, repr=False)
    kind: Kind | None = field(default=None, repr=False)


@node
class Comparison(Node):
    """`left op right`, op one of = <> < <= > >=. NaN equals nothing, itself included."""

    op: str
    left: Expression
    right: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Conjunction(Node):
    operands: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Disjunction(Node):
    operands: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Negation(Node):
    operand: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class IsTrue(Node):
    """Two-valued: true where the operand is true, false where it is false or NULL. `Negation(IsTrue(P))` is the
    complement of the predicate P (the ¬P of theorem 2)."""

    operand: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class IsNull(Node):
    operand: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class In(Node):
    """SQL's IN: NULL when nothing equals and the operand or an item is NULL."""

    operand: Expression
    items: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Like(Node):
    """`operand LIKE pattern`: % any characters, _ one, backslash escapes; the whole value, case matters."""

    operand: Expression
    pattern: str
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class RLike(Node):
    """`operand RLIKE regex`: RE2 syntax, found anywhere in the value."""

    operand: Expression
    pattern: str
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Call(Node):
    """A scalar function by its lower-case name; the list is `algebra.functions.FUNCTIONS`."""

    function: str
    arguments: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Element(Node):
    """`operand.key`, `operand[key]`: a field of a struct, an item of a list, counted from 0, or the value of a key of a
    map. NULL outside of the list, and where the key is missing."""

    operand: Expression
    key: str | int
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Case(Node):
    """`CASE WHEN condition THEN value … ELSE otherwise END`: the value of the first condition that is true."""

    conditions: tuple[Expression, ...]
    values: tuple[Expression, ...]
    otherwise: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Cast(Node):
    """`CAST(operand AS target)`: the value in another type, NULL where that has no such value. `kind`: the kind of the
    operand, which typing notes."""

    operand: Expression
    target: CastType
    span: Span | None = field(default=None, compare=False, repr=False)
    kind: Kind | None = field(default=None, repr=False)


AGGREGATES = ("count", "sum", "avg", "min", "max", "first", "last")
EVENT = ""
"""The name of the `Attribute` that stands for events themselves, as in `count(X)`; no column can be written so."""


@node
class Aggregate(Node):
    """`function(operand)`: one value of all events of a set, in stream order. The operand reads one set; of `count(X)`
    it is the attribute `EVENT`. NULLs are ignored; of no value a count is 0 and all else NULL.

    `result`: the type of a sum or average of decimals, which typing notes (`number_types`)."""

    function: str
    operand: Expression
    distinct: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)
    result: DecimalType | None = field(default=None, repr=False)


@node
class Previous(Node):
    """`prev(operand, steps)`: the operand's value for the event so many places before in the set that it reads. A
    condition with it is asked of the events that have one."""

    operand: Expression
    steps: int = 1
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Record(Node):
    """`var.(name, …)`: the named values as one struct. Only columns of the output are made of it."""

    names: tuple[str, ...]
    values: tuple[Expression, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


Expression = (
    Literal
    | Attribute
    | Arithmetic
    | Comparison
    | Conjunction
    | Disjunction
    | Negation
    | IsTrue
    | IsNull
    | In
    | Like
    | RLike
    | Call
    | Element
    | Case
    | Cast
    | Aggregate
    | Previous
    | Record
)
Condition = Expression

MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The operators of comparisons for sides that have changed places."""

TRUE = Literal(True)
FALSE = Literal(False)


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct sub-expressions, left to right."""
    match expression:
        case Literal() | Attribute():
            return ()
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return (left, right)
        case Conjunction(operands) | Disjunction(operands):
            return operands
        case Negation(operand) | IsTrue(operand) | IsNull(operand) | Like(operand) | RLike(operand):
            return (operand,)
        case Element(operand) | Cast(operand) | Aggregate(_, operand) | Previous(operand):
            return (operand,)
        case In(operand, items):
            return (operand, *items)
        case Call(_, arguments):
            return arguments
        case Record(_, values):
            return values
        case Case(conditions, values, otherwise):
            return (*conditions, *values, otherwise)
        case _:
            assert_never(expression)


def rebuild(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The same node over changed children."""
    match expression:
        case Literal() | Attribute():
            return expression
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return replace(expression, left=change(left), right=change(right))
        case Conjunction(operands) | Disjunction(operands):
            return replace(expression, operands=tuple(map(change, operands)))
        case Negation(operand) | IsTrue(operand) | IsNull(operand) | Like(operand) | RLike(operand):
            return replace(expression, operand=change(operand))
        case Element(operand) | Cast(operand) | Aggregate(_, operand) | Previous(operand):
            return replace(expression, operand=change(operand))
        case In(operand, items):
            return replace(expression, operand=change(operand), items=tuple(map(change, items)))
        case Call(_, arguments):
            return replace(expression, arguments=tuple(map(change, arguments)))
        case Record(_, values):
            return replace(expression, values=tuple(map(change, values)))
        case Case(conditions, values, otherwise, span):
            return Case(tuple(map(change, conditions)), tuple(map(change, values)), change(otherwise), span)
        case _:
            assert_never(expression)


def attributes(expression: Expression) -> Iterator[Attribute]:
    """Every attribute that is read, in text order, with repetitions."""
    return (item for item in mentioned(expression) if item.name != EVENT)


def mentioned(expression: Expression) -> Iterator[Attribute]:
    """Every attribute that is read, and every set of which only the events are, as in `count(X)`."""
    if isinstance(expression, Attribute):
        yield expression
    for child in children(expression):
        if not isinstance(child, Literal):  # lists have many
            yield from mentioned(child)


def sets_read(expression: Expression) -> frozenset[str]:
    """The set variables a condition mentions; if it is about no whole set, it holds when it is true for every choice of
    one event of each.

    >>> sets_read(Comparison("=", Attribute("X", "id", each=True), Attribute("y", "id")))
    frozenset({'X'})
    """
    return frozenset(item.var for item in mentioned(expression) if item.each and item.var is not None)


def aggregates(expression: Expression) -> Iterator[Aggregate]:
    """Every aggregate, in text order, with repetitions."""
    if isinstance(expression, Aggregate):
        yield expression
    for child in children(expression):
        if not isinstance(child, Literal):  # lists have many
            yield from aggregates(child)


def is_about_whole_sets(expression: Expression) -> bool:
    """Whether the value depends on more of a set than one event: whether there is an aggregate, or a `prev`.

    >>> is_about_whole_sets(Comparison(">", Aggregate("count", Attribute("X", EVENT, each=True)), Literal(2)))
    True
    """
    if isinstance(expression, Aggregate | Previous):
        return True
    return any(is_about_whole_sets(child) for child in children(expression) if not isinstance(child, Literal))


def sets_chosen(expression: Expression) -> frozenset[str]:
    """The set variables of which a condition reads single events, outside of aggregates: it holds when it is true for
    every choice of one event of each.

    >>> sets_chosen(Comparison(">", Attribute("X", "v", each=True), Aggregate("avg", Attribute("Y", "v", each=True))))
    frozenset({'X'})
    """
    chosen = () if isinstance(expression, Aggregate) else _chosen(expression)
    return frozenset(item.var for item in chosen if item.each and item.var is not None)


def _chosen(expression: Expression) -> Iterator[Attribute]:
    if isinstance(expression, Attribute):
        yield expression
    for child in children(expression):
        if not isinstance(child, Aggregate | Literal):
            yield from _chosen(child)


def variables(expression: Expression) -> frozenset[str]:
    """The variables a condition mentions; its arity is their number.

    >>> variables(Comparison("<", Attribute("x", "price"), Attribute("y", "price"))) == {"x", "y"}
    True
    """
    return frozenset(item.var for item in mentioned(expression) if item.var is not None)


def only_variable(condition: Condition) -> str | None:
    """The variable of a unary condition; None if it has another arity or reads more than that one event.

    >>> only_variable(Attribute("x", "alarm")), only_variable(Attribute(None, "alarm"))
    ('x', None)
    """
    found = variables(condition)
    return next(iter(found)) if len(found) == 1 and _reads_events(condition) else None


def only_set(condition: Condition) -> str | None:
    """The set of a condition that reads one set and nothing else.

    >>> only_set(Attribute("X", "alarm", each=True)), only_set(Attribute("x", "alarm"))
    ('X', None)
    """
    found = variables(condition)
    read = all(item.each for item in mentioned(condition)) and not is_about_whole_sets(condition)
    return next(iter(found)) if len(found) == 1 and read else None


def _reads_events(condition: Condition) -> bool:
    """Whether each attribute is of a named event, not of a set or the current event."""
    return all(item.var is not None and not item.each for item in mentioned(condition))


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """The conditions that all must hold for this one to hold; TRUE gives none."""
    if isinstance(condition, Conjunction):
        return tuple(part for operand in condition.operands for part in conjuncts(operand))
    return () if condition == TRUE else (condition,)


def without_negations(condition: Condition, negated: bool = False) -> tuple[Condition, bool]:
    """The condition below NOT and IS TRUE, and whether it is negated.

    >>> without_negations(IsTrue(Negation(Attribute("x", "hot"))))
    (Attribute(var='x', name='hot', each=False), True)
    """
    match condition:
        case Negation(operand):
            return without_negations(operand, not negated)
        case IsTrue(operand) if not negated:
            return without_negations(operand)
        case Literal() | Attribute() | Arithmetic() | Call() | Conjunction() | Disjunction():
            return condition, negated
        case Element() | Case() | Cast() | Aggregate() | Previous() | Record():
            return condition, negated
        case Comparison() | IsTrue() | IsNull() | In() | Like() | RLike():
            return condition, negated
        case _:
            assert_never(condition)


def conjunction(parts: tuple[Condition, ...]) -> Condition:
    """One condition that holds when all parts hold."""
    flat = dict.fromkeys(part for condition in parts for part in conjuncts(condition))
    if FALSE in flat:
        return FALSE
    return TRUE if not flat else next(iter(flat)) if len(flat) == 1 else Conjunction(tuple(flat))


def with_attributes(expression: Expression, change: Callable[[Attribute], Expression]) -> Expression:
    """The expression with each attribute changed."""
    if isinstance(expression, Attribute):
        return change(expression)
    return rebuild(expression, lambda child: with_attributes(child, change))


def with_names(expression: Expression, names: Mapping[str, str | None]) -> Expression:
    """The expression with these variables under other names; None is the current event.

    >>> with_names(Attribute("x′0", "hot"), {"x′0": "x"}), with_names(Attribute("X", "hot", each=True), {"X": None})
    (Attribute(var='x', name='hot', each=False), Attribute(var=None, name='hot', each=False))
    """

    def named(attribute: Attribute) -> Attribute:
        if attribute.var is None or attribute.var not in names:
            return attribute
        var = names[attribute.var]
        return replace(attribute, var=var, each=attribute.each and var is not None)

    return with_attributes(expression, named)


def over_current_event(condition: Condition, var: str) -> Condition:
    """The condition as an atom holds it: attributes of `var` become attributes of the current event."""
    return with_names(condition, {var: None})
