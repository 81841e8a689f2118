"""Reach: how far beyond the events of a match its pattern looks.

In: a pattern or a query. Out: the NOTs at its *edges*, before the first event of a match or after its last, which look
as far as the neighbours and windows around them allow; the windows after which it is known that nothing they forbid
comes any more; and whether a part looks at the whole stream, whatever the query's window.
"""

from __future__ import annotations

from math import inf
from typing import assert_never

from cepheid.algebra.nfab_edges import is_known_later
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
    Query,
    Recognise,
    Repeat,
    Select,
    Seq,
    Strategy,
    StrictSeq,
    Window,
    WindowUnit,
    Within,
    walk,
)

FOR_EVER = Window(inf, WindowUnit.PLAIN)

Edge = tuple[Not, Window | None]


def waits(query: Query) -> tuple[Window, ...]:
    """How long after the last event of a match something may come that a NOT of the query forbids: until all of these
    windows are over. None of them: a match is known with its last event.

    >>> ten = Window(10, WindowUnit.PLAIN)
    >>> waits(Query(Seq(Atom("A"), Not(Atom("B"), ten)))) == (ten,)
    True
    >>> waits(Query(Seq(Seq(Atom("A"), Not(Atom("B"))), Atom("C")), window=ten))
    ()
    """
    if isinstance(query.pattern, Nfab):
        return (query.window or FOR_EVER,) if is_known_later(query.pattern) else ()
    found = (window or query.window or FOR_EVER for _, window in edges(query.pattern, last=True))
    return tuple(dict.fromkeys(found))


def longest_wait(query: Query) -> int | float | None:
    """How much time after the last event of a match it is known, if not before; None: with that event; `inf`: time
    alone may not make it known.

    >>> hour, ten = Window(3600, WindowUnit.PLAIN), Window(10, WindowUnit.PLAIN)
    >>> absent = Seq(Atom("A"), Not(Atom("B"), hour))
    >>> longest_wait(Query(absent)), longest_wait(Query(absent, window=ten)), longest_wait(Query(Atom("A"), window=ten))
    (3600, 10, None)
    """
    found = waits(query)
    if not found:
        return None
    longest = max(inf if window.unit is WindowUnit.EVENTS else window.amount for window in found)
    return min(longest, bound(query))


def bound(query: Query) -> int | float:
    """How much time after the last event of a match nothing plays a part, since it would lie outside the query's
    window."""
    if query.window is None or query.window.unit is WindowUnit.EVENTS or looks_everywhere(query.pattern):
        return inf
    return query.window.amount


def is_over(query: Query, events: int, time: int | float) -> bool:
    """Whether the matches that end at an event are known once so many events, it included, have come since, and more
    than `time` has passed.

    >>> absent = Query(Seq(Atom("A"), Not(Atom("B"), Window(3, WindowUnit.EVENTS))), window=Window(9, WindowUnit.PLAIN))
    >>> [is_over(absent, events, time) for events, time in ((2, 9), (2, 9.5), (3, 0))]
    [False, True, True]
    """
    return time > bound(query) or all(
        events >= window.amount if window.unit is WindowUnit.EVENTS else time > window.amount
        for window in waits(query)
    )


def edges(pattern: Pattern, *, last: bool, closed: bool = False) -> list[Edge]:
    """The NOTs that may look beyond the last event of a match, or before its first, with the windows that they bring
    along. Those inside a strategy look at the whole stream; `closed`: they are left out."""

    return _at_ends(pattern, frozenset([last]), closed)


_BOTH = frozenset([True, False])


def _at_ends(pattern: Pattern, ends: frozenset[bool], closed: bool) -> list[Edge]:
    """The same at several ends, True the last: a part of ALL is looked into once for both."""

    def of(part: Pattern) -> list[Edge]:
        return _at_ends(part, ends, closed)

    match pattern:
        case Atom() | Recognise() | Nfab():
            return []
        case Not(Within(_, limit), None):
            return [(pattern, limit)]
        case Not(_, window):
            return [(pattern, window)]
        case Seq(left, right) | StrictSeq(left, right):
            return _of_sequence(left, right, ends, closed)
        case All(left, right):
            return [edge for side in (left, right) for edge in _at_ends(side, _BOTH, closed)]
        case Or(parts):
            return [edge for part in parts for edge in of(part)]
        case Repeat(body):
            return of(body)
        case Within(body, window):
            return [(node, known or window) for node, known in of(body)]
        case Filter(body) | PartBy(body) | Bind(body):
            return of(body)
        case Select(_, body):
            return [] if closed else [(node, known or FOR_EVER) for node, known in of(body)]
        case _:
            assert_never(pattern)


def _of_sequence(left: Pattern, right: Pattern, ends: frozenset[bool], closed: bool) -> list[Edge]:
    """Each end looks into the part that is near, and through it into the other where it may be empty."""
    beyond = [end for end in sorted(ends) if not may_be_empty(right if end else left)]
    found = []
    for part, near in (right, True), (left, False):
        looking = frozenset(end for end in ends if end is near or end not in beyond)
        found += _at_ends(part, looking, closed) if looking else []
        far = [end for end in beyond if end is not near]
        found += [edge for end in far for edge in _inside_strategies(part, end, closed)]
    return found


def _inside_strategies(pattern: Pattern, last: bool, closed: bool) -> list[Edge]:
    """What a strategy inside compares is known no earlier because other events follow."""
    nodes = [] if closed else [node for node in walk(pattern) if isinstance(node, Select)]
    return [edge for node in nodes for edge in edges(node, last=last)]


def may_be_empty(pattern: Pattern) -> bool:
    """Whether a match of the pattern may have no events."""
    match pattern:
        case Atom() | Recognise() | Nfab():
            return False
        case Not():
            return True
        case Seq(left, right) | StrictSeq(left, right) | All(left, right):
            return may_be_empty(left) and may_be_empty(right)
        case Or(parts):
            return any(map(may_be_empty, parts))
        case Repeat(body, lo):
            return lo == 0 or may_be_empty(body)
        case Filter(body) | PartBy(body) | Bind(body) | Select(_, body) | Within(body):
            return may_be_empty(body)
        case _:
            assert_never(pattern)


def looks_everywhere(pattern: Pattern) -> bool:
    """Whether a strategy inside compares complex events that the query's window does not bound, or forbids events
    however far away.

    >>> looks_everywhere(Seq(Atom("A"), Select(Strategy.MAX, Atom("B"))))
    True
    """
    parts = [node for node in walk(pattern) if isinstance(node, Select)]
    compares = any(node.strategy not in (Strategy.ALL, Strategy.STRICT) for node in parts)
    return compares or any(isinstance(node, Not) for part in parts for node in walk(part))
