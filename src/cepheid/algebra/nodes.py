"""The algebra: the immutable nodes that every language lowers to, and the query around a pattern.

A pattern means a set of (complex event, valuation, binding) over a stream; `semantics/` says which. One node
per operator of the five papers; passes over them are `match` + `assert_never`, so that the type checker lists
what a new operator still lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from enum import Enum
from typing import assert_never

from cepheid.algebra.conditions import Condition
from cepheid.algebra.node import Node, node
from cepheid.algebra.strings import Reading
from cepheid.algebra.windows import Window as Window
from cepheid.algebra.windows import WindowUnit as WindowUnit
from cepheid.errors import Span


class Strategy(Enum):
    """CEL's selection strategies. SASE+'s are other operators with other names."""

    ALL = "ALL"
    STRICT = "STRICT"
    NXT = "NXT"
    LAST = "LAST"
    MAX = "MAX"


@node
class Atom(Node):
    """One event of `type` (None: any type) for which `condition` holds, bound to `var`.

    `condition` speaks of the event at hand (attributes with var None). `marked` False is SREMO's ⊗: the event is
    read but not part of the complex event. `also`: further variables of the event, where ALL has one event for several
    atoms.
    """

    type: str | None
    var: str | None = None
    condition: Condition | None = None
    marked: bool = True
    span: Span | None = field(default=None, compare=False, repr=False)
    also: tuple[str, ...] = field(default=(), repr=False)


@node
class Seq(Node):
    """`left ; right`: all of right after all of left, anything in between."""

    left: Pattern
    right: Pattern


@node
class StrictSeq(Node):
    """`left : right`: right begins at the position directly after left's last."""

    left: Pattern
    right: Pattern


@node
class Or(Node):
    left: Pattern
    right: Pattern


@node
class All(Node):
    """`left ALL right`: both, in any order and interleaving; the union of their events."""

    left: Pattern
    right: Pattern


@node
class Intersect(Node):
    """`left & right`: the same events recognised by both."""

    left: Pattern
    right: Pattern


@node
class Repeat(Node):
    """`body{lo,hi}`: lo to hi times in a row (hi None: no bound), each after the one before, as by `;`.
    `+` is {1,}, `*` is {0,}, `?` is {0,1}. Zero times is the empty set of events, neutral for `;` and `:`."""

    body: Pattern
    lo: int
    hi: int | None
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Not(Node):
    """Absence of `body`: between its neighbours in a sequence, before the first, or after the last (until the
    window closes)."""

    body: Pattern
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Filter(Node):
    body: Pattern
    condition: Condition
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class PartBy(Node):
    """`body PART-BY [X.a, Y.b]`: the listed attributes are equal over all events of the listed variables; a var
    None stands for every event of the body. `places` says where each key stood in the text."""

    body: Pattern
    keys: tuple[tuple[str | None, str], ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    places: tuple[Span, ...] = field(default=(), compare=False, repr=False)


@node
class Within(Node):
    body: Pattern
    window: Window


@node
class Select(Node):
    """A selection strategy over the complex events of `body` that end at the same position."""

    strategy: Strategy
    body: Pattern
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Bind(Node):
    """`body IN var`: the set variable is bound to all events of the body."""

    body: Pattern
    var: str
    span: Span | None = field(default=None, compare=False, repr=False)


@node
class Recognise(Node):
    """A SREMO: the events that a run marks which begins at any event and ends by reading one that it marks. All are
    shown as the set variable `EVENTS`."""

    reading: Reading


EVENTS = "events"

Pattern = (
    Atom
    | Seq
    | StrictSeq
    | Or
    | All
    | Intersect
    | Repeat
    | Not
    | Filter
    | PartBy
    | Within
    | Select
    | Bind
    | Recognise
)


@node
class Places(Node):
    """Where the parts of a query that are not nodes stood in its text, for errors; the tuples run along
    those of the query."""

    select: tuple[Span, ...] = ()
    streams: tuple[Span, ...] = ()
    partition_by: tuple[Span, ...] = ()
    window: Span | None = None
    limit: Span | None = None


@node
class Query(Node):
    """A pattern with all that surrounds it. `select` None is `*`: every variable."""

    pattern: Pattern
    select: tuple[str, ...] | None = None
    streams: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    window: Window | None = None
    strategy: Strategy = Strategy.ALL
    consume: bool = False
    limit: int | None = None
    places: Places | None = field(default=None, compare=False, repr=False)


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    """The direct sub-patterns, left to right."""
    match pattern:
        case Atom() | Recognise():
            return ()
        case Seq(a, b) | StrictSeq(a, b) | Or(a, b) | All(a, b) | Intersect(a, b):
            return (a, b)
        case Repeat(body) | Not(body) | Filter(body) | PartBy(body) | Within(body) | Bind(body):
            return (body,)
        case Select(_, body):
            return (body,)
        case _:
            assert_never(pattern)


def rebuild(pattern: Pattern, change: Callable[[Pattern], Pattern]) -> Pattern:
    """The same node over changed children."""
    match pattern:
        case Atom() | Recognise():
            return pattern
        case Seq(a, b):
            return Seq(change(a), change(b))
        case StrictSeq(a, b):
            return StrictSeq(change(a), change(b))
        case Or(a, b):
            return Or(change(a), change(b))
        case All(a, b):
            return All(change(a), change(b))
        case Intersect(a, b):
            return Intersect(change(a), change(b))
        case Repeat(body, lo, hi, span):
            return Repeat(change(body), lo, hi, span)
        case Not(body, span):
            return Not(change(body), span)
        case Filter(body, condition, span):
            return Filter(change(body), condition, span)
        case PartBy(body, keys, span, places):
            return PartBy(change(body), keys, span, places)
        case Within(body, window):
            return Within(change(body), window)
        case Select(strategy, body, span):
            return Select(strategy, change(body), span)
        case Bind(body, var, span):
            return Bind(change(body), var, span)
        case _:
            assert_never(pattern)


def walk(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern and all below it, parents first, left to right."""
    waiting = [pattern]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))


def size(pattern: Pattern) -> int:
    return sum(1 for _ in walk(pattern))
