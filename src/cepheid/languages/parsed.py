"""A parsed query: the syntax tree of its text, before lowering.

In: the tree of a language's parser. Out: a value that knows its language and its text, and prints as indented lines for
`explain`. Only the depth is checked: all later passes recurse, so a tree deeper than `DEPTH_LIMIT` is an error here
instead of a stack overflow later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lark import Token, Tree

from cepheid.errors import CepheidError, Source, Span

DEPTH_LIMIT = 150

Node = Tree[Token]
Part = Node | Token | None


@dataclass(frozen=True, slots=True)
class ParsedTree:
    """`root` is a lark tree whose nodes know their place in `source`."""

    language: str
    source: Source
    root: Node

    def __str__(self) -> str:
        return "\n".join(_lines(self.root, 0))


def span_of(source: Source, part: Node | Token) -> Span:
    """Where a node or a token stands in the text."""
    if isinstance(part, Token):
        start = part.start_pos or 0
        return Span(source, start, part.end_pos or start)
    return Span(source, part.meta.start_pos, part.meta.end_pos)


def check_depth(tree: ParsedTree) -> None:
    """Refuses a tree that later passes could not walk."""
    waiting: list[tuple[Node, int]] = [(tree.root, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEPTH_LIMIT:
            message = f"the query is nested more than {DEPTH_LIMIT} levels deep"
            hint = "a chain of operators nests as well: split the query, or use {l,m} and IN (…)"
            raise CepheidError("too-large", message, span=span_of(tree.source, node), hint=hint)
        waiting.extend((child, depth + 1) for child in node.children if isinstance(child, Tree))


def _lines(part: Part, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if part is None:
        return
    if isinstance(part, Token):
        yield f"{indent}{part}"
        return
    tokens = [str(child) for child in part.children if isinstance(child, Token)]
    if len(tokens) == sum(child is not None for child in part.children):
        yield " ".join([f"{indent}{part.data}", *tokens])
        return
    yield f"{indent}{part.data}"
    for child in part.children:
        yield from _lines(child, depth + 1)
