"""Push: a condition on one variable goes to the atoms that bind it (`cel-cea`, theorem 2, step 2).

In: any pattern. Out: the same matches; no filter is left above the binding of its only variable. A filter whose body
does not bind its variable is left to `parametrise`; a condition on several variables stays where it is. Sound because
every match of a pattern in which x is bound has exactly one event for x. Iterations are not entered: an x inside one is
another variable. A condition on one set holds for each of its events alone, so it goes to every atom that the set
gathers from, iterations included; without events it holds.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import assert_never

from cepheid.algebra.conditions import (
    TRUE,
    Condition,
    conjunction,
    conjuncts,
    only_set,
    only_variable,
    over_current_event,
)
from cepheid.algebra.nodes import (
    All,
    Atom,
    Bind,
    Filter,
    Nfab,
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

    >>> from cepheid.algebra.conditions import Attribute, Comparison, Literal
    >>> hot = Comparison(">", Attribute("x", "temp"), Literal(40))
    >>> push(Filter(Seq(Atom("T", "x"), Atom("H", "y")), hot)).left.condition
    Comparison(op='>', left=Attribute(var=None, name='temp', each=False), right=Literal(value=40))
    """
    pattern = rebuild(pattern, push)
    if not isinstance(pattern, Filter):
        return pattern
    body, stuck = pattern.body, list[Condition]()
    binds = bound(body)
    # Neighbours of a kind go down together: one by one, many of them would take quadratic time.
    for is_bound, run in groupby(conjuncts(pattern.condition), lambda part: only_variable(part) in binds):
        if is_bound:
            body = restrict(body, tuple(run))
            continue
        for gatherer, parts in groupby(run, only_set):
            if gatherer is not None and not _in_strategy(body, gatherer):
                body = _restrict_set(body, gatherer, conjunction(tuple(parts)))
            else:
                stuck += parts
    rest = conjunction(tuple(stuck))
    return body if rest == TRUE else replace(pattern, body=body, condition=rest)


def _in_strategy(pattern: Pattern, gatherer: str) -> bool:
    """Whether a strategy stands between the pattern and some events of the set."""
    gathered = (node for node in walk(pattern) if isinstance(node, Bind) and node.var == gatherer)
    if any(isinstance(inner, Select) for node in gathered for inner in walk(node)):
        return True
    return any(isinstance(node, Select) and gatherer in sets(node) for node in walk(pattern))


def _restrict_set(pattern: Pattern, gatherer: str, condition: Condition) -> Pattern:
    """The matches of `pattern` in which the condition holds for all events of the set."""
    if isinstance(pattern, Bind) and pattern.var == gatherer:
        return _restrict_all(pattern, over_current_event(condition, gatherer))
    return rebuild(pattern, lambda child: _restrict_set(child, gatherer, condition))


def _restrict_all(pattern: Pattern, condition: Condition) -> Pattern:
    if isinstance(pattern, Atom):
        return _with_condition(pattern, condition)
    return rebuild(pattern, lambda child: _restrict_all(child, condition))


def _with_condition(atom: Atom, *conditions: Condition) -> Atom:
    known = () if atom.condition is None else (atom.condition,)
    return replace(atom, condition=conjunction((*known, *conditions)))


def restrict(pattern: Pattern, conditions: tuple[Condition, ...]) -> Pattern:
    """The matches of `pattern` for which the conditions hold, each on one variable that is bound in `pattern`.

    >>> from cepheid.algebra.conditions import Attribute
    >>> restrict(Seq(Atom("T", "y"), Atom("H", "x")), (Attribute("x", "alarm"),)).right.condition
    Attribute(var=None, name='alarm', each=False)
    """

    def further(child: Pattern) -> Pattern:
        binds = bound(child)
        inside = tuple(condition for condition in conditions if only_variable(condition) in binds)
        return restrict(child, inside) if inside else child

    match pattern:
        case Atom():
            read = ((condition, only_variable(condition)) for condition in conditions)
            here = (over_current_event(condition, var) for condition, var in read if var is not None)
            return _with_condition(pattern, *here)
        case Seq() | StrictSeq() | Or() | All() | Repeat() | Filter() | PartBy() | Bind() | Not() | Within():
            return rebuild(pattern, further)
        case Select() | Recognise() | Nfab():
            # A strategy chooses among its matches before the filter sees them.
            for condition in reversed(conditions):
                pattern = Filter(pattern, condition)
            return pattern
        case _:
            assert_never(pattern)
