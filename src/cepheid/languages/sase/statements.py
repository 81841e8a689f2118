"""Several queries of one text: UNION, IN STREAM, FROM (`sase-plus`, sections 2.2.3 and 2.2.4).

In: a syntax tree. Out: its statements, in order. A statement is a query, or several that UNION joins, and may name the
stream of its results, which later statements read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lark import Token, Tree

from cepheid.errors import CepheidError, Span
from cepheid.languages.parsed import Node, ParsedTree, Part, span_of
from cepheid.languages.words import name_of


@dataclass(frozen=True, slots=True)
class Statement:
    """`parts` are its queries, each with its own text; `keeps` says of each but the first whether UNION ALL joins it to
    those before it. `stream` is the name of its results, `type` that of their events."""

    parts: tuple[tuple[str, ParsedTree], ...]
    keeps: tuple[bool, ...]
    stream: str | None
    type: str | None
    span: Span


def statements_of(tree: ParsedTree) -> tuple[Statement, ...]:
    """
    >>> from cepheid.errors import Source
    >>> from cepheid.languages.sase.tree import parse_sase
    >>> both = "PATTERN SEQ(A a) RETURN a.v UNION PATTERN SEQ(B a) RETURN a.v IN STREAM s"
    >>> text = f"{both} FROM s PATTERN SEQ(s a) RETURN a.v"
    >>> [(len(found.parts), found.stream) for found in statements_of(parse_sase(Source(text)))]
    [(2, 's'), (1, None)]
    """
    if tree.language != "sase":
        return (Statement(((tree.source.text, tree),), (), None, None, span_of(tree.source, tree.root)),)
    return tuple(_statement(tree, block) for block in tree.root.children if isinstance(block, Tree))


def _statement(tree: ParsedTree, block: Node) -> Statement:
    queries = [block] if block.data == "query" else list(_queries(block))
    *others, last = (query.children[-1] for query in queries)
    misplaced = next((stream for stream in others if stream is not None), None)
    if misplaced is not None:
        message = "IN STREAM names the results of the whole UNION"
        hint = "write it once, after the last RETURN"
        raise CepheidError("syntax", message, span=span_of(tree.source, misplaced), hint=hint)
    keeps = tuple(_keeps(block)) if block.data == "union" else ()
    stream, type = _named(last)
    parts = tuple(_part(tree, query) for query in queries)
    return Statement(parts, keeps, stream, type or stream, span_of(tree.source, block))


def _queries(union: Node) -> Iterator[Node]:
    return (child for child in union.children if isinstance(child, Tree))


def _keeps(union: Node) -> Iterator[bool]:
    """For each UNION whether ALL stands after it."""
    for place, child in enumerate(union.children):
        if isinstance(child, Token) and child.type == "UNION":
            yield union.children[place + 1] is not None


def _named(stream: Part) -> tuple[str | None, str | None]:
    if stream is None:
        return None, None
    assert isinstance(stream, Tree)
    _, name, type = stream.children
    assert isinstance(name, Token)
    return name_of(name), name_of(type) if isinstance(type, Token) else None


def _part(tree: ParsedTree, query: Node) -> tuple[str, ParsedTree]:
    """A query by itself, without IN STREAM."""
    children: list[Part] = [*query.children[:-1], None]
    alone: Node = Tree("query", children, query.meta)  # type: ignore[arg-type]
    begin = span_of(tree.source, query).start
    last = query.children[-2]
    assert isinstance(last, Tree)
    text = tree.source.text[begin : span_of(tree.source, last).end]
    return text, ParsedTree(tree.language, tree.source, Tree("start", [alone], query.meta))
