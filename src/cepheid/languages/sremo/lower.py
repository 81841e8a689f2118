"""SREMO syntax tree → algebra.

In: a `ParsedTree`. Out: a `Query` whose pattern recognises the expression. `+`, `?`, `{l,m}`, `#` and `@` become the
nodes that they are made of (`algebra.skips`), which can multiply an expression, so that its size is watched. Which
registers may be read where is `algebra.registers`' question, which columns exist `algebra.types`'.
"""

from __future__ import annotations

from lark import Token, Tree

from cepheid.algebra.conditions import TRUE
from cepheid.algebra.nodes import (
    EPSILON,
    Atom,
    Both,
    Complement,
    Concat,
    Or,
    Query,
    Read,
    Reading,
    Recognise,
    Repeat,
    Within,
    children,
)
from cepheid.algebra.scope import check_repeat
from cepheid.algebra.skips import Rounds, any_match, next_match, repeated
from cepheid.errors import CepheidError, Source, Span
from cepheid.languages.lower_clauses import clauses_of, limit_in, names_of, places_of, tokens_of, window_in
from cepheid.languages.lower_conditions import lower_condition
from cepheid.languages.parsed import Node, ParsedTree, Part, span_of
from cepheid.languages.words import integer_of, name_of

MOST_PARTS = 2_000  # of an expression once its repetitions are written out
MOST_OPTIONAL = 64  # rounds that lie one inside the other

REPETITIONS = frozenset(["plus", "star", "optional", "exactly", "at_least", "from_to"])


def lower_sremo(tree: ParsedTree) -> Query:
    """The query a SREMO tree stands for.

    >>> from cepheid.languages.sremo.tree import parse_sremo
    >>> query = lower_sremo(parse_sremo(Source("#([a], any) WITHIN 5 events")))
    >>> query.window, query.pattern.reading == Concat(query.pattern.reading.parts)
    (Window(amount=5, unit=<WindowUnit.EVENTS: 'events'>), True)
    """
    expression, *clauses = tree.root.children
    source = tree.source
    given = clauses_of(source, clauses)
    return Query(
        Recognise(Lowering(source).reading(expression)),
        partition_by=names_of(given.get("partition_by")),
        window=window_in(source, given.get("within")),
        consume="consume" in given,
        limit=limit_in(source, given.get("limit")),
        places=places_of(source, given),
    )


class Lowering:
    """Lowers the expressions of one text; remembers how large each is."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._sizes: dict[int, tuple[Reading, int]] = {}

    def reading(self, part: Part) -> Reading:
        """The expression of a subtree, if it is not too large."""
        assert isinstance(part, Tree)
        lowered = self._reading(part)
        if self._size(lowered) > MOST_PARTS:
            raise _too_large(f"it has more than {MOST_PARTS} parts", span_of(self._source, part))
        return lowered

    def _size(self, reading: Reading) -> int:
        """How many nodes it has; one that stands in several places is counted once and multiplied."""
        if id(reading) not in self._sizes:
            self._sizes[id(reading)] = reading, 1 + sum(map(self._size, children(reading)))
        return self._sizes[id(reading)][1]

    def _reading(self, node: Node) -> Reading:
        """One case per rule of the grammar."""
        span = span_of(self._source, node)
        match str(node.data), node.children:
            case ("marked" | "unmarked") as rule, [condition, register]:
                lowered = lower_condition(self._source, condition)
                return Read(lowered, rule == "marked", _register(register), span)
            case "any", [register]:
                return Read(TRUE, False, _register(register), span)
            case "nothing", []:
                return EPSILON
            case "concat", parts:
                return Concat(tuple(map(self.reading, parts)))
            case "either", parts:
                return Or(tuple(map(self.reading, parts)))
            case "both", [left, right]:
                return Both(self.reading(left), self.reading(right), span)
            case "complement", [body]:
                return Complement(self.reading(body), span)
            case "inside", [body, *_]:
                window = window_in(self._source, Tree("within", node.children[1:], node.meta))
                assert window is not None
                return Within(self.reading(body), window, span)
            case "any_match", arguments:
                return any_match([self._rounds(argument) for argument in arguments])
            case "next_match", arguments:
                return next_match([self._rounds(argument) for argument in arguments], span)
            case _:
                return repeated(self._rounds(node))

    def _rounds(self, part: Part) -> Rounds:
        """An expression and how often it is repeated; what is no repetition comes once."""
        assert isinstance(part, Tree)
        if part.data not in REPETITIONS:
            return Rounds(self.reading(part))
        body = self.reading(part.children[0])
        lo, hi = _bounds(str(part.data), [integer_of(self._source, token) for token in tokens_of(part)])
        span = span_of(self._source, part)
        check_repeat(Repeat(Atom(None), lo, hi, span))
        if hi is not None and hi - lo > MOST_OPTIONAL:
            raise _too_large(f"more than {MOST_OPTIONAL} rounds may be left out", span)
        if self._size(body) * (lo if hi is None else hi) > MOST_PARTS:
            raise _too_large(f"it has more than {MOST_PARTS} parts", span)
        return Rounds(body, lo, hi)


def _register(token: Part) -> str | None:
    return name_of(token) if isinstance(token, Token) else None


def _bounds(rule: str, numbers: list[int]) -> tuple[int, int | None]:
    match rule, numbers:
        case "plus", []:
            return 1, None
        case "star", []:
            return 0, None
        case "optional", []:
            return 0, 1
        case "exactly", [count]:
            return count, count
        case "at_least", [lo]:
            return lo, None
        case "from_to", [lo, hi]:
            return lo, hi
        case other:
            raise AssertionError(other)


def _too_large(why: str, span: Span) -> CepheidError:
    return CepheidError(
        "too-large",
        f"written out, this expression is too large: {why}",
        span=span,
        hint="lower the bounds of `{l,m}`, or use `+`; repetitions inside repetitions multiply",
    )
