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
    Record,
    RLike,
    children,
)
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Nfab,
    Not,
    Or,
    PartBy,
    Query,
    Recognise,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Within,
    conditions_in,
    walk,
)
from cepheid.errors import CepheidError, Span, did_you_mean, quoted


def check_event_types(query: Query, possible: Sequence[str]) -> None:
    """Refuses a type that no event can have, where the streams' names are the only types there are.

    >>> check_event_types(Query(Atom("T", "x"), streams=("farm",)), ["farm"])
    Traceback (most recent call last):
    cepheid.errors.CepheidError: error[unknown-type]: no event can be of type `T`: \
the data has no type column, so every event's type is `farm`
      hint: write `farm AS x`, or name the column with the event types: `type=`, on the command line `--type`
    """
    for type, named, span in _named(query):
        if type in possible:
            continue
        if len(possible) == 1:
            types = f"every event's type is `{possible[0]}`"
            write = f"write `{possible[0]}{named}`"
        else:
            types = "an event's type is the name of its stream"
            write = did_you_mean(type, possible) or f"write one of {quoted(possible)}"
        message = f"no event can be of type `{type}`: the data has no type column, so {types}"
        hint = f"{write}, or name the column with the event types: `type=`, on the command line `--type`"
        raise CepheidError("unknown-type", message, span=span, hint=hint)


def _named(query: Query) -> Iterator[tuple[str, str, Span | None]]:
    """The types that a pattern names, with what its language writes after them and where they stand."""
    for node in walk(query.pattern):
        match node:
            case Atom(str() as type, var):
                yield type, f" AS {var}" if var else "", node.span
            case Nfab(components):
                for part in components:
                    yield part.type, f"+ {part.var}[]" if part.kleene else f" {part.var}", part.span
            case Atom() | Seq() | StrictSeq() | Or() | All() | Repeat() | Filter() | PartBy() | Select():
                pass
            case Bind() | Not() | Within() | Recognise():
                pass
            case _:
                assert_never(node)


def types_named(query: Query, column: str) -> tuple[str, ...]:
    """The types of the query's atoms, and the constants with which conditions compare `column`.

    >>> from cepheid.algebra.nodes import Filter
    >>> wanted = Comparison("=", Attribute("x", "kind"), Literal("T"))
    >>> types_named(Query(Filter(Atom("H", "x"), wanted)), "kind")
    ('H', 'T')
    """
    named: dict[str, None] = dict.fromkeys(type for type, _, _ in _named(query))
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
        case Element() | Case() | Cast() | Aggregate() | Previous() | Record():
            pass
        case _:
            assert_never(expression)
    for child in children(expression):
        if not isinstance(child, Literal):  # lists have many
            yield from _compared(child, column)
