"""Push: a condition on one variable goes to the atoms that bind it (`cel-cea`, theorem 2, step 2).

In: any pattern. Out: the same matches; no filter is left above the binding of its only variable. A filter
whose body does not bind its variable waits for `parametrise`; a condition on several variables stays put.
Sound because every match of a pattern in which x is bound has exactly one event for x. Iterations are not
entered: an x inside one is another variable.
A condition on one set holds for each of its events on its own, so it goes to every atom that the set gathers from,
iterations included; where there is no event there is nothing to hold.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from cepheid.algebra.conditions import (
    TRUE,
    Aggregate,
    Attribute,
    Condition,
    Index,
    attributes,
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
    Recognise,
    Repeat,
    Select,
    Seq,
    StrictSeq,
    Within,
    rebuild,
    walk,
)
from cepheid.algebra.variables import bound, sets


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
        var, gatherer = only_variable(part), only_set(part)
        if var is not None and var in bound(body):
            body = restrict(body, var, part)
        elif gatherer is not None and not _in_strategy(body, gatherer):
            body = _restrict_set(body, gatherer, part)
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


def only_set(condition: Condition) -> str | None:
    """The set of a condition that reads one set and nothing else.

    >>> only_set(Attribute("X", "alarm", Index.EACH)), only_set(Attribute("x", "alarm"))
    ('X', None)
    """
    found = variables(condition)
    read = all(item.index is Index.EACH for item in attributes(condition))
    return next(iter(found)) if len(found) == 1 and read and not _has_aggregate(condition) else None


def _has_aggregate(condition: Condition) -> bool:
    return isinstance(condition, Aggregate) or any(map(_has_aggregate, children(condition)))


def _in_strategy(pattern: Pattern, gatherer: str) -> bool:
    """Whether a strategy or an absence stands between the pattern and some of what the set gathers."""
    return any(isinstance(node, Select | Not) and gatherer in sets(node) for node in walk(pattern))


def _restrict_set(pattern: Pattern, gatherer: str, condition: Condition) -> Pattern:
    """The matches of `pattern` in which the condition holds for all that the set gathers."""
    if isinstance(pattern, Bind) and pattern.var == gatherer:
        return _restrict_all(pattern, over_current_event(condition, gatherer))
    return rebuild(pattern, lambda child: _restrict_set(child, gatherer, condition))


def _restrict_all(pattern: Pattern, condition: Condition) -> Pattern:
    if isinstance(pattern, Atom):
        return _with_condition(pattern, condition)
    return rebuild(pattern, lambda child: _restrict_all(child, condition))


def _with_condition(atom: Atom, condition: Condition) -> Atom:
    kept = () if atom.condition is None else (atom.condition,)
    return replace(atom, condition=conjunction((*kept, condition)))


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
            return _with_condition(pattern, over_current_event(condition, var))
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
        case Select() | Not() | Recognise():
            # A strategy chooses among its matches before the filter sees them.
            return Filter(pattern, condition)
        case _:
            assert_never(pattern)
