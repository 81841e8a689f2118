"""Clauses: syntax tree → the parts of a query around its pattern, for every language."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token, Tree

from cepheid.algebra.nodes import Places, Window
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
    given: dict[str, Node] = {}
    for clause in clauses:
        assert isinstance(clause, Tree)
        if clause.data in given:
            name = str(clause.data).upper().replace("_", " ")
            raise CepheidError(
                "syntax", f"{name} is given twice", span=span_of(source, clause), hint="keep one of them"
            )
        given[str(clause.data)] = clause
    return given


def window_in(source: Source, clause: Node | None) -> Window | None:
    if clause is None:
        return None
    amount, unit = clause.children
    assert isinstance(amount, Tree)
    assert unit is None or isinstance(unit, Token)
    sign, number = amount.children
    assert isinstance(number, Token)
    return window_of(source, sign if isinstance(sign, Token) else None, number, unit)


def limit_in(source: Source, clause: Node | None) -> int | None:
    if clause is None:
        return None
    (amount,) = clause.children
    assert isinstance(amount, Tree)
    sign, number = amount.children
    assert isinstance(number, Token)
    if number.type != "INT":
        raise CepheidError(
            "syntax",
            "`LIMIT` requires a whole number of matches",
            span=span_of(source, number),
            hint="as in LIMIT 10",
        )
    return integer_of(source, number, 1 if sign is None else -1)


def spans_of(source: Source, node: Part) -> tuple[Span, ...]:
    return tuple(span_of(source, token) for token in tokens_of(node))


def places_of(source: Source, given: dict[str, Node]) -> Places:
    """Where the clauses stood."""
    return Places(
        partition_by=spans_of(source, given.get("partition_by")),
        window=span_of(source, given["within"]) if "within" in given else None,
        limit=span_of(source, given["limit"]) if "limit" in given else None,
    )
