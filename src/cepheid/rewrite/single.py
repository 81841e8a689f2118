"""Single: a PART-BY over one event on one attribute compares the event with itself and goes.

In: any pattern. Out: the same matches. A key equals itself, NULL and NaN included (`semantics.keys`). Several
attributes of one event are compared with each other, so such a PART-BY stays.
"""

from __future__ import annotations

from typing import assert_never

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


def drop_single(pattern: Pattern) -> Pattern:
    """The pattern without what compares an event with itself.

    >>> drop_single(PartBy(Bind(Atom("T"), "X"), (("X", "id"),))) == Bind(Atom("T"), "X")
    True
    """
    pattern = rebuild(pattern, drop_single)
    if isinstance(pattern, PartBy) and len({name for _, name in pattern.keys}) <= 1:
        return pattern.body if _at_most_one(pattern.body) else pattern
    return pattern


def _at_most_one(pattern: Pattern) -> bool:
    """Whether no match of the pattern has two events."""
    match pattern:
        case Atom():
            return True
        case Or(parts):
            return all(map(_at_most_one, parts))
        case Repeat(body, _, hi):
            return hi == 0 or (hi == 1 and _at_most_one(body))
        case Filter(body) | PartBy(body) | Bind(body) | Select(_, body) | Within(body):
            return _at_most_one(body)
        case Seq() | StrictSeq() | All() | Not() | Recognise() | Nfab():
            return False
        case _:
            assert_never(pattern)
