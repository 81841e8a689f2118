"""Patterns without matches, and their effect on the patterns around them.

In: a rule that raises `UnsatisfiableError` for a part that cannot match. Out: the pattern without the alternatives that
need that part (`cel-cea`, lemma 4); if none is left, the user gets the error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from cepheid.algebra.empty import EMPTY
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
from cepheid.errors import CepheidError, Span


class UnsatisfiableError(CepheidError):
    """A pattern matches nothing on any stream; the message says which part and why."""

    def __init__(self, message: str, *, span: Span | None = None, hint: str | None = None) -> None:
        super().__init__("unsatisfiable", message, span=span, hint=hint)


def prune(pattern: Pattern, change: Callable[[Pattern], Pattern]) -> Pattern:
    """`rebuild`, but a child that `change` finds unsatisfiable takes only those parents with it that need it.

    >>> from cepheid.algebra.nodes import Atom
    >>> def drop_b(pattern):
    ...     if pattern == Atom("B"):
    ...         raise UnsatisfiableError("no B")
    ...     return pattern
    >>> prune(Or((Atom("A"), Atom("B"))), drop_b)
    Atom(type='A', var=None, condition=None)
    """
    match pattern:
        case Or():
            return _surviving(pattern, change)
        case Repeat(body, 0) | Not(body):
            try:
                return replace(pattern, body=change(body))
            except UnsatisfiableError:
                return EMPTY
        case Atom() | Recognise() | Nfab():
            return pattern
        case Seq() | StrictSeq() | All() | Repeat() | Filter() | PartBy() | Select() | Bind() | Within():
            return rebuild(pattern, change)
        case _:
            assert_never(pattern)


def _surviving(pattern: Or[Pattern], change: Callable[[Pattern], Pattern]) -> Pattern:
    sides: list[Pattern] = []
    errors: list[UnsatisfiableError] = []
    for side in pattern.parts:
        try:
            sides.append(change(side))
        except UnsatisfiableError as error:
            errors.append(error)
    if not sides:
        raise errors[0]
    return sides[0] if len(sides) == 1 else Or(tuple(sides))
