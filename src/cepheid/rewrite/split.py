"""Split: filters over several variables taken apart into filters over one (`cel-cea`, section 3, sugar).

In: any pattern. Out: the same matches; φ FILTER (P ∧ Q) became two filters, and φ FILTER (P(x) ∨ Q(y)) a
choice between two filtered patterns. Negations move inwards where that takes a condition apart (De Morgan
holds in three-valued logic). A disjunction over one variable stays one condition, and one with a part that
needs several variables at once stays whole: taking it apart would double the pattern and win nothing.
"""

from __future__ import annotations

from typing import assert_never

from cepheid.algebra.conditions import (
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Case,
    Cast,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Element,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Negation,
    Previous,
    RLike,
    conjuncts,
    sets_read,
    variables,
)
from cepheid.algebra.conditions import rebuild as rebuild_condition
from cepheid.algebra.empty import either
from cepheid.algebra.limits import guarded
from cepheid.algebra.nodes import Filter, Pattern, rebuild
from cepheid.errors import Span

MOST_FILTERS = 50  # made of the conditions of one


def split(pattern: Pattern) -> Pattern:
    """Every filter taken apart.

    >>> from cepheid.algebra.conditions import Attribute
    >>> from cepheid.algebra.nodes import Atom, Or, Seq
    >>> p, q, body = Attribute("x", "p"), Attribute("y", "q"), Seq(Atom("A", "x"), Atom("B", "y"))
    >>> split(Filter(body, Disjunction((p, q)))) == Or((Filter(body, p), Filter(body, q)))
    True
    >>> split(Filter(body, Negation(Disjunction((p, q))))) == Filter(Filter(body, Negation(p)), Negation(q))
    True
    """
    pattern = rebuild(pattern, split)
    return (
        _filtered(pattern.body, pattern.condition, pattern.span) if isinstance(pattern, Filter) else pattern
    )


def _filtered(body: Pattern, condition: Condition, span: Span | None) -> Pattern:
    # Conditions over sets are split at AND only: on an empty set every part holds, whatever joins the parts.
    for part in _few(conjuncts(condition if sets_read(condition) else _negations_inwards(condition))):
        if sets_read(part):
            body = Filter(body, part, span)
        elif isinstance(part, Disjunction) and len(variables(part)) > 1 and _separable(part):
            body = guarded(either(_filtered(body, choice, span) for choice in _by_variable(part)), "split")
        else:
            body = Filter(body, part, span)
    return body


def _few(parts: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """The same conditions; if there are very many, those over the same variables are joined again, to bound the nesting
    of filters."""
    if len(parts) <= MOST_FILTERS:
        return parts
    joined: dict[object, list[Condition]] = {}
    for part in parts:
        alone = bool(sets_read(part)) or isinstance(part, Disjunction)
        joined.setdefault(part if alone else variables(part), []).append(part)
    return tuple(same[0] if len(same) == 1 else Conjunction(tuple(same)) for same in joined.values())


def _negations_inwards(condition: Condition) -> Condition:
    """Negations moved towards the leaves, as far as several variables are involved."""
    if len(variables(condition)) <= 1:
        return condition
    match condition:
        case Conjunction() | Disjunction():
            return rebuild_condition(condition, _negations_inwards)
        case Negation(Negation(operand)):
            return _negations_inwards(operand)
        case Negation(Conjunction(operands, span)):
            return Disjunction(tuple(_negations_inwards(Negation(operand)) for operand in operands), span)
        case Negation(Disjunction(operands, span)):
            return Conjunction(tuple(_negations_inwards(Negation(operand)) for operand in operands), span)
        case Literal() | Attribute() | Arithmetic() | Comparison() | Negation() | IsTrue() | IsNull():
            return condition
        case In() | Like() | RLike() | Call() | Element() | Case() | Cast() | Aggregate() | Previous():
            return condition
        case _:
            assert_never(condition)


def _separable(condition: Condition) -> bool:
    """Whether AND and OR alone join parts over one variable each."""
    if len(variables(condition)) <= 1:
        return True
    return isinstance(condition, Conjunction | Disjunction) and all(map(_separable, condition.operands))


def _by_variable(condition: Disjunction) -> list[Condition]:
    """The alternatives, those over the same single variable joined again."""
    joined: dict[object, list[Condition]] = {}
    for operand in _alternatives(condition):
        names = variables(operand)
        joined.setdefault(names if len(names) <= 1 else operand, []).append(operand)
    return [parts[0] if len(parts) == 1 else Disjunction(tuple(parts)) for parts in joined.values()]


def _alternatives(condition: Condition) -> tuple[Condition, ...]:
    if isinstance(condition, Disjunction):
        return tuple(part for operand in condition.operands for part in _alternatives(operand))
    return (condition,)
