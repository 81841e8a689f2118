"""The empty match ε as a pattern, and choices that may contain it.

ε is zero repetitions of anything: neutral for `;` and `:`, and the alternative to φ in `φ?`. `either` keeps the
invariant that ε is never a side of an `Or`: a choice with ε is written `?`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import assert_never

from cepheid.algebra.conditions import FALSE
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

EMPTY: Pattern = Repeat(Atom(None), 0, 0)

NOTHING: Pattern = Atom(None, condition=FALSE)
"""A pattern without matches."""


def is_empty(pattern: Pattern) -> bool:
    """Whether the pattern is written as zero repetitions."""
    return isinstance(pattern, Repeat) and pattern.hi == 0


def nullable(pattern: Pattern) -> bool:
    """Whether the empty match is surely among the pattern's matches, with no filter or strategy to stop it.

    >>> nullable(Seq(Repeat(Atom("A"), 0, None), EMPTY)), nullable(Seq(Repeat(Atom("A"), 0, None), Atom("B")))
    (True, False)
    """
    match pattern:
        case Atom() | Recognise() | Nfab() | Filter() | Select() | Not() | Within():
            return False
        case Or(parts):
            return any(map(nullable, parts))
        case Seq(left, right) | StrictSeq(left, right) | All(left, right):
            return nullable(left) and nullable(right)
        case Repeat(body, lo):
            return lo == 0 or nullable(body)
        case PartBy(body) | Bind(body):
            return nullable(body)
        case _:
            assert_never(pattern)


def without_absences(pattern: Pattern) -> Pattern:
    """The pattern with ε in place of every NOT: what its matches consist of.

    >>> without_absences(Seq(Atom("A"), Not(Atom("B")))) == Seq(Atom("A"), EMPTY)
    True
    """
    return EMPTY if isinstance(pattern, Not) else rebuild(pattern, without_absences)


def optional(pattern: Pattern) -> Pattern:
    """The pattern or ε."""
    return pattern if nullable(pattern) else Repeat(pattern, 0, 1)


def either(patterns: Iterable[Pattern]) -> Pattern:
    """The choice between one or more patterns, each distinct one once.

    >>> either([Atom("A"), EMPTY, Atom("A")]) == Repeat(Atom("A"), 0, 1)
    True
    """
    distinct = list(dict.fromkeys(patterns))
    choices = [pattern for pattern in distinct if not is_empty(pattern)]
    if not choices:
        return EMPTY
    whole = _choice(choices)
    return whole if len(choices) == len(distinct) else optional(whole)


def _choice(choices: list[Pattern]) -> Pattern:
    """One `Or` over all; long lists are halved, so that the nesting stays shallow."""
    if len(choices) <= 16:
        return reduce(lambda one, two: Or((one, two)), choices)
    middle = len(choices) // 2
    return Or((_choice(choices[:middle]), _choice(choices[middle:])))
