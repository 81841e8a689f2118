"""Calls: `name(…)` → a function of values, an aggregate of a set, or `prev`.

In: a name in lower case and its arguments, lowered. Out: the expression, or an error that says how the name is called.
"""

from __future__ import annotations

from cepheid.algebra.conditions import (
    AGGREGATES,
    Aggregate,
    Attribute,
    Call,
    Expression,
    Literal,
    Previous,
)
from cepheid.errors import CepheidError, Span

MOST_STEPS = 1000
_EXAMPLES = {"count": "count(X), count(X.a) or count(DISTINCT X.a)", "prev": "prev(X.a) or prev(X.a, 2)"}


def called(name: str, arguments: tuple[Expression, ...], span: Span) -> Expression:
    """`name(argument, …)`.

    >>> from cepheid.errors import Source
    >>> span = Span(Source("last(X.v)"), 0, 9)
    >>> called("last", (Attribute("X", "v"),), span)
    Aggregate(function='last', operand=Attribute(var='X', name='v', each=False), distinct=False)
    """
    if name in AGGREGATES:
        if len(arguments) != 1:
            raise _misused(name, span)
        return Aggregate(name, arguments[0], span=span)
    if name != "prev":
        return Call(name, arguments, span)
    if not 1 <= len(arguments) <= 2:
        raise _misused(name, span)
    return Previous(arguments[0], _steps(arguments[1:], span), span)


def _steps(arguments: tuple[Expression, ...], span: Span) -> int:
    """How many places before: a whole number that is written out."""
    if not arguments:
        return 1
    steps = arguments[0].value if isinstance(arguments[0], Literal) else None
    if not isinstance(steps, int) or isinstance(steps, bool) or not 1 <= steps <= MOST_STEPS:
        message = f"`prev` takes a number of places from 1 to {MOST_STEPS}"
        raise CepheidError("bad-argument", message, span=arguments[0].span or span, hint="as in prev(X.a, 2)")
    return steps


def of_events(name: str, events: Attribute, span: Span) -> Expression:
    """`name(X)`: only `count` takes a set as it is."""
    if name == "count":
        return Aggregate(name, events, span=span)
    message = f"`{name}` takes values, not the events of `{events.var}`"
    hint = f"say which attribute: {name}({events.var}.…)"
    raise CepheidError("type-mismatch", message, span=events.span, hint=hint)


def of_distinct(name: str, operand: Expression, span: Span) -> Expression:
    """`name(DISTINCT value)`: only `count` asks for different values."""
    if name == "count":
        return Aggregate(name, operand, True, span)
    message = f"`{name}` takes no DISTINCT"
    raise CepheidError("syntax", message, span=span, hint="only count does: count(DISTINCT X.a)")


def _misused(name: str, span: Span) -> CepheidError:
    example = _EXAMPLES.get(name, f"{name}(X.a)")
    return CepheidError("type-mismatch", f"`{name}` is called otherwise", span=span, hint=f"write {example}")
