"""SREMO's own nodes: regular expressions over pieces of the stream, with memory and output (`srt`, section 3).

Unlike the nodes of `nodes.py` these *read*: an expression takes a string of neighbouring events, whose contents of
registers it finds and leaves. `semantics/reading.py` says what each means. `+`, `?`, `#` and `@` are made of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import assert_never

from cepheid.algebra.conditions import TRUE, Condition
from cepheid.algebra.node import Node, node
from cepheid.algebra.windows import Window
from cepheid.errors import Span


@node
class Read(Node):
    """`[condition] > register`: reads one event for which the condition holds, marks it (•) or not (⊗), and stores it.

    The condition speaks of the event at hand (attributes with var None) and of registers (var the register's name);
    where it reads an empty register it does not hold."""

    condition: Condition
    marked: bool = True
    register: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Concat(Node):
    """One after the other, each directly after the one before; none is ε, which reads nothing."""

    parts: tuple[Reading, ...]


@node
class Either(Node):
    parts: tuple[Reading, ...]


@node
class Iterate(Node):
    """`body*`: any number of times, each directly after the one before; registers go through from each to the next."""

    body: Reading


@node
class Both(Node):
    """`left & right`: both read the same string and mark the same events. Neither sees what the other stores."""

    left: Reading
    right: Reading
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Complement(Node):
    """`!body`: any string that the body cannot read from here. Marks nothing and leaves registers as they are."""

    body: Reading
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Inside(Node):
    """`body WITHIN window`: from the body's first marked event to its last."""

    body: Reading
    window: Window
    span: Span | None = field(default=None, compare=False, repr=False)


Reading = Read | Concat | Either | Iterate | Both | Complement | Inside

EPSILON = Concat(())
ANY = Read(TRUE, marked=False)
SKIP = Iterate(ANY)


def parts_of(reading: Reading) -> tuple[Reading, ...]:
    """The direct sub-expressions, left to right."""
    match reading:
        case Read():
            return ()
        case Concat(parts) | Either(parts):
            return parts
        case Iterate(body) | Complement(body) | Inside(body):
            return (body,)
        case Both(left, right):
            return (left, right)
        case _:
            assert_never(reading)


def rebuild_reading(reading: Reading, change: Callable[[Reading], Reading]) -> Reading:
    """The same node over changed parts."""
    match reading:
        case Read():
            return reading
        case Concat(parts):
            return Concat(tuple(map(change, parts)))
        case Either(parts):
            return Either(tuple(map(change, parts)))
        case Iterate(body):
            return Iterate(change(body))
        case Both(left, right, span):
            return Both(change(left), change(right), span)
        case Complement(body, span):
            return Complement(change(body), span)
        case Inside(body, window, span):
            return Inside(change(body), window, span)
        case _:
            assert_never(reading)


def reads_nothing(reading: Reading) -> bool:
    """Whether the empty string is among those that the expression reads, from whatever valuation.

    >>> from cepheid.algebra.conditions import TRUE
    >>> reads_nothing(Iterate(Read(TRUE))), reads_nothing(Complement(EPSILON)), reads_nothing(EPSILON)
    (True, False, True)
    """
    match reading:
        case Read():
            return False
        case Concat(parts):
            return all(map(reads_nothing, parts))
        case Either(parts):
            return any(map(reads_nothing, parts))
        case Iterate():
            return True
        case Both(left, right):
            return reads_nothing(left) and reads_nothing(right)
        case Complement(body):
            return not reads_nothing(body)
        case Inside(body):
            return reads_nothing(body)
        case _:
            assert_never(reading)


def walk_reading(reading: Reading) -> Iterator[Reading]:
    """The expression and all below it, parents first, left to right."""
    waiting = [reading]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(parts_of(node)))


def stored_by(reading: Reading) -> frozenset[str]:
    """The registers whose contents may be others after the expression; those that a complement stores are not among
    them.

    >>> from cepheid.algebra.conditions import TRUE
    >>> sorted(stored_by(Concat((Read(TRUE, register="r"), Complement(Read(TRUE, register="s"))))))
    ['r']
    """
    if isinstance(reading, Read):
        return frozenset() if reading.register is None else frozenset([reading.register])
    if isinstance(reading, Complement):
        return frozenset()
    return frozenset[str]().union(*map(stored_by, parts_of(reading)))
