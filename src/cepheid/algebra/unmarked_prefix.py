"""The lead: how many events a run of a SREMO may read before the first that it marks.

In: a pattern. Out: a bound that no run exceeds. A window is measured from the first marked event, so a match may depend
on as many events before its window as the lead says. Patterns of the other languages have no lead.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import assert_never

from cepheid.algebra.nodes import (
    Both,
    Complement,
    Concat,
    Iterate,
    Or,
    Pattern,
    Read,
    Reading,
    Recognise,
    Within,
    walk,
)


def lead(pattern: Pattern) -> float:
    """The most events that are read before the first marked one; `inf` when nothing bounds them.

    >>> from cepheid.algebra.conditions import TRUE
    >>> event, unmarked = Read(TRUE), Read(TRUE, marked=False)
    >>> lead(Recognise(Concat((unmarked, event)))), lead(Recognise(Concat((Iterate(unmarked), event))))
    (1.0, inf)
    """
    return max((_lead(node.reading) for node in walk(pattern) if isinstance(node, Recognise)), default=0.0)


def _lead(reading: Reading) -> float:
    return max(0.0, _extent(reading)[1])


def _extent(reading: Reading) -> tuple[float, float]:
    """The most events that are read without marking any, and before the first mark where there is one; -inf where
    that cannot be."""
    match reading:
        case Read(_, marked):
            return (-inf, 0.0) if marked else (1.0, -inf)
        case Concat(parts):
            return _concat(map(_extent, parts))
        case Or(parts):
            extents = [(-inf, -inf), *map(_extent, parts)]
            return max(silent for silent, _ in extents), max(before for _, before in extents)
        case Iterate(body):
            silent, before = _extent(body)
            silent = inf if silent > 0 else 0.0
            return silent, _sum(silent, before)
        case Both(left, right):
            one, two = _extent(left), _extent(right)
            return min(one[0], two[0]), min(one[1], two[1])
        case Complement():
            return inf, -inf
        case Within(body):
            return _extent(body)
        case _:
            assert_never(reading)


def _concat(extents: Iterable[tuple[float, float]]) -> tuple[float, float]:
    so_far, most = 0.0, -inf
    for silent, before in extents:
        most = max(most, _sum(so_far, before))
        so_far = _sum(so_far, silent)
    return so_far, most


def _sum(one: float, two: float) -> float:
    """What cannot be stays so, however much comes with it."""
    return -inf if -inf in (one, two) else one + two
