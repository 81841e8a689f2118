"""Chain complex event automata (`partition-by-chain-cea`, section 4), with labels.

A chain-CEA only marks; between two marks it skips whatever comes. Beside its unary predicate a transition
compares the event at hand with the *last marked event of the run*, by `Link`s that must hold and links that must
not (B₌ and B≠ in the paper). A strict sequence is such a comparison too: `ADJACENT`. Labels are those of `cea.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cepheid.algebra.conditions import Attribute, Comparison
from cepheid.automata.cea import Predicate
from cepheid.semantics.keys import is_one_key
from cepheid.semantics.stream import Stream
from cepheid.semantics.values import holds


class LinkKind(Enum):
    KEY = "key"  # one key, as PART-BY compares: NULL is NULL, NaN is NaN
    VALUE = "value"  # `=` is true, as FILTER compares: never for NULL or NaN
    NEXT = "next"  # the event is the very next one in its stream or partition; no attribute is read


@dataclass(frozen=True, slots=True)
class Link:
    """`left` of the last marked event equals `right` of the event at hand. A link holds or does not, there is no NULL:
    what `different` asks for is its plain complement."""

    left: str
    right: str
    kind: LinkKind = LinkKind.KEY


ADJACENT = Link("", "", LinkKind.NEXT)


@dataclass(frozen=True, slots=True)
class ChainMark:
    """source ─predicate, links/•label→ target; all are numbers in the automaton's lists. The links of `equal` hold and
    those of `different` do not."""

    source: int
    predicate: int
    equal: frozenset[int]
    different: frozenset[int]
    label: int
    target: int


@dataclass(frozen=True, slots=True)
class ChainCEA:
    """States are 0 … states-1; state 0 is initial, nothing enters it and its marks have no links, as there is no last
    marked event yet. A run accepts when it enters a state of `finals`. `labels[0]` is the empty set."""

    states: int
    predicates: tuple[Predicate, ...]
    links: tuple[Link, ...]
    labels: tuple[frozenset[str], ...]
    marks: tuple[ChainMark, ...]
    finals: frozenset[int]


def link_holds(link: Link, stream: Stream, last: int, position: int) -> bool:
    """Whether the link holds between the events at two positions.

    >>> from cepheid.semantics.stream import Event
    >>> stream = [Event("A", 0, {"a": None}), Event("A", 1, {"a": None})]
    >>> [link_holds(Link("a", "a", kind), stream, 0, 1) for kind in LinkKind]
    [True, False, True]
    """
    before, now = stream[last].attributes, stream[position].attributes
    match link.kind:
        case LinkKind.NEXT:
            return last + 1 == position
        case LinkKind.KEY:
            return is_one_key((before[link.left], now[link.right]))
        case LinkKind.VALUE:
            equal = Comparison("=", Attribute("last", link.left), Attribute(None, link.right))
            return holds(equal, {"last": before, None: now})
