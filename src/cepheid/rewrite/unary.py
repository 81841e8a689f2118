"""Unary: whether a rewritten pattern has an automaton without registers (`cel-cea`, section 6)."""

from __future__ import annotations

from cepheid.algebra.conditions import Aggregate, Attribute, Condition, children
from cepheid.algebra.nodes import All, Atom, Bind, Or, Pattern, Repeat, Seq, StrictSeq, walk


def is_unary(pattern: Pattern) -> bool:
    """Whether every condition sits on an atom and speaks of that atom's event alone, and complex event
    automata know every operator.

    >>> from cepheid.algebra.nodes import Filter
    >>> is_unary(Seq(Atom("A"), Atom("B"))), is_unary(Filter(Atom("A", "x"), Attribute("x", "hot")))
    (True, False)
    """
    return all(_is_regular(node) for node in walk(pattern))


def _is_regular(node: Pattern) -> bool:
    if isinstance(node, Atom):
        return node.marked and (node.condition is None or _is_local(node.condition))
    return isinstance(node, Seq | StrictSeq | Or | All | Repeat | Bind)


def _is_local(condition: Condition) -> bool:
    match condition:
        case Aggregate():
            return False
        case Attribute(var, _, index):
            return var is None and index is None
        case _:
            return all(_is_local(child) for child in children(condition))
