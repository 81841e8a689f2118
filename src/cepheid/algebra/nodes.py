"""The algebra: the immutable nodes that every language lowers to, and the query around a pattern.

There are two unions of them. A `Pattern` (CEL) means a set of (complex event, valuation, binding) over a stream: it
skips the events that it does not bind. A `Reading` (SREMO, `srt`, section 3) means strings of neighbouring events: it
reads each of them, marks it or not, and changes registers. `Recognise` makes a pattern of a reading. A node that means
the same in both is in both. `semantics/` says what each means.

Passes are `match` + `assert_never`, so that the type checker lists what a new operator still lacks. Nodes are final, so
that it knows that no node of one union is one of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from enum import Enum
from typing import Generic, TypeVar, assert_never, final

from cepheid.algebra.conditions import TRUE, Condition, Expression
from cepheid.algebra.node import Node, node
from cepheid.algebra.windows import Window as Window
from cepheid.algebra.windows import WindowUnit as WindowUnit
from cepheid.errors import Span

Part = TypeVar("Part")


class Strategy(Enum):
    """CEL's selection strategies. SASE+'s are other operators with other names."""

    ALL = "ALL"
    STRICT = "STRICT"
    NXT = "NXT"
    LAST = "LAST"
    MAX = "MAX"


@final
@node
class Atom(Node):
    """One event of `type` (None: any type) for which `condition` holds, bound to `var`.

    `condition` is about the current event (attributes with var None). `also`: further variables of the event, where ALL
    has one event for several atoms. `near`: variables bound before, and how long after their events this one may come.
    """

    type: str | None
    var: str | None = None
    condition: Condition | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    also: tuple[str, ...] = field(default=(), repr=False)
    near: tuple[tuple[str, Window], ...] = field(default=(), repr=False)


@final
@node
class Seq(Node):
    """`left ; right`: all of right after all of left, anything in between."""

    left: Pattern
    right: Pattern


@final
@node
class StrictSeq(Node):
    """`left : right`: right begins at the position directly after left's last."""

    left: Pattern
    right: Pattern


@final
@node
class Or(Node, Generic[Part]):
    """`φ OR ψ` of CEL, `e1 | e2` of SREMO: what any of the parts means."""

    parts: tuple[Part, ...]


@final
@node
class All(Node):
    """`left ALL right`: both, in any order and interleaving; the union of their events. `apart`, `left AND right`: they
    share no events but those of the variables that both define."""

    left: Pattern
    right: Pattern
    apart: bool = False


@final
@node
class Repeat(Node):
    """`body{lo,hi}`: lo to hi times in a row (hi None: no bound), each after the one before, as by `;`.
    `+` is {1,}, `*` is {0,}, `?` is {0,1}. Zero times is the empty set of events, neutral for `;` and `:`.
    `strict`, `body:{lo,hi}`: each from the very next event on, as by `:`."""

    body: Pattern
    lo: int
    hi: int | None
    span: Span | None = field(default=None, compare=False, repr=False)
    strict: bool = False


@final
@node
class Filter(Node):
    body: Pattern
    condition: Condition
    span: Span | None = field(default=None, compare=False, repr=False)


