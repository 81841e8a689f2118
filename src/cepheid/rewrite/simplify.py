"""Simplify: conditions folded, parts that can match nothing removed, ε absorbed.

In: any pattern. Out: the same matches; no filter or atom has a constant condition, no alternative is
impossible or written twice, `{1,1}` is gone and ε stands only under filters. A pattern of which nothing is
left is an `unsatisfiable` error that says which part failed and why.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from cepheid.algebra.conditions import FALSE, TRUE, Condition, sets_read
from cepheid.algebra.empty import EMPTY, either, is_empty, optional
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
)
from cepheid.errors import Span
from cepheid.rewrite.fold import fold
from cepheid.rewrite.unsatisfiable import UnsatisfiableError, prune


def simplify_whole(pattern: Pattern) -> Pattern:
    """`simplify` for the pattern of a query, of which the empty match is no match.

    >>> simplify_whole(Repeat(Atom("A"), 0, 0))
    Traceback (most recent call last):
    cepheid.rewrite.unsatisfiable.UnsatisfiableError: error[unsatisfiable]: only the empty match is left, ...
    """
    simple = simplify(pattern)
    if is_empty(simple):
        raise UnsatisfiableError("only the empty match is left, and a match has at least one event")
    return simple


def simplify(pattern: Pattern) -> Pattern:
    """The pattern without constant conditions, impossible parts and repeated alternatives.

    >>> a, b = Atom("A"), Atom("B")
    >>> simplify(Seq(Or((a, Filter(b, FALSE))), Repeat(Filter(b, TRUE), 1, 1))) == Seq(a, b)
    True
    """
    match pattern:
        case Atom(condition=None):
            return pattern
        case Atom(condition=condition):
            assert condition is not None
            folded = _possible(condition, pattern.span)
            return replace(pattern, condition=None if folded == TRUE else folded)
        case Filter(body, condition) if sets_read(condition):
            # A set may be empty, and then even a condition that is never true holds.
            return replace(pattern, body=simplify(body))
        case Filter(body, condition, span):
            folded = _possible(condition, span)
            simple = simplify(body)
            return simple if folded == TRUE else Filter(simple, folded, span)
        case Seq() | StrictSeq() | Or() | All() | Repeat() | PartBy():
            return _tidy(prune(pattern, simplify))
        case Select() | Bind() | Not() | Within() | Recognise() | Nfab():
            return _tidy(prune(pattern, simplify))
        case _:
            assert_never(pattern)


def _possible(condition: Condition, span: Span | None) -> Condition:
    folded = fold(condition)
    if folded == FALSE:
        where = condition.span or span
        text = f"condition `{where.text}`" if where is not None else "a condition"
        raise UnsatisfiableError(
            f"{text} is never true, so the pattern around it matches nothing", span=where
        )
    return folded


def _tidy(pattern: Pattern) -> Pattern:
    match pattern:
        case Repeat(body, 1, 1):
            return body
        case Repeat(_, _, 0):
            return EMPTY
        case Repeat(body) | Bind(body) | PartBy(body) | Within(body) if is_empty(body):
            return EMPTY
        case Repeat(body, 0, 1):
            return optional(body)
        case Seq(left, right) | StrictSeq(left, right) | All(left, right) if is_empty(left):
            return right
        case Seq(left, right) | StrictSeq(left, right) | All(left, right) if is_empty(right):
            return left
        case Or():
            choices = list(_choices(pattern))
            return pattern if len(set(choices)) == len(choices) and EMPTY not in choices else either(choices)
        case Atom() | Recognise() | Nfab() | Select() | Filter():
            return pattern
        case Seq() | StrictSeq() | All() | Repeat() | PartBy() | Bind() | Not() | Within():
            return pattern
        case _:
            assert_never(pattern)


def _choices(pattern: Pattern) -> tuple[Pattern, ...]:
    """The alternatives of nested ORs, left to right."""
    if isinstance(pattern, Or):
        return tuple(choice for part in pattern.parts for choice in _choices(part))
    return (pattern,)
