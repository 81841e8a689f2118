"""The event types that a query names, checked against the types that the data can have.

In: a query and the types that events can have. Out: an error for an impossible type, with its place and the fix.
`streams.type_occurrence` warns of types that could occur but do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from cepheid.algebra.conditions import (
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Case,
    Cast,
    Comparison,
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
    RLike,
    children,
)
from cepheid.algebra.nodes import Atom, Query, conditions_in, walk
from cepheid.errors import CepheidError, did_you_mean, quoted


def check_event_types(query: Query, possible: Sequence[str]) -> None:
    """Refuses a type that no event can have, where the streams' names are the only types there are.

    >>> check_event_types(Query(Atom("T", "x"), streams=("farm",)), ["farm"])
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[unknown-type]: no event can be of type `T`: \
the data has no type column, so every event's type is `farm`
      hint: write `farm AS x`, or name the column with the event types: `type=`, on the command line `--type`
    """
    for atom in walk(query.pattern):
        if not isinstance(atom, Atom) or atom.type is None or atom.type in possible:
            continue
        if len(possible) == 1:
            types = f"every event's type is `{possible[0]}`"
            write = f"write `{possible[0]} AS {atom.var}`" if atom.var else f"write `{possible[0]}`"
        else:
            types = "an event's type is the name of its stream"
            write = did_you_mean(atom.type, possible) or f"write one of {quoted(possible)}"
        message = f"no event can be of type `{atom.type}`: the data has no type column, so {types}"
        hint = f"{write}, or name the column with the event types: `type=`, on the command line `--type`"
        raise CepheidError("unknown-type", message, span=atom.span, hint=hint)


def types_named(query: Query, column: str) -> tuple[str, ...]:
    """The types of the query's atoms, and the constants with which conditions compare `column`.

    >>> from cepheid.algebra.nodes import Filter
    >>> wanted = Comparison("=", Attribute("x", "kind"), Literal("T"))
    >>> types_named(Query(Filter(Atom("H", "x"), wanted)), "kind")
    ('H', 'T')
    """
    named: dict[str, None] = {}
    for node in walk(query.pattern):
        if isinstance(node, Atom) and node.type is not None:
            named[node.type] = None
    for condition in conditions_in(query.pattern):
        named.update(dict.fromkeys(_compared(condition, column)))
    return tuple(named)


def _compared(expression: Expression, column: str) -> Iterator[str]:
    match expression:
        case Comparison("=", Attribute(name=name), Literal(str(value))) if name == column:
            yield value
        case Comparison("=", Literal(str(value)), Attribute(name=name)) if name == column:
            yield value
        case In(Attribute(name=name), items) if name == column:
            yield from (
                item.value for item in items if isinstance(item, Literal) and isinstance(item.value, str)
            )
        case Literal() | Attribute() | Arithmetic() | Comparison() | Conjunction() | Disjunction():
            pass
        case Negation() | IsTrue() | IsNull() | In() | Like() | RLike() | Call():
            pass
        case Element() | Case() | Cast() | Aggregate() | Previous():
            pass
        case _:
            assert_never(expression)
    for child in children(expression):
        if not isinstance(child, Literal):  # lists have many
            yield from _compared(child, column)
