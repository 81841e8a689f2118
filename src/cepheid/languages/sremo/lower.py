"""SREMO syntax tree → algebra.

In: a `ParsedTree`. Out: a `Query` whose pattern recognises the expression. `+`, `?`, `{l,m}`, `#` and `@` become the
nodes that they are made of (`algebra.skips`), which can multiply an expression, so its size is bounded.
`algebra.registers` checks its registers, `algebra.types` its columns.
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
from cepheid.languages.lower_clauses import clauses_of, tokens_of, window_in, with_clauses
from cepheid.languages.lower_conditions import lower_condition
from cepheid.languages.parsed import Node, ParsedTree, Part, span_of
from cepheid.languages.words import bounds_of, integer_of, name_of

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
    pattern = Recognise(Lowering(source).reading(expression))
    return with_clauses(Query(pattern), source, clauses_of(source, clauses))


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
        """An expression and how often it is repeated; once, if it is not a repetition."""
        assert isinstance(part, Tree)
        if part.data not in REPETITIONS:
            return Rounds(self.reading(part))
        body = self.reading(part.children[0])
        lo, hi = bounds_of(str(part.data), [integer_of(self._source, token) for token in tokens_of(part)])
        span = span_of(self._source, part)
        check_repeat(Repeat(Atom(None), lo, hi, span))
        if hi is not None and hi - lo > MOST_OPTIONAL:
            raise _too_large(f"more than {MOST_OPTIONAL} rounds may be left out", span)
        if self._size(body) * (lo if hi is None else hi) > MOST_PARTS:
            raise _too_large(f"it has more than {MOST_PARTS} parts", span)
        return Rounds(body, lo, hi)


def _register(token: Part) -> str | None:
    return name_of(token) if isinstance(token, Token) else None


def _too_large(why: str, span: Span) -> CepheidError:
    message = f"written out, this expression is too large: {why}"
    hint = "lower the bounds of `{l,m}`, or use `+`; repetitions inside repetitions multiply"
    return CepheidError("too-large", message, span=span, hint=hint)
