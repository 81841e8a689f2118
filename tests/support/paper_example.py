"""The papers' running examples: the stream of figure 1 and the formulas φ1–φ6 as algebra (`cel-cea`); the trades of
table 1 (`srt`)."""

from __future__ import annotations

from cepheid.algebra.conditions import Attribute, Comparison, Conjunction, Expression, Literal
from cepheid.algebra.nodes import Atom, Filter, Or, Pattern, Repeat, Seq
from cepheid.semantics.stream import Event

_TYPES = "HTHHTTTHH"
_IDS = (2, 0, 0, 1, 1, 0, 1, 1, 0)
_VALUES = (25, 45, 20, 25, 40, 42, 25, 70, 18)

STREAM = [
    Event(
        type, index, {"id": id, "tmp": value if type == "T" else None, "hum": value if type == "H" else None}
    )
    for index, (type, id, value) in enumerate(zip(_TYPES, _IDS, _VALUES, strict=True))
]

TABLE_1 = [
    Event(type, time, {"type": type, "id": id, "price": price, "volume": volume})
    for time, (type, id, price, volume) in enumerate(
        [
            ("B", 1, 22, 300),
            ("B", 1, 24, 225),
            ("B", 2, 32, 1210),
            ("S", 1, 70, 760),
            ("S", 1, 68, 2000),
            ("B", 2, 33, 95),
        ],
        start=1,
    )
]


def when(left: str, op: str, right: str | float) -> Comparison:
    """`when("x.tmp", ">", 40)` and `when("x.id", "=", "y.id")`: attributes have a dot."""
    return Comparison(op, _operand(left), _operand(right))


def _operand(given: str | float) -> Expression:
    if isinstance(given, str) and "." in given:
        var, name = given.split(".")
        return Attribute(var, name)
    return Literal(given)


def plus(body: Pattern) -> Repeat:
    return Repeat(body, 1, None)


_FIRE = Conjunction(
    (when("x.tmp", ">", 40), when("y.hum", "<=", 25), when("x.id", "=", 0), when("y.id", "=", 0))
)
PHI1 = Filter(Seq(Atom("T", "x"), Atom("H", "y")), _FIRE)
PHI2 = Filter(Or((Seq(Atom("T", "x"), Atom("H", "y")), Seq(Atom("H", "y"), Atom("T", "x")))), _FIRE)
PHI3 = Filter(
    Seq(Seq(Atom("H", "x"), plus(Filter(Atom("T", "y"), when("y.id", "=", 1)))), Atom("H", "z")),
    Conjunction(
        (when("x.hum", "<", 30), when("z.hum", ">", 60), when("x.id", "=", "z.id"), when("z.id", "=", 1))
    ),
)
PHI4 = Filter(
    Seq(Seq(Atom("H", "x"), plus(Filter(Atom("T", "y"), when("y.id", "=", "x.id")))), Atom("H", "z")),
    Conjunction((when("x.hum", "<", 30), when("z.hum", ">", 60), when("x.id", "=", "z.id"))),
)
PHI5 = Filter(Atom("H", "x"), when("y.tmp", "<=", 30))
PHI6 = Seq(
    Atom("T", "x"),
    Or((Filter(Atom("T", "y"), when("x.tmp", ">=", 40)), Filter(Atom("H", "y"), when("x.tmp", "<", 40)))),
)
