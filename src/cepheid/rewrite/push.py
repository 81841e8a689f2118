"""Push: a condition on one variable goes to the atoms that bind it (`cel-cea`, theorem 2, step 2).

In: any pattern. Out: the same matches; no filter is left above the binding of its only variable. A filter
whose body does not bind its variable waits for `parametrise`; a condition on several variables stays put.
Sound because every match of a pattern in which x is bound has exactly one event for x. Iterations are not
entered: an x inside one is another variable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from cepheid.algebra.conditions import (
    TRUE,
    Aggregate,
    Attribute,
    Condition,
    children,
    conjunction,
    conjuncts,
    over_current_event,
    variables,
)
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Intersect,
    Not,
    Or,
    PartBy,
    Pattern,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Within,
    rebuild,
)
from cepheid.algebra.variables import bound


def push(pattern: Pattern) -> Pattern:
    """Every condition on one variable moved as far down as its binding allows.

    >>> from cepheid.algebra.conditions import Comparison, Literal
    >>> hot = Comparison(">", Attribute("x", "temp"), Literal(40))
    >>> push(Filter(Seq(Atom("T", "x"), Atom("H", "y")), hot)).left.condition
    Comparison(op='>', left=Attribute(var=None, name='temp', index=None), right=Literal(value=40))
    """
    pattern = rebuild(pattern, push)
    if not isinstance(pattern, Filter):
        return pattern
    body, stuck = pattern.body, []
    for part in conjuncts(pattern.condition):
        var = only_variable(part)
        if var is not None and var in bound(body):
            body = restrict(body, var, part)
        else:
            stuck.append(part)
    rest = conjunction(tuple(stuck))
    return body if rest == TRUE else replace(pattern, body=body, condition=rest)


def only_variable(condition: Condition) -> str | None:
    """The variable of a unary condition; None if it has another arity or reads more than that one event.

    >>> only_variable(Attribute("x", "alarm")), only_variable(Attribute(None, "alarm"))
    ('x', None)
    """
    found = variables(condition)
    return next(iter(found)) if len(found) == 1 and _reads_events(condition) else None


def _reads_events(condition: Condition) -> bool:
    """Whether each attribute is of one named event: no aggregate, no `a[i-1]`, no event at hand."""
    match condition:
        case Aggregate():
            return False
        case Attribute(var, _, index):
            return var is not None and index is None
        case _:
            return all(_reads_events(child) for child in children(condition))


def restrict(pattern: Pattern, var: str, condition: Condition) -> Pattern:
    """The matches of `pattern` for which the condition on `var` holds; `var` is bound in `pattern`.

    >>> restrict(Or(Atom("T", "x"), Atom("H", "x")), "x", Attribute("x", "alarm")).right.condition
    Attribute(var=None, name='alarm', index=None)
    """

    def further(child: Pattern) -> Pattern:
        return restrict(child, var, condition) if var in bound(child) else child

    match pattern:
        case Atom():
            kept = () if pattern.condition is None else (pattern.condition,)
            return replace(pattern, condition=conjunction((*kept, over_current_event(condition, var))))
        case (
            Seq()
            | StrictSeq()
            | Or()
            | All()
            | Intersect()
            | Repeat()
            | Filter()
            | PartBy()
            | Within()
            | Bind()
        ):
            return rebuild(pattern, further)
        case Select() | Not():
            # A strategy chooses among its matches before the filter sees them.
            return Filter(pattern, condition)
        case _:
            assert_never(pattern)
