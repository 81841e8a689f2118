"""Static properties of an expression, or of the rest of one: which registers it reads, whether it marks.

In: an item or a rest of `derivative_states`. Out: sets of registers and truth values. `needs` may be too large and
`may_mark` too often true, never the other way round; `must_mark` may be too often false.
"""

from __future__ import annotations

from functools import reduce
from typing import assert_never

from cepheid.algebra.conditions import variables
from cepheid.algebra.nodes import Both, Complement, Concat, Iterate, Or, Read, Within, children
from cepheid.algebra.registers import stored_by
from cepheid.automata.derivative_states import Begun, Counted, Item, Others, Pair, Rest, Thread

Registers = frozenset[str]
NONE: Registers = frozenset()


def needs(rest: Rest, after: Registers = NONE) -> Registers:
    """The registers that may be read by the rest, or after it by a continuation that needs `after`.

    >>> from cepheid.algebra.conditions import TRUE, Attribute
    >>> needs((Read(TRUE, register="r1"), Read(Attribute("r2", "hot"))), frozenset(["r1", "r3"])) == {"r2", "r3"}
    True
    """
    return reduce(lambda later, item: _needs(item, later), reversed(rest), after)


def _needs(item: Item, after: Registers) -> Registers:
    match item:
        case Read(condition, _, register):
            return (after - {register}) | variables(condition)
        case Concat(parts):
            return needs(parts, after)
        case Or(parts):
            return NONE.union(*(_needs(part, after) for part in parts))
        case Iterate(body):
            return after | _needs(body, after)
        case Both(left, right):
            mine, yours = stored_by(left), stored_by(right)
            return _needs(left, after & mine) | _needs(right, after & yours) | (after - mine - yours)
        case Complement(body):
            return after | _needs(body, NONE)
        case Within(body):
            return _needs(body, after)
        case Pair(_, _, mine, yours):
            return after - mine - yours
        case Others():
            return after
        case Begun(rest) | Counted(rest):
            return needs(rest, after)
        case _:
            assert_never(item)


def may_mark(rest: Rest) -> bool:
    """Whether some way of reading the rest may mark an event."""
    return any(map(_may_mark, rest))


def _may_mark(item: Item) -> bool:
    match item:
        case Read(_, marked):
            return marked
        case Concat() | Or() | Iterate() | Within():
            return any(map(_may_mark, children(item)))
        case Both(left, right):
            return _may_mark(left) and _may_mark(right)
        case Complement() | Others():
            return False
        case Pair(Thread(left), Thread(right)):
            return may_mark(left) and may_mark(right)
        case Begun(rest):
            return may_mark(rest)
        case Counted(rest):
            return not item.over and may_mark(rest)
        case _:
            assert_never(item)


def must_mark(rest: Rest) -> bool:
    """Whether every way of reading the rest marks an event."""
    return any(map(_must_mark, rest))


def _must_mark(item: Item) -> bool:
    match item:
        case Read(_, marked):
            return marked
        case Concat(parts):
            return must_mark(parts)
        case Or(parts):
            return all(map(_must_mark, parts))
        case Iterate() | Complement() | Others():
            return False
        case Both(left, right):
            return _must_mark(left) or _must_mark(right)
        case Within(body):
            return _must_mark(body)
        case Pair(Thread(left), Thread(right)):
            return must_mark(left) or must_mark(right)
        case Begun(rest) | Counted(rest):
            return must_mark(rest)
        case _:
            assert_never(item)
