"""Clauses: syntax tree → the parts of a query around its pattern, for every language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lark import Token, Tree

from cepheid.algebra.nodes import Places, Query, Window
from cepheid.errors import CepheidError, Source, Span
from cepheid.languages.parsed import Node, Part, span_of
from cepheid.languages.words import integer_of, name_of, window_of


def names_of(node: Part) -> tuple[str, ...]:
    return tuple(name_of(token) for token in tokens_of(node))


def tokens_of(node: Part) -> tuple[Token, ...]:
    if not isinstance(node, Tree):
        return ()
    return tuple(child for child in node.children if isinstance(child, Token))


def clauses_of(source: Source, clauses: Sequence[Part]) -> dict[str, Node]:
    """The clauses by the name of their rule."""
    by_name: dict[str, Node] = {}
    for clause in clauses:
        assert isinstance(clause, Tree)
        if clause.data in by_name:
            message = str(clause.data).upper().replace("_", " ") + " is given twice"
            raise CepheidError("syntax", message, span=span_of(source, clause), hint="keep one of them")
        by_name[str(clause.data)] = clause
    return by_name


def with_clauses(query: Query, source: Source, clauses: dict[str, Node]) -> Query:
    """The query with its PARTITION BY, WITHIN, CONSUME and LIMIT."""
    within, limit = clauses.get("within"), clauses.get("limit")
    places = Places(
        partition_by=spans_of(source, clauses.get("partition_by")),
        window=None if within is None else span_of(source, within),
        limit=None if limit is None else span_of(source, limit),
    )
    return replace(
        query,
        partition_by=names_of(clauses.get("partition_by")),
        window=window_in(source, within),
        consume="consume" in clauses,
        limit=_limit_in(source, limit),
        places=places,
    )


def window_in(source: Source, clause: Node | None) -> Window | None:
    return None if clause is None else window_of_parts(source, *clause.children)


def window_of_parts(source: Source, amount: Part, unit: Part) -> Window:
    """The window of an amount and a unit, None where there is none."""
    assert isinstance(amount, Tree)
    assert unit is None or isinstance(unit, Token)
    sign, number = amount.children
    assert isinstance(number, Token)
    return window_of(source, sign if isinstance(sign, Token) else None, number, unit)


def _limit_in(source: Source, clause: Node | None) -> int | None:
    if clause is None:
        return None
    (amount,) = clause.children
    assert isinstance(amount, Tree)
    sign, number = amount.children
    assert isinstance(number, Token)
    if number.type != "INT":
        message = "`LIMIT` requires a whole number of matches"
        raise CepheidError("syntax", message, span=span_of(source, number), hint="as in LIMIT 10")
    return integer_of(source, number, 1 if sign is None else -1)


def spans_of(source: Source, node: Part) -> tuple[Span, ...]:
    return tuple(span_of(source, token) for token in tokens_of(node))
