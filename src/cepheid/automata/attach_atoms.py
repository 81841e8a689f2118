"""Puts one condition on the atoms of a pattern that decide it, for `attach`.

In: a condition and a pattern without filters. Out: the pattern with the condition, over the event at hand and events
bound before it, on atoms of which every match takes exactly one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from cepheid.algebra.conditions import (
    Condition,
    conjunction,
    variables,
    with_names,
)
from cepheid.algebra.empty import nullable
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Nfab,
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
from cepheid.algebra.printing import print_condition
from cepheid.algebra.variables import bound, defined_once, names_of
from cepheid.errors import CepheidError


class NotAttachedError(CepheidError):
    """A condition cannot be decided at the last event it reads; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__("not-yet", reason)


def on_last(condition: Condition, pattern: Pattern) -> Pattern:
    """On the atoms that bind the last of the condition's variables, of which every match binds some.

    >>> from cepheid.algebra.conditions import Attribute, Comparison
    >>> rising = Comparison(">", Attribute("y", "price"), Attribute("x", "price"))
    >>> print_condition(on_last(rising, Seq(Atom("A", "x"), Atom("B", "y"))).right.condition)
    'price > x.price'
    """
    names = variables(condition)
    match pattern:
        case Atom() if names & names_of(pattern):
            return restricted(pattern, with_names(condition, dict.fromkeys(names_of(pattern))))
        case Seq(left, right) | StrictSeq(left, right):
            sequence = type(pattern)
            if names & bound(right):
                return sequence(left, on_last(condition, right))
            if not names & defined_once(right):
                return sequence(on_last(condition, left), right)
        case Or(parts):
            return Or(tuple(on_last(condition, part) for part in parts))
        case Bind(body):
            return replace(pattern, body=on_last(condition, body))
        case Repeat(body, 1, 1):
            return replace(pattern, body=on_last(condition, body))
        case (
            Atom()
            | Seq()
            | StrictSeq()
            | All()
            | Repeat()
            | Filter()
            | PartBy()
            | Select()
            | Recognise()
            | Nfab()
        ):
            pass
        case Not() | Within():
            pass
        case _:
            assert_never(pattern)
    raise not_bound(condition)


def not_bound(condition: Condition) -> NotAttachedError:
    return NotAttachedError(f"FILTER {printed(condition)} reads a variable that not every match binds")


def on_first(condition: Condition, pattern: Pattern) -> Pattern:
    """For a condition that reads only what was bound before: on the first atoms of a pattern that has no empty match.

    >>> from cepheid.algebra.conditions import Attribute
    >>> risen = Attribute("x", "risen")
    >>> on_first(risen, Seq(Repeat(Atom("A"), 0, None), Atom("B"))).right.condition == risen
    True
    """
    match pattern:
        case Atom():
            return restricted(pattern, condition)
        case Seq(left, right) | StrictSeq(left, right):
            sequence = type(pattern)
            if nullable(left):
                return sequence(left, on_first(condition, right))
            return sequence(on_first(condition, left), right)
        case Or() | All() | Repeat() | Filter() | PartBy() | Select() | Bind() | Recognise() | Nfab():
            return rebuild(pattern, lambda child: on_first(condition, child))
        case Not() | Within():
            raise not_bound(condition)
        case _:
            assert_never(pattern)


def non_empty(pattern: Pattern) -> Pattern | None:
    """The matches of a pattern that have events; None where there are none.

    >>> a, b = Atom("A"), Atom("B")
    >>> non_empty(Seq(Repeat(a, 0, 1), Repeat(b, 0, None))) == Or((
    ...     Seq(a, Repeat(b, 0, None)), Repeat(b, 1, None)
    ... ))
    True
    """
    if not nullable(pattern):
        return pattern
    match pattern:
        case Seq(left, right) | StrictSeq(left, right):
            one, two = non_empty(left), non_empty(right)
            return _either((None if one is None else type(pattern)(one, right), two))
        case Or(parts):
            return _either(map(non_empty, parts))
        case Bind(body):
            inner = non_empty(body)
            return None if inner is None else replace(pattern, body=inner)
        case Repeat(body, _, hi):
            inner = None if hi == 0 else non_empty(body)
            return None if inner is None else inner if hi == 1 else replace(pattern, body=inner, lo=1)
        case Atom() | All() | Filter() | PartBy() | Select() | Not() | Within() | Recognise() | Nfab():
            raise AssertionError(pattern)
        case _:
            assert_never(pattern)


def _either(parts: Iterable[Pattern | None]) -> Pattern | None:
    kept = tuple(part for part in parts if part is not None)
    return Or(kept) if len(kept) > 1 else kept[0] if kept else None


def restricted(atom: Atom, condition: Condition) -> Atom:
    """The atom with one more condition."""
    kept = () if atom.condition is None else (atom.condition,)
    return replace(atom, condition=conjunction((*kept, condition)))


def printed(condition: Condition) -> str:
    """The condition as it was written, without the numbers of scopes.

    >>> from cepheid.algebra.conditions import Attribute
    >>> printed(Attribute("x′3", "hot"))
    'x.hot'
    """
    return print_condition(
        with_names(condition, {name: name.partition("′")[0] for name in variables(condition)})
    )