@final
@node
class PartBy(Node):
    """`body PART-BY [X.a, Y.b]`: the listed attributes are equal over all events of the listed variables; a var
    None stands for every event of the body. `places` says where each key stood in the text."""

    body: Pattern
    keys: tuple[tuple[str | None, str], ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    places: tuple[Span, ...] = field(default=(), compare=False, repr=False)

    def key_span(self, index: int) -> Span | None:
        return self.places[index] if index < len(self.places) else self.span


@final
@node
class Select(Node):
    """A selection strategy over the complex events of `body` that end at the same position."""

    strategy: Strategy
    body: Pattern
    span: Span | None = field(default=None, compare=False, repr=False)


@final
@node
class Bind(Node):
    """`body IN var`: the set variable is bound to all events of the body."""

    body: Pattern
    var: str
    span: Span | None = field(default=None, compare=False, repr=False)


@final
@node
class Not(Node):
    """`NOT body`: no match of the body fits together with the match around it. Binds no event. `within`, `NOT body FOR
    within`: none whose events are at most so far from the last event before it, or, where none comes before, from the
    first after it."""

    body: Pattern
    within: Window | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@final
@node
class Recognise(Node):
    """A SREMO: the events marked by a run that begins at any event and ends by reading an event that it marks. The
    output shows them as the set variable `EVENTS`."""

    reading: Reading


EVENTS = "events"


@final
@node
class Read(Node):
    """`[condition] > register`: reads one event for which the condition holds, marks it (•) or not (⊗), and stores it.

    The condition is about the current event (attributes with var None) and registers (var the register's name); it does
    not hold where it reads an empty register."""

    condition: Condition
    marked: bool = True
    register: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@final
@node
class Concat(Node):
    """One after the other, each directly after the one before; none is ε, which reads nothing."""

    parts: tuple[Reading, ...]


@final
@node
class Iterate(Node):
    """`body*`: any number of times, each directly after the one before; registers go through from each to the next."""

    body: Reading


@final
@node
class Both(Node):
    """`left & right`: both read the same string and mark the same events. Neither sees the other's registers."""

    left: Reading
    right: Reading
    span: Span | None = field(default=None, compare=False, repr=False)


@final
@node
class Complement(Node):
    """`!body`: any string that the body cannot read from here. Marks nothing and leaves registers as they are."""

    body: Reading
    span: Span | None = field(default=None, compare=False, repr=False)


@final
@node
class Within(Node, Generic[Part]):
    """`body WITHIN window`: from the body's first marked event to its last. In a `Pattern` also `… OF x`: each event of
    the body is at most so far from x, before or after it; of `PREVIOUS`, from the last event of the match before the
    body, if there is one."""

    body: Part
    window: Window
    span: Span | None = field(default=None, compare=False, repr=False)
    of: str | None = None


PREVIOUS = ""
"""Stands for a variable in `Within.of`; no name is empty."""

Pattern = (
    Atom
    | Seq
    | StrictSeq
    | Or["Pattern"]
    | All
    | Repeat
    | Filter
    | PartBy
    | Select
    | Bind
    | Not
    | Within["Pattern"]
    | Recognise
)
Reading = Read | Concat | Or["Reading"] | Iterate | Both | Complement | Within["Reading"]

Tree = TypeVar("Tree", Pattern, Reading)

EPSILON = Concat(())
ANY = Read(TRUE, marked=False)
SKIP = Iterate(ANY)


@final
@node
class Places(Node):
    """Where the parts of a query that are not nodes stood in its text, for errors; the tuples run along
    those of the query."""

    select: tuple[Span, ...] = ()
    streams: tuple[Span, ...] = ()
    partition_by: tuple[Span, ...] = ()
    window: Span | None = None
    limit: Span | None = None


@final
@node
class Computed(Node):
    """`value AS name`: a column of the output with the value of an expression over the variables of a match.

    A variable that the match does not bind has NULL attributes. Where the expression reads a variable that can be
    several events (`each`), the column holds an array: the value for each of them, in stream order."""

    name: str
    value: Expression
    span: Span | None = field(default=None, compare=False, repr=False)


@final
@node
class Query(Node):
    """A pattern with all that surrounds it. `select` None is `*`: every variable. With `distinct`, matches that end at
    the same event and agree in all that is selected are one."""

    pattern: Pattern
    select: tuple[str | Computed, ...] | None = None
    streams: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    window: Window | None = None
    strategy: Strategy = Strategy.ALL
    consume: bool = False
    limit: int | None = None
    distinct: bool = False
    places: Places | None = field(default=None, compare=False, repr=False)


def children(node: Tree) -> tuple[Tree, ...]:
    """The direct parts, left to right. `Recognise` has none: its reading is not a pattern."""
    match node:
        case Atom() | Recognise() | Read():
            return ()
        case Seq(left, right) | StrictSeq(left, right) | All(left, right):
            return (left, right)
        case Both(left, right):
            return (left, right)
        case Or(parts):
            return parts
        case Concat(parts):
            return parts
        case Repeat(body) | Filter(body) | PartBy(body) | Bind(body) | Select(_, body) | Not(body):
            return (body,)
        case Within(body):
            return (body,)
        case Iterate(body) | Complement(body):
            return (body,)
        case _:
            assert_never(node)


def rebuild(node: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """The same node over changed parts."""
    match node:
        case Atom() | Recognise() | Read():
            return node
        case Seq(left, right) | StrictSeq(left, right) | All(left, right):
            return replace(node, left=change(left), right=change(right))
        case Both(left, right):
            return replace(node, left=change(left), right=change(right))
        case Or(parts):
            return Or(tuple(map(change, parts)))
        case Concat(parts):
            return Concat(tuple(map(change, parts)))
        case Repeat(body) | Filter(body) | PartBy(body) | Bind(body) | Select(_, body) | Not(body):
            return replace(node, body=change(body))
        case Within(body):
            return replace(node, body=change(body))
        case Iterate(body) | Complement(body):
            return replace(node, body=change(body))
        case _:
            assert_never(node)


def walk(node: Tree) -> Iterator[Tree]:
    """The node and all below it, parents first, left to right."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))


def conditions_in(pattern: Pattern) -> Iterator[Condition]:
    """Every condition of a pattern, of its readings too.

    >>> list(conditions_in(Recognise(Concat((SKIP, Read(TRUE))))))
    [Literal(value=True), Literal(value=True)]
    """
    for part in walk(pattern):
        match part:
            case Atom(_, _, condition):
                yield from () if condition is None else (condition,)
            case Filter(_, condition):
                yield condition
            case Recognise(reading):
                yield from (read.condition for read in walk(reading) if isinstance(read, Read))
            case Seq() | StrictSeq() | Or() | All() | Repeat():
                pass
            case PartBy() | Select() | Bind() | Not() | Within():
                pass
            case _:
                assert_never(part)


def size(pattern: Pattern) -> int:
    return sum(1 for _ in walk(pattern))
