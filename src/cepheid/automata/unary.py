"""Unary: whether a rewritten pattern has an automaton without registers (`cel-cea`, section 6)."""

from __future__ import annotations

from typing import assert_never

from cepheid.algebra.conditions import Condition, attributes
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
    walk,
)
from cepheid.automata.absence import beyond_single_events


def is_unary(pattern: Pattern) -> bool:
    """Whether every condition sits on an atom and speaks of that atom's event alone, and complex event
    automata know every operator.

    >>> from cepheid.algebra.conditions import Attribute
    >>> is_unary(Seq(Atom("A"), Atom("B"))), is_unary(Filter(Atom("A", "x"), Attribute("x", "hot")))
    (True, False)
    """
    return all(map(_is_regular, walk(pattern))) and beyond_single_events(pattern) is None


def _is_regular(node: Pattern) -> bool:
    match node:
        case Atom(_, _, condition):
            return condition is None or _is_local(condition)
        case Seq() | StrictSeq() | Or() | All() | Repeat() | Bind() | Not():
            return True
        case Filter() | PartBy() | Select() | Within() | Recognise() | Nfab():
            return False
        case _:
            assert_never(node)


def _is_local(condition: Condition) -> bool:
    return all(item.var is None and not item.each for item in attributes(condition))
