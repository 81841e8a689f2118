"""SREMO's repetitions and selection strategies, as made of its own nodes (`srt`, definition 4.13).

In: expressions, each with how often it may be repeated. Out: one expression. `e+` is `e . e*`, `e?` is `e | ε`,
`{l,m}` is written out. Between its parts, and between the rounds of a repeated part, skip-till-any-match lets any
events pass, skip-till-next-match only events that the next part could not have read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, assert_never

from cepheid.algebra.conditions import FALSE
from cepheid.algebra.nodes import (
    EPSILON,
    SKIP,
    Both,
    Complement,
    Concat,
    Iterate,
    Or,
    Read,
    Reading,
    Within,
    children,
)
from cepheid.errors import Span

NEVER = Read(FALSE, marked=False)  # reads nothing, not even the empty string


class Rounds(NamedTuple):
    """`body{lo,hi}`; hi None is no bound, hi at least 1 and lo."""

    body: Reading
    lo: int = 1
    hi: int | None = 1


def repeated(rounds: Rounds, between: Reading | None = None) -> Reading:
    """The rounds one after the other, each but the first after something that `between` reads.

    >>> from cepheid.algebra.nodes import ANY
    >>> repeated(Rounds(ANY, 1, None)) == Concat((ANY, Iterate(ANY)))
    True
    >>> repeated(Rounds(ANY, 1, 2)) == Concat((ANY, Or((ANY, EPSILON))))
    True
    """
    body, lo, hi = rounds
    if (lo, hi, between) == (0, None, None):
        return Iterate(body)
    if lo == 0:
        return Or((repeated(Rounds(body, 1, hi), between), EPSILON))
    more = (body,) if between is None else (between, body)
    parts = (body, *more * (lo - 1))
    if hi is None:
        return Concat((*parts, Iterate(_joined(more))))
    rest: tuple[Reading, ...] = ()
    for _ in range(hi - lo):
        # One inside the other, so that each number of rounds is read in one way only.
        rest = (Or((_joined((*more, *rest)), EPSILON)),)
    return _joined((*parts, *rest))


def _joined(parts: tuple[Reading, ...]) -> Reading:
    return parts[0] if len(parts) == 1 else Concat(parts)


def any_match(arguments: Sequence[Rounds]) -> Reading:
    """`#(e1, …, en)`: e1 . any* . e2 … any* . en.

    >>> from cepheid.algebra.nodes import ANY
    >>> any_match([Rounds(ANY), Rounds(ANY)]) == Concat((ANY, SKIP, ANY))
    True
    """
    parts: list[Reading] = []
    for argument in arguments:
        parts += [SKIP, repeated(argument, SKIP)] if parts else [repeated(argument, SKIP)]
    return _joined(tuple(parts))


def next_match(arguments: Sequence[Rounds], span: Span | None = None) -> Reading:
    """`@(e1, …, en)`: e1 . G2 . e2 … Gn . en, where the gap Gi holds nothing that a round of ei could read. Where
    ei may be left out, so is its gap.

    >>> from cepheid.algebra.nodes import ANY
    >>> next_match([Rounds(ANY), Rounds(ANY)]) == Concat((ANY, gap(ANY), ANY))
    True
    """
    parts: list[Reading] = []
    for given in arguments:
        body, lo, hi = given
        if reads_nothing(body):
            body, lo = something(body), 0
        space = gap(body, span)
        if not parts:
            parts.append(repeated(Rounds(body, lo, hi), space))
        elif lo == 0:
            parts.append(Or((Concat((space, repeated(Rounds(body, 1, hi), space))), EPSILON)))
        else:
            parts += [space, repeated(Rounds(body, lo, hi), space)]
    return _joined(tuple(parts))


def gap(reading: Reading, span: Span | None = None) -> Complement:
    """`!(any* . e . any*)`: a string without any substring that the expression could read."""
    return Complement(Concat((SKIP, reading, SKIP)), span)


def something(reading: Reading) -> Reading:
    """The same without reading the empty string.

    >>> from cepheid.algebra.nodes import ANY
    >>> something(Iterate(ANY)) == Concat((ANY, Iterate(ANY)))
    True
    """
    if not reads_nothing(reading):
        return reading
    match reading:
        case Read():
            return reading
        case Concat(parts):
            # All parts may read nothing: the first that does not decides.
            return _choice(tuple(_from(parts[index:]) for index in range(len(parts))))
        case Or(parts):
            return _choice(tuple(something(part) for part in parts if part != EPSILON))
        case Iterate(body):
            return Concat((something(body), reading))
        case Both(left, right, span):
            return Both(something(left), something(right), span)
        case Complement(body, span):
            return Complement(Or((body, EPSILON)), span)
        case Within(body, window, span):
            return Within(something(body), window, span)
        case _:
            assert_never(reading)


def reads_nothing(reading: Reading) -> bool:
    """Whether the expression reads the empty string, from any valuation.

    >>> reads_nothing(SKIP), reads_nothing(Complement(EPSILON)), reads_nothing(EPSILON)
    (True, False, True)
    """
    match reading:
        case Read():
            return False
        case Concat() | Both() | Within():
            return all(map(reads_nothing, children(reading)))
        case Or(parts):
            return any(map(reads_nothing, parts))
        case Iterate():
            return True
        case Complement(body):
            return not reads_nothing(body)
        case _:
            assert_never(reading)


def _choice(parts: tuple[Reading, ...]) -> Reading:
    if not parts:
        return NEVER
    return parts[0] if len(parts) == 1 else Or(parts)


def _from(parts: tuple[Reading, ...]) -> Reading:
    return _joined((something(parts[0]), *parts[1:]))
